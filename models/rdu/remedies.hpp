#pragma once
// What would make a plan fit, tried by re-evaluation.

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/verdict.hpp"

namespace podsim::rdu {

// Names, beside each broken limit, the change that makes the whole plan fit at the highest rate for the tiles it takes,
// in the words of the user's commands; where no single change does, two together; a smaller model where none of
// those tried does. Tried are recomputation, smaller batches, RDUs that share the weights, a shorter compiled cache,
// fewer models to switch among, all resources of the chip; where none of them helps and nobody said how long sequences
// are, shorter ones.
void add_remedies(const RduPlan& plan, const WorkloadSettings& settings, bool length_is_default, Verdict& verdict);

}  // namespace podsim::rdu
