#include "models/ipu/memory/memory.hpp"

#include <algorithm>

#include "models/ipu/lowering/stage_work.hpp"

namespace podsim::ipu {
namespace {

std::int64_t count_layers(const ModelGraph& graph, const std::vector<std::size_t>& blocks) {
  std::int64_t attention = 0;
  std::int64_t feed_forward = 0;
  std::int64_t whole = 0;
  for (const std::size_t block : blocks) {
    whole += graph.blocks[block].kind == BlockKind::whole_layer ? 1 : 0;
    attention += graph.blocks[block].kind == BlockKind::attention ? 1 : 0;
    feed_forward += graph.blocks[block].kind == BlockKind::feed_forward ? 1 : 0;
  }
  return whole + std::max(attention, feed_forward);
}

// What enters `first` only to leave behind `last`: what is carried on is a stack.
Bytes passing(const ModelGraph& graph, std::size_t first, std::size_t last) {
  if (first == 0 || graph.boundary > Bytes()) return Bytes();
  Bytes least = graph.blocks[first - 1].carried;
  for (std::size_t block = first; block <= last; ++block) least = std::min(least, graph.blocks[block].carried);
  return least;
}

class Account {
 public:
  Account(const MemoryInputs& inputs, const OperatorCostModel& costs) : in_(inputs), costs_(costs) {
    blocks_.resize(static_cast<std::size_t>(in_.setup.ipus_per_replica));
    const std::vector<int> ipus = place_blocks(in_.graph, in_.setup.placement);
    for (std::size_t block = 0; block < ipus.size(); ++block)
      blocks_[static_cast<std::size_t>(ipus[block])].push_back(block);
    parameters_ = parameters_of(in_);
    convolutional_ = in_.graph.convolutional();
  }

  std::vector<MemoryAccountEntry> entries(std::size_t ipu) {
    const PlacedParameters& parameters = parameters_[ipu];
    const RunSetup& setup = in_.setup;
    const MemoryConstants& memory = in_.constants.memory;
    const Bytes weights(parameters.element_bytes * parameters.elements);
    std::vector<MemoryAccountEntry> entries{{k_weights, weights, true}};
    if (setup.training()) {
      const bool accumulates = setup.gradient_accumulation_steps > 1;
      const Bytes state(optimizer_state_bytes(in_.settings) * parameters.sharded_elements);
      entries.push_back({k_accumulators, accumulates ? weights : Bytes(), true});
      entries.push_back({k_optimizer_state, setup.optimizer_state_offchip ? Bytes() : state, true});
      if (setup.auto_loss_scaling) entries.push_back({k_loss_scaling, loss_scaling(ipu), true});
      entries.push_back({k_stash, stash(static_cast<int>(ipu)), true});
    }
    const Peak largest = peak(ipu);
    entries.push_back({k_activations, largest.activations, false});
    entries.push_back({k_temporaries, largest.temporaries, false});
    entries.push_back({k_code, of_mode(code(ipu)), true});
    if (setup.optimizer_state_offchip) entries.push_back({k_host_exchange_code, memory.code_off_chip, true});
    const bool lump = convolutional_;  // the code of such a network is one figure
    if (!lump && (setup.replication_factor > 1 || setup.replicated_tensor_sharding)) {
      entries.push_back({k_global_exchange_code, of_mode(memory.code_replicated), true});
    }
    return entries;
  }

 private:
  Bytes of_mode(Bytes code) const {
    return in_.setup.training() ? code : round_up_bytes(code.size() * in_.constants.memory.code_inference_factor);
  }

  Bytes code(std::size_t ipu) const {
    const MemoryConstants& memory = in_.constants.memory;
    if (convolutional_) return convolution_code(ipu);
    Bytes total = memory.code_base + memory.code_per_layer * count_layers(in_.graph, blocks_[ipu]);
    for (const std::size_t block : blocks_[ipu]) {
      const BlockKind kind = in_.graph.blocks[block].kind;
      if (kind == BlockKind::embedding)
        total += round_up_bytes(memory.code_per_layer.size() * memory.embedding_and_head_layers);
    }
    return total;
  }

