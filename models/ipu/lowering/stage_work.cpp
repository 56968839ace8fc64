#include "models/ipu/lowering/stage_work.hpp"

#include <algorithm>
#include <map>

#include "models/ipu/cost/loss_scaling_cost.hpp"

namespace podsim::ipu {
namespace {

// What an operator costs, whatever the phase that runs it.
struct Price {
  CycleCost cycles;
  Bytes temporary;
};

std::vector<Price> price(const std::vector<Operator>& operators, const Execution& execution, const MemoryInputs& inputs,
                         const OperatorCostModel& costs) {
  std::vector<Price> prices;
  prices.reserve(operators.size());
  for (const Operator& op : operators) {
    prices.push_back(
        {costs.cost(op, execution), costs.temporary({&op, 1}, execution, inputs.constants.memory.plan_tolerance)});
  }
  return prices;
}

// Sum and sum of squares of each channel, in single precision.
Bytes statistics_of(const Operator& op, const RunSetup& setup) {
  constexpr std::int64_t k_bytes_of_channel = 8;
  const bool shared = op.kind == OperatorKind::normalisation && setup.distributed_batch_norm_replicas > 1;
  return shared ? Bytes(k_bytes_of_channel * op.channels) : Bytes();
}

std::vector<WorkOp> work_of(const Block& block, WorkPhase phase, const std::vector<Price>& prices,
                            const MemoryInputs& inputs) {
  const IpuConstants& constants = inputs.constants;
  const char* phase_name = phase == WorkPhase::forward     ? "forward"
                           : phase == WorkPhase::recompute ? "recompute"
                                                           : "backward";
  const Repetition repetition = phase == WorkPhase::recompute ? Repetition::recompute : Repetition::first;
  const std::string prefix = block.name + ", " + phase_name + ": ";
  const std::vector<Operator>& operators = phase == WorkPhase::backward ? block.backward : block.forward;
  std::vector<WorkOp> work;
  work.reserve(operators.size());
  for (std::size_t i = 0; i < operators.size(); ++i) {
    work.push_back(
        {to_cost_vector(prices[i].cycles, constants.chip.clock, constants.software.framework_factor, repetition),
         prefix + operators[i].name, prices[i].temporary, statistics_of(operators[i], inputs.setup)});
  }
  return work;
}

WorkOp histograms_of(const Block& block, const Execution& execution, const IpuConstants& constants) {
  const CycleCost cycles = loss_scaling_cost(block, execution, constants);
  return {to_cost_vector(cycles, constants.chip.clock, constants.software.framework_factor, Repetition::first),
          block.name + ", backward: loss-scaling histograms", Bytes(), Bytes()};
}

PhaseSum sum_of(const std::vector<WorkOp>& ops) {
  PhaseSum sum;
  for (const WorkOp& op : ops) {
    const SimTime time = op.cost.total();
    sum.most_temporary = std::max(sum.most_temporary, op.temporary);
    if (time > SimTime() && op.temporary > sum.largest) {
      sum.largest = op.temporary;
      sum.largest_at = sum.time;
    }
    sum.cost += op.cost;
    sum.time += time;
  }
  return sum;
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

Bytes live_in(const MemoryInputs& inputs, const std::vector<std::size_t>& blocks) {
  Bytes total;
  for (const std::size_t block : blocks) total += live_activations(inputs.graph, inputs.setup, block);
  return total;
}

// The steps from `begin` on keep `live` among them.
void keep(std::vector<StageStep>& steps, std::size_t begin, Bytes live) {
  steps[begin].takes = live;
  steps.back().frees = live;
}

// What the last forward stage, which turns back at once, holds between its two passes: all that it computed where
// nothing is recomputed. A transformer that recomputes is counted with one layer here as on its other stages: the
// memory points that its constants were fitted on are met so.
bool keeps_whole_stage(const MemoryInputs& inputs) {
  return !inputs.settings.recompute || inputs.graph.convolutional();
}

void add_backward(const std::vector<std::size_t>& layer, bool recompute, std::vector<StageStep>& steps) {
  if (recompute) {
    for (const std::size_t block : layer) steps.push_back({WorkPhase::recompute, block, {}, {}});
  }
  for (auto block = layer.rbegin(); block != layer.rend(); ++block) {
    steps.push_back({WorkPhase::backward, *block, {}, {}});
  }
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

BlockWork block_work(const MemoryInputs& inputs, const OperatorCostModel& costs, std::size_t index,
                     const Execution& execution) {
  const Block& block = inputs.graph.blocks[index];
  BlockWork work;
  const std::vector<Price> forward = price(block.forward, execution, inputs, costs);
  work.forward = work_of(block, WorkPhase::forward, forward, inputs);
  if (inputs.setup.training()) {
    work.recompute = work_of(block, WorkPhase::recompute, forward, inputs);
    const std::vector<Price> backward = price(block.backward, execution, inputs, costs);
    work.backward = work_of(block, WorkPhase::backward, backward, inputs);
    if (inputs.setup.auto_loss_scaling && tracked_gradients(block).tensors > 0) {
      work.backward.push_back(histograms_of(block, execution, inputs.constants));
    }
  }
  for (const WorkPhase phase : {WorkPhase::forward, WorkPhase::recompute, WorkPhase::backward}) {
    work.sums[static_cast<std::size_t>(phase)] = sum_of(work.phase(phase));
  }
  return work;
}

std::vector<BlockWork> prepare_work(const MemoryInputs& inputs, const OperatorCostModel& costs) {
  const std::vector<int> ipus = place_blocks(inputs.graph, inputs.setup.placement);
  std::vector<BlockWork> works;
  for (std::size_t index = 0; index < inputs.graph.blocks.size(); ++index) {
    const BlockKind kind = inputs.graph.blocks[index].kind;
    works.push_back(
        block_work(inputs, costs, index, inputs.setup.execution(static_cast<std::size_t>(ipus[index]), kind)));
  }
  return works;
}

std::vector<std::vector<std::size_t>> recompute_segments(const ModelGraph& graph, const RunSetup& setup,
                                                         const ForwardStage& stage) {
  std::vector<std::vector<std::size_t>> segments;
  if (!setup.recomputes_in_segments()) return segments;
  if (!setup.recompute_cuts.empty()) {
    for (const std::size_t block : stage.blocks) {
      const std::vector<std::size_t>& cuts = setup.recompute_cuts;
      if (segments.empty() || std::find(cuts.begin(), cuts.end(), block) != cuts.end()) segments.emplace_back();
      segments.back().push_back(block);
    }
    return segments;
  }
  std::int64_t total = 0;
  for (const std::size_t block : stage.blocks) total += graph.blocks[block].live_forward.count();
  const auto blocks = static_cast<std::int64_t>(stage.blocks.size());
  const std::int64_t wanted = setup.recompute_segments < 0 ? blocks : setup.recompute_segments;
  std::int64_t before = 0;  // activations of the blocks that stand in a segment
  for (std::int64_t next = 0; next < blocks; ++next) {
    const std::int64_t own = graph.blocks[stage.blocks[static_cast<std::size_t>(next)]].live_forward.count();
    const auto made = static_cast<std::int64_t>(segments.size());
    // A block opens a segment when its middle lies beyond the share of those made, or when each block left is needed.
    const bool due = static_cast<double>(before) + static_cast<double>(own) / 2 >=
                     static_cast<double>(total) * static_cast<double>(made) / static_cast<double>(wanted);
    if (made == 0 || (made < wanted && (due || blocks - next <= wanted - made))) segments.emplace_back();
    segments.back().push_back(stage.blocks[static_cast<std::size_t>(next)]);
    before += own;
  }
  return segments;
}

std::vector<StageStep> stage_steps(const MemoryInputs& inputs, int training_stage) {
  const Pipeline& pipeline = inputs.pipeline;
  const int forward_stage = pipeline.forward_of(training_stage);
  const std::vector<std::size_t>& blocks = pipeline.forward()[static_cast<std::size_t>(forward_stage)].blocks;
  const bool last_forward = forward_stage == pipeline.forward_stages() - 1;
  std::vector<StageStep> steps;
  if (training_stage < pipeline.forward_stages()) {
    for (const std::size_t block : blocks) steps.push_back({WorkPhase::forward, block, {}, {}});
    if (!last_forward) return steps;
  }
  if (inputs.setup.recomputes_in_segments()) {
    const std::vector<std::vector<std::size_t>> segments =
        recompute_segments(inputs.graph, inputs.setup, pipeline.forward()[static_cast<std::size_t>(forward_stage)]);
    for (auto segment = segments.rbegin(); segment != segments.rend(); ++segment) {
      const std::size_t first = steps.size();
      add_backward(*segment, true, steps);
      keep(steps, first, live_in(inputs, *segment));
    }
    return steps;
  }
  const bool recompute = inputs.settings.recompute && !last_forward;
  const bool by_layer = recompute && inputs.setup.recompute_checkpoint_every_layer;
  const std::size_t begin = steps.size();
  if (recompute && !by_layer) {
    for (const std::size_t block : blocks) steps.push_back({WorkPhase::recompute, block, {}, {}});
  }
  const bool holds_all = last_forward && keeps_whole_stage(inputs);
  const std::vector<std::vector<std::size_t>> layers = layers_of(inputs.graph, blocks);
  for (auto layer = layers.rbegin(); layer != layers.rend(); ++layer) {
    const std::size_t first = steps.size();
    add_backward(*layer, by_layer, steps);
    if (!holds_all && (by_layer || !recompute)) keep(steps, first, live_in(inputs, *layer));
  }
  if (holds_all) keep(steps, 0, live_in(inputs, blocks));
  if (recompute && !by_layer) keep(steps, begin, live_in(inputs, blocks));
  return steps;
}

std::vector<StageStep> inference_steps(const MemoryInputs& inputs, int stage) {
  std::vector<StageStep> steps;
  const std::vector<std::size_t>& blocks = inputs.pipeline.forward()[static_cast<std::size_t>(stage)].blocks;
  for (const std::vector<std::size_t>& layer : layers_of(inputs.graph, blocks)) {
    const std::size_t begin = steps.size();
    for (const std::size_t block : layer) steps.push_back({WorkPhase::forward, block, {}, {}});
    keep(steps, begin, live_in(inputs, layer));
  }
  return steps;
}

}  // namespace podsim::ipu
