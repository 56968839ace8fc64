#pragma once
// The step time as a formula, for ranking remedies and as an oracle in tests: sum over cycles of the fullest IPU,
// copies, ring reduction, state traffic and the optimizer. It assumes equal replicas that share nothing but the ring
// and, within a machine, Streaming Memory; the simulation does not.

#include "models/ipu/cost/operator_cost.hpp"
#include "models/ipu/memory/memory.hpp"

namespace podsim::ipu {

struct StepEstimate {
  SimTime pipeline;
  SimTime full_cycle;
  SimTime reduction;
  SimTime streaming;
  SimTime optimizer;
  SimTime fixed;  // per update, with the host call's share
  SimTime total() const { return pipeline + reduction + streaming + optimizer + fixed; }
};

StepEstimate estimate_step(const MemoryInputs& inputs, const OperatorCostModel& costs);

}  // namespace podsim::ipu
