#pragma once
// What would make a plan fit, tried by re-evaluation.

#include <string>

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/verdict.hpp"

namespace podsim::rdu {

// What the experiment says beside the commands.
struct RemedyWording {
  bool length_is_default = false;  // nobody said how long sequences are
  std::string batch_key;           // of [workload], where the commands do not decide the batch alone; else empty
  bool key_decides = false;        // it alone, whatever the commands say
};

// Names, beside each broken limit, the change that makes the whole plan fit at the highest rate for the tiles it takes,
// in the words of the user's commands; where no single change does, two together; a smaller model where none of
// those tried does. Tried are recomputation, smaller batches, RDUs that share the weights, a shorter compiled cache,
// fewer models to switch among, all resources of the chip; where none of them helps and nobody said how long sequences
// are, shorter ones.
void add_remedies(const RduPlan& plan, const WorkloadSettings& settings, const RemedyWording& wording,
                  Verdict& verdict);

}  // namespace podsim::rdu
