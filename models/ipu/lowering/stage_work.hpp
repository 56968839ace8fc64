#pragma once
// The work of each block on its IPU, costed once: what lowering turns into ops, as often as cycles need them.

#include <array>
#include <cstddef>
#include <memory>
#include <string>
#include <vector>

#include "models/ipu/cost/operator_cost.hpp"
#include "models/ipu/memory/memory.hpp"
#include "sim/program/builder.hpp"

namespace podsim::ipu {

enum class WorkPhase { forward, recompute, backward };

struct WorkOp {
  CostVector cost;    // before an IPU's slowdown
  std::string label;  // "layer 3 attention, backward: query_key_value"
  Bytes temporary;    // live while it runs
  Bytes statistics;   // of a norm over several replicas: exchanged behind it
};

// All ops of a phase together.
struct PhaseSum {
  CostVector cost;
  SimTime time;
  Bytes most_temporary;  // of any op
  Bytes largest;         // live while an op that takes time runs
  SimTime largest_at;    // when the first op with that much begins
};

struct BlockWork {
  std::vector<WorkOp> forward;
  std::vector<WorkOp> recompute;
  std::vector<WorkOp> backward;

  std::array<PhaseSum, 3> sums;  // by phase

  const std::vector<WorkOp>& phase(WorkPhase phase) const;
  const PhaseSum& sum(WorkPhase phase) const { return sums[static_cast<std::size_t>(phase)]; }
};

// By block of a graph; blocks that were costed before are shared.
using BlockWorks = std::vector<std::shared_ptr<const BlockWork>>;

// The work of one block on the IPU that `execution` describes.
BlockWork block_work(const MemoryInputs& inputs, const OperatorCostModel& costs, std::size_t block,
                     const Execution& execution);

// By block of the graph.
std::vector<BlockWork> prepare_work(const MemoryInputs& inputs, const OperatorCostModel& costs);

// Work of one IPU in one cycle, in order.
struct StageStep {
  WorkPhase phase = WorkPhase::forward;
  std::size_t block = 0;
  Bytes takes;  // activations that live from its first op on
  Bytes frees;  // activations that live until its last op
};

// The parts of a stage that run forward again one by one, last first: as many as the setup says, with about equal
// shares of the activations; one per block with -1; or those between named blocks. Without recomputation in segments:
// none.
std::vector<std::vector<std::size_t>> recompute_segments(const ModelGraph& graph, const RunSetup& setup,
                                                         const ForwardStage& stage);

// The order in which a training stage executes its blocks: forward as written; backward in reverse, a layer at a time,
// each after its own recomputation when checkpoints stand at every layer, else after that of the whole stage, whose
// activations then live together.
std::vector<StageStep> stage_steps(const MemoryInputs& inputs, int training_stage);

// Without a backward: forward as written; a layer's activations live while its own blocks run.
std::vector<StageStep> inference_steps(const MemoryInputs& inputs, int stage);

}  // namespace podsim::ipu
