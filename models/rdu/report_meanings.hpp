#pragma once
// What the family's values and the columns of its tables mean, for `explain`.

#include <vector>

#include "sim/plan/family.hpp"

namespace podsim::rdu {

std::vector<ReportedMeaning> report_meanings();

}  // namespace podsim::rdu