  // Equal convolutions share code (outlining), so that it grows with the shapes on the IPU.
  Bytes convolution_code(std::size_t ipu) const {
    const MemoryConstants& memory = in_.constants.memory;
    std::vector<ConvolutionShape> shapes;
    for (const std::size_t block : blocks_[ipu]) {
      for (const Operator& op : in_.graph.blocks[block].forward) {
        if (op.kind == OperatorKind::convolution) shapes.push_back(op.convolution);
      }
    }
    std::sort(shapes.begin(), shapes.end());
    const auto kinds = std::unique(shapes.begin(), shapes.end()) - shapes.begin();
    const Bytes base = std::min(memory.code_base, memory.code_convolution);
    const double part = static_cast<double>(kinds) / static_cast<double>(memory.convolution_kinds);
    return base + round_up_bytes((memory.code_convolution - base).size() * part);
  }

  Bytes loss_scaling(std::size_t ipu) const {
    const bool embedding = std::any_of(blocks_[ipu].begin(), blocks_[ipu].end(), [&](std::size_t block) {
      return in_.graph.blocks[block].kind == BlockKind::embedding;
    });
    const MemoryConstants& memory = in_.constants.memory;
    return embedding ? memory.loss_scaling_embedding : memory.loss_scaling;
  }

  Bytes stash(int ipu) const {
    Bytes total;
    for (int stage = 0; stage < in_.pipeline.forward_stages(); ++stage) {
      const ForwardStage& forward = in_.pipeline.forward()[static_cast<std::size_t>(stage)];
      if (forward.ipu != ipu) continue;
      total += stash_of_stage(in_.graph, in_.settings, in_.setup, forward) * stash_slots(in_.pipeline, stage);
      total += segment_checkpoints(in_.graph, in_.setup, forward);
      total += passing(in_.graph, forward.blocks.front(), forward.blocks.back());
    }
    return total;
  }

  // The largest of each in a cycle. Stages on an IPU run one after the other and leave nothing behind but stashes.
  struct Peak {
    Bytes activations;
    Bytes temporaries;
  };

  Peak peak(std::size_t ipu) const {
    const Pipeline& pipeline = in_.pipeline;
    const bool training = in_.setup.training();
    Peak largest;
    const int stages = training ? pipeline.training_stages() : pipeline.forward_stages();
    for (int stage = 0; stage < stages; ++stage) {
      const int forward = training ? pipeline.forward_of(stage) : stage;
      if (pipeline.forward()[static_cast<std::size_t>(forward)].ipu != static_cast<int>(ipu)) continue;
      Bytes live;
      std::vector<StageStep> own;
      if (in_.steps == nullptr) own = training ? stage_steps(in_, stage) : inference_steps(in_, stage);
      for (const StageStep& step : in_.steps != nullptr ? (*in_.steps)[static_cast<std::size_t>(stage)] : own) {
        live += step.takes;
        largest.activations = std::max(largest.activations, live);
        largest.temporaries = std::max(largest.temporaries, temporary(ipu, step));
        live -= step.frees;
      }
    }
    return largest;
  }

  Bytes temporary(std::size_t ipu, const StageStep& step) const {
    if (in_.works != nullptr) return (*in_.works)[step.block]->sum(step.phase).most_temporary;
    const Block& block = in_.graph.blocks[step.block];
    const std::vector<Operator>& operators = step.phase == WorkPhase::backward ? block.backward : block.forward;
    return costs_.temporary(operators, in_.setup.execution(ipu, block.kind), in_.constants.memory.plan_tolerance);
  }

