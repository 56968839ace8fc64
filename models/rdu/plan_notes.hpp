#pragma once
// What a reader of a report should know of a plan: assumptions that decide it, and cliffs that it stands behind.

#include <string>
#include <vector>

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/workload_settings.hpp"

namespace podsim::rdu {

// Whole clauses: of a mapping made by hand, and of kinds of memory that stand in DDR beside HBM, with what that costs.
std::vector<std::string> plan_notes(const RduPlan& plan, const WorkloadSettings& settings);

}  // namespace podsim::rdu
