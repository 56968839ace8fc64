#pragma once
// The host call of inference as a formula: for the report, which gives the way of execution that was not simulated too,
// for ranking remedies, and as an oracle in tests. It assumes equal replicas whose links but the host's are their own.
//   sharded:   n · (input + Σ stages + copies + results) + call
//   pipelined: Σ over cycles of (fullest IPU + results + copy) + call, n + F - 1 cycles
// with n device iterations and F forward stages; results that return once per call count once.

#include "models/ipu/cost/operator_cost.hpp"
#include "models/ipu/memory/memory.hpp"

namespace podsim::ipu {

struct CallEstimate {
  SimTime call;
  SimTime request;  // one micro-batch through all stages: an iteration, or F full cycles
};

CallEstimate estimate_call(const MemoryInputs& inputs, const OperatorCostModel& costs, bool sharded);

}  // namespace podsim::ipu
