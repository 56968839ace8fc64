#pragma once
// Which machine does the job, as a page: systems against the deadline, the budget and the power cap.

#include "sim/report/page.hpp"
#include "sim/study/capacity.hpp"

namespace podsim {

Page capacity_page(const Capacity& capacity, const CapacityGoal& goal, const CapacityCosts& costs);

}  // namespace podsim