  const MemoryInputs& in_;
  const OperatorCostModel& costs_;
  std::vector<std::vector<std::size_t>> blocks_;  // by IPU
  std::vector<PlacedParameters> parameters_;      // by IPU
  bool convolutional_ = false;
};

}  // namespace

std::vector<PlacedParameters> parameters_of(const MemoryInputs& inputs) {
  if (inputs.parameters != nullptr) return *inputs.parameters;
  return place_parameters(inputs.graph, inputs.setup, inputs.constants);
}

bool is_code(std::string_view category) {
  return category == k_code || category == k_host_exchange_code || category == k_global_exchange_code;
}

namespace {

// What enters a block.
Bytes handed_to(const ModelGraph& graph, std::size_t block) {
  return block == 0 ? graph.host_input : graph.handed_on(block - 1);
}

// The stage's input and, with a checkpoint at every layer, that of each of its layers.
Bytes checkpoints_of(const ModelGraph& graph, const RunSetup& setup, const ForwardStage& stage) {
  if (graph.boundary > Bytes()) {
    const std::int64_t layers = std::max<std::int64_t>(1, count_layers(graph, stage.blocks));
    return graph.boundary * (setup.recompute_checkpoint_every_layer ? layers : 1);
  }
  const std::size_t first = stage.blocks.front();
  Bytes kept = handed_to(graph, first) - passing(graph, first, stage.blocks.back());
  if (!setup.recompute_checkpoint_every_layer) return kept;
  std::size_t before = first;
  for (const std::size_t block : stage.blocks) {
    if (block != first) kept += handed_to(graph, block) - passing(graph, before, block - 1);
    before = block;
  }
  return kept;
}

}  // namespace

Bytes segment_checkpoints(const ModelGraph& graph, const RunSetup& setup, const ForwardStage& stage) {
  Bytes kept;
  std::size_t before = 0;  // the first block of the segment before
  for (const std::vector<std::size_t>& segment : recompute_segments(graph, setup, stage)) {
    const std::size_t first = segment.front();
    kept += handed_to(graph, first);
    // What was carried into the segment before and is carried on was counted there.
    if (first != 0) kept -= passing(graph, before, first - 1);
    before = first;
  }
  return kept;
}

Bytes stash_of_stage(const ModelGraph& graph, const WorkloadSettings& settings, const RunSetup& setup,
                     const ForwardStage& stage) {
  Bytes kept;
  if (!settings.recompute) {
    for (const std::size_t block : stage.blocks) kept += graph.blocks[block].live_forward;
  } else {
    kept = checkpoints_of(graph, setup, stage);
  }
  return settings.activation_checkpoint_format == "float8" ? Bytes((kept.count() + 1) / 2) : kept;
}

std::int64_t stash_slots(const Pipeline& pipeline, int stage) {
  const int behind = pipeline.forward_stages() - 1 - stage;
  return behind == 0 ? 0 : 2 * behind + 1;
}

Bytes live_activations(const ModelGraph& graph, const RunSetup& setup, std::size_t index) {
  const Block& block = graph.blocks[index];
  if (!block.holds_vocabulary) return block.live_forward;
  const std::int64_t steps = setup.serial_steps(block.kind);
  return Bytes((block.live_forward.count() + steps - 1) / steps);
}

Bytes largest_copy(const ModelGraph& graph, const Pipeline& pipeline) {
  Bytes largest;
  for (std::size_t stage = 0; stage + 1 < pipeline.forward().size(); ++stage) {
    largest = std::max(largest, graph.handed_on(pipeline.forward()[stage].blocks.back()));
  }
  return largest;
}

Bytes streamed_state(const PlacedParameters& parameters, const WorkloadSettings& settings, const RunSetup& setup) {
  if (!setup.optimizer_state_offchip) return Bytes();
  return Bytes(optimizer_state_bytes(settings) * parameters.sharded_elements);
}

std::vector<MemoryAccountEntry> account_ipu(const MemoryInputs& inputs, const OperatorCostModel& costs,
                                            std::size_t ipu) {
  return Account(inputs, costs).entries(ipu);
}

std::vector<std::vector<MemoryAccountEntry>> account_memory(const MemoryInputs& inputs,
                                                            const OperatorCostModel& costs) {
  Account account(inputs, costs);
  std::vector<std::vector<MemoryAccountEntry>> by_ipu;
  for (std::int64_t ipu = 0; ipu < inputs.setup.ipus_per_replica; ++ipu) {
    by_ipu.push_back(account.entries(static_cast<std::size_t>(ipu)));
  }
  return by_ipu;
}

}  // namespace podsim::ipu
