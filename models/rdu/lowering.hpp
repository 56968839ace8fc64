#pragma once
// From a plan to events. A training step: forward and backward sections once per accumulation step, the reduction of
// gradients, gradient-norm and optimizer sections, and the host's time. An inference call: forward sections. A request
// of generation: see lowering_generation.hpp.

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/family.hpp"

namespace podsim::rdu {

Lowered lower_step(const RduPlan& plan, const WorkloadSettings& settings, const LowerOptions& options);

}  // namespace podsim::rdu
