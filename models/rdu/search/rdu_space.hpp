#pragma once
// A run on RDUs as a search space: level, tiles, chips and tensor mode by the flags of the compile command, copies and
// their batch. There is no bound on what a compiler makes of a graph: every configuration is looked at.

#include <memory>

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/search_space.hpp"

namespace podsim::rdu {

SearchSpace rdu_space(const std::shared_ptr<const Plan>& plan, const RduPlan& rdu_plan, const SearchRequest& request);

// The plan's commands, each a file.
std::vector<Deployment> commands_of(const RduPlan& plan);

}  // namespace podsim::rdu
