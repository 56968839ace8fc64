#pragma once
// What the tables and the memory categories of this family mean, for `explain`.

#include <vector>

#include "sim/plan/family.hpp"

namespace podsim::ipu {

std::vector<ReportedMeaning> report_meanings();

}  // namespace podsim::ipu
