#pragma once
// What would make a plan fit, tried by re-evaluation.

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/verdict.hpp"

namespace podsim::rdu {

// Names the smallest change that makes the whole plan fit, beside each broken limit; nothing where none of those tried
// does: recomputation, a smaller batch, more RDUs that share the weights.
void add_remedies(const RduPlan& plan, const WorkloadSettings& settings, Verdict& verdict);

}  // namespace podsim::rdu
