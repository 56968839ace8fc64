#include "models/ipu/stage_work.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

namespace podsim::ipu {
namespace {

std::vector<WorkOp> cost_phase(const Block& block, WorkPhase phase, std::size_t ipu, const MemoryInputs& inputs,
                               const OperatorCostModel& costs) {
  const char* phase_name = phase == WorkPhase::forward     ? "forward"
                           : phase == WorkPhase::recompute ? "recompute"
                                                           : "backward";
  const Repetition repetition = phase == WorkPhase::recompute ? Repetition::recompute : Repetition::first;
  const Execution execution = inputs.setup.execution(ipu);
  const IpuConstants& constants = inputs.constants;
  std::vector<WorkOp> work;
  for (const Operator& op : phase == WorkPhase::backward ? block.backward : block.forward) {
    WorkOp item;
    item.cost = to_cost_vector(costs.cost(op, execution), constants.chip.clock, constants.software.framework_factor,
                               repetition);
    item.label = fmt::format("{}, {}: {}", block.name, phase_name, op.name);
    item.temporary = costs.temporary({&op, 1}, execution, constants.memory.plan_tolerance);
    work.push_back(std::move(item));
  }
  return work;
}

// Consecutive blocks of one layer on a stage; blocks outside layers stand alone.
std::vector<std::vector<std::size_t>> layers_of(const ModelGraph& graph, const std::vector<std::size_t>& blocks) {
  std::vector<std::vector<std::size_t>> layers;
  for (const std::size_t block : blocks) {
    const int layer = graph.blocks[block].layer;
    const bool same = !layers.empty() && layer >= 0 && graph.blocks[layers.back().back()].layer == layer;
    if (!same) layers.emplace_back();
    layers.back().push_back(block);
  }
  return layers;
}

void add_backward(const std::vector<std::size_t>& layer, bool recompute, std::vector<StageStep>& steps) {
  const std::size_t begin = steps.size();
  if (recompute) {
    for (const std::size_t block : layer) steps.push_back({WorkPhase::recompute, block});
  }
  for (auto block = layer.rbegin(); block != layer.rend(); ++block) steps.push_back({WorkPhase::backward, *block});
  steps[begin].first_of_layer = true;
  steps.back().last_of_layer = true;
}

}  // namespace

const std::vector<WorkOp>& BlockWork::phase(WorkPhase phase) const {
  switch (phase) {
    case WorkPhase::forward:
      return forward;
    case WorkPhase::recompute:
      return recompute;
    case WorkPhase::backward:
      break;
  }
  return backward;
}

std::vector<BlockWork> prepare_work(const MemoryInputs& inputs, const OperatorCostModel& costs) {
  const std::vector<int> ipus = place_blocks(inputs.graph, inputs.setup.placement);
  std::vector<BlockWork> works;
  for (std::size_t index = 0; index < inputs.graph.blocks.size(); ++index) {
    const Block& block = inputs.graph.blocks[index];
    const auto ipu = static_cast<std::size_t>(ipus[index]);
    BlockWork work;
    work.forward = cost_phase(block, WorkPhase::forward, ipu, inputs, costs);
    if (inputs.setup.training()) work.recompute = cost_phase(block, WorkPhase::recompute, ipu, inputs, costs);
    if (inputs.setup.training()) work.backward = cost_phase(block, WorkPhase::backward, ipu, inputs, costs);
    work.activations = live_activations(inputs.graph, inputs.setup, index);
    works.push_back(std::move(work));
  }
  return works;
}

std::vector<StageStep> stage_steps(const MemoryInputs& inputs, int training_stage) {
  const Pipeline& pipeline = inputs.pipeline;
  const int forward_stage = pipeline.forward_of(training_stage);
  const std::vector<std::size_t>& blocks = pipeline.forward()[static_cast<std::size_t>(forward_stage)].blocks;
  const bool last_forward = forward_stage == pipeline.forward_stages() - 1;
  std::vector<StageStep> steps;
  if (training_stage < pipeline.forward_stages()) {
    for (const std::size_t block : blocks) steps.push_back({WorkPhase::forward, block});
    if (!last_forward) return steps;
  }
  const bool recompute = inputs.settings.recompute && !last_forward;
  const bool by_layer = recompute && inputs.setup.recompute_checkpoint_every_layer;
  if (recompute && !by_layer) {
    for (const std::size_t block : blocks) steps.push_back({WorkPhase::recompute, block});
  }
  const std::vector<std::vector<std::size_t>> layers = layers_of(inputs.graph, blocks);
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) add_backward(*layer, by_layer, steps);
  return steps;
}

std::vector<StageStep> inference_steps(const MemoryInputs& inputs, int stage) {
  std::vector<StageStep> steps;
  const std::vector<std::size_t>& blocks = inputs.pipeline.forward()[static_cast<std::size_t>(stage)].blocks;
  for (const std::vector<std::size_t>& layer : layers_of(inputs.graph, blocks)) {
    const std::size_t begin = steps.size();
    for (const std::size_t block : layer) steps.push_back({WorkPhase::forward, block});
    steps[begin].first_of_layer = true;
    steps.back().last_of_layer = true;
  }
  return steps;
}

}  // namespace podsim::ipu
