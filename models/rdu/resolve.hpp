#pragma once
// From an [rdu] section, its commands and the model to a plan.

#include <memory>

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/family.hpp"

namespace podsim::rdu {

// All problems go to `diagnostics`; empty when there are errors. `known_graphs`: of earlier plans; null: none are kept.
std::unique_ptr<RduPlan> resolve_plan(FamilyContext& context, Diagnostics& diagnostics,
                                      std::shared_ptr<CompiledGraphs> known_graphs = nullptr);

}  // namespace podsim::rdu
