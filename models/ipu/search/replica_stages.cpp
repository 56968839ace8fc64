#include "models/ipu/search/replica_stages.hpp"

#include <algorithm>
#include <utility>

#include "models/ipu/memory/memory.hpp"

namespace podsim::ipu {
namespace {

bool depends_on_steps(const Block& block) {
  const auto serial = [](const Operator& op) {
    return op.serial != SerialDimension::none || op.launches_per_serial_step;
  };
  return std::ranges::any_of(block.forward, serial) || std::ranges::any_of(block.backward, serial);
}

WorkloadSettings resized(WorkloadSettings settings, std::int64_t micro_batch_size) {
  settings.micro_batch_size = micro_batch_size;
  return settings;
}

bool alike(const Block& a, const Block& b) {
  const auto same_tensor = [](const ParameterTensor& one, const ParameterTensor& other) {
    return one.elements == other.elements && one.tied == other.tied;
  };
  return a.kind == b.kind && a.output == b.output && a.live_forward == b.live_forward &&
         a.holds_vocabulary == b.holds_vocabulary && std::ranges::equal(a.parameters, b.parameters, same_tensor);
}

bool alike(const BlockWork& a, const BlockWork& b) {
  for (const WorkPhase phase : {WorkPhase::forward, WorkPhase::recompute, WorkPhase::backward}) {
    if (a.sum(phase).time != b.sum(phase).time || a.sum(phase).most_temporary != b.sum(phase).most_temporary) {
      return false;
    }
  }
  return true;
}

}  // namespace

MicroBatch::MicroBatch(const Plan& plan, const IpuPlan& ipu_plan, std::int64_t size, std::vector<double> proportions)
    : ipu_plan_(ipu_plan),
      settings_(resized(plan.settings, size)),
      graph_(plan.model_kind->build(plan.shape, settings_)),
      proportions_(std::move(proportions)) {}

const std::vector<BlockWorks>& MicroBatch::works(const RunSetup& setup) {
  const std::pair steps{setup.embedding_serialization_factor, setup.projection_serialization_factor};
  const auto [place, added] = works_.try_emplace(steps);
  if (!added) return place->second;
  // Blocks without vocabulary-sized operators are the same under any number of steps.
  const std::vector<BlockWorks>* other = nullptr;
  for (const auto& [known, works] : works_) {
    if (known != steps) other = &works;
  }
  const Pipeline pipeline({}, 1);
  const MemoryInputs inputs{graph_, settings_, setup, pipeline, ipu_plan_.constants};
  for (std::size_t p = 0; p < proportions_.size(); ++p) {
    BlockWorks& works = place->second.emplace_back();
    for (std::size_t b = 0; b < graph_.blocks.size(); ++b) {
      const Block& block = graph_.blocks[b];
      if (other != nullptr && !depends_on_steps(block)) {
        works.push_back((*other)[p][b]);
        continue;
      }
      const Execution execution{setup.mode, proportions_[p], setup.serial_steps(block.kind)};
      works.push_back(std::make_shared<const BlockWork>(block_work(inputs, *ipu_plan_.costs, b, execution)));
    }
  }
  return place->second;
}

SimTime MicroBatch::least_work(const RunSetup& setup) {
  const std::vector<BlockWorks>& by_proportion = works(setup);
  SimTime total;
  for (std::size_t block = 0; block < graph_.blocks.size(); ++block) {
    std::optional<SimTime> least;
    for (const BlockWorks& works : by_proportion) {
      const SimTime own = works[block]->sum(WorkPhase::forward).time + works[block]->sum(WorkPhase::backward).time;
      least = least ? std::min(*least, own) : own;
    }
    total += least.value_or(SimTime());
  }
  return total;
}

bool MicroBatch::uniform(const RunSetup& setup) {
  const std::vector<BlockWorks>& by_proportion = works(setup);
  std::vector<std::vector<std::size_t>> layers(static_cast<std::size_t>(graph_.layers));
  for (std::size_t block = 0; block < graph_.blocks.size(); ++block) {
    if (graph_.blocks[block].layer >= 0) layers[static_cast<std::size_t>(graph_.blocks[block].layer)].push_back(block);
  }
  const auto same_block = [&](std::size_t a, std::size_t b) {
    return alike(graph_.blocks[a], graph_.blocks[b]) &&
           std::ranges::all_of(by_proportion, [&](const BlockWorks& works) { return alike(*works[a], *works[b]); });
  };
  return std::ranges::all_of(layers,
                             [&](const auto& layer) { return std::ranges::equal(layer, layers.front(), same_block); });
}

ReplicaStages::ReplicaStages(MicroBatch& micro_batch, const IpuPlan& ipu_plan, const RunSetup& setup, bool recompute)
    : micro_batch_(micro_batch),
      ipu_plan_(ipu_plan),
      setup_(setup),
      settings_(micro_batch.settings()),
      uniform_(micro_batch.uniform(setup)),
      least_(static_cast<std::size_t>(setup.ipus_per_replica), 1) {
  settings_.recompute = recompute;
  setup_.matmul_proportion.assign(least_.size(), micro_batch.proportions().front());
  // An embedding or a head makes a stage of its own where no layer stands beside it.
  const auto outside = [&](const Block& block) { return block.layer < 0; };
  const ModelGraph& graph = micro_batch.graph();
  if (std::ranges::none_of(graph.blocks, outside)) return;
  least_.front() = 0;
  if (graph.head_placement == HeadPlacement::last_device) least_.back() = 0;
}

LayerPlacement ReplicaStages::with(std::size_t ipu, std::int64_t first, std::int64_t count) const {
  const std::int64_t layers = micro_batch_.graph().layers;
  std::vector<std::int64_t> counts = least_;
  std::int64_t before = 0;
  std::int64_t behind = 0;
  for (std::size_t other = 0; other < counts.size(); ++other) {
    if (other < ipu) before += counts[other];
    if (other > ipu) behind += counts[other];
  }
  counts[ipu] = count;
  if (ipu > 0) counts[ipu - 1] += first - before;
  if (ipu + 1 < counts.size()) counts[ipu + 1] += layers - first - count - behind;
  return {counts, counts};
}

ReplicaStages::Stretch ReplicaStages::key(std::size_t ipu, std::int64_t first, std::int64_t count) const {
  return {ipu, uniform_ ? 0 : first, count};
}

std::int64_t ReplicaStages::training_stages() const {
  const std::int64_t layers = micro_batch_.graph().layers;
  std::vector<std::int64_t> counts = least_;
  for (const std::int64_t least : least_) counts.front() -= least;
  counts.front() += layers;
  return make_pipeline(micro_batch_.graph(), {counts, counts}).training_stages();
}

StageLoad ReplicaStages::load(const LayerPlacement& placement, std::size_t ipu) const {
  const Pipeline pipeline = make_pipeline(micro_batch_.graph(), placement);
  const MemoryInputs inputs{micro_batch_.graph(), settings_, setup_, pipeline, ipu_plan_.constants};
  const std::vector<BlockWorks>& by_proportion = micro_batch_.works(setup_);
  StageLoad load{std::vector<SimTime>(by_proportion.size()), std::vector<Bytes>(by_proportion.size())};
  for (int stage = 0; stage < pipeline.training_stages(); ++stage) {
    if (pipeline.forward()[static_cast<std::size_t>(pipeline.forward_of(stage))].ipu != static_cast<int>(ipu)) continue;
    for (const StageStep& step : stage_steps(inputs, stage)) {
      for (std::size_t p = 0; p < by_proportion.size(); ++p) {
        const PhaseSum& sum = by_proportion[p][step.block]->sum(step.phase);
        load.time[p] += sum.time;
        load.temporaries[p] = std::max(load.temporaries[p], sum.most_temporary);
      }
    }
  }
  return load;
}

Bytes ReplicaStages::held(const RunSetup& run, const LayerPlacement& placement, std::size_t ipu) const {
  const Pipeline pipeline = make_pipeline(micro_batch_.graph(), placement);
  RunSetup setup = setup_;
  setup.placement = placement;
  setup.replication_factor = run.replication_factor;
  setup.gradient_accumulation_steps = run.gradient_accumulation_steps;
  setup.optimizer_state_offchip = run.optimizer_state_offchip;
  setup.replicated_tensor_sharding = run.replicated_tensor_sharding;
  MemoryInputs inputs{micro_batch_.graph(), settings_, setup, pipeline, ipu_plan_.constants};
  inputs.works = &micro_batch_.works(setup_).front();
  Bytes total;
  for (const MemoryAccountEntry& entry : account_ipu(inputs, *ipu_plan_.costs, ipu)) {
    if (entry.category != k_temporaries) total += entry.bytes;
  }
  return total;
}

const StageLoad& ReplicaStages::load(std::size_t ipu, std::int64_t first, std::int64_t count) {
  const Stretch stretch = key(ipu, first, count);
  const auto found = loads_.find(stretch);
  if (found != loads_.end()) return found->second;
  return loads_.emplace(stretch, load(with(ipu, first, count), ipu)).first->second;
}

Bytes ReplicaStages::held(const RunSetup& run, std::size_t ipu, std::int64_t first, std::int64_t count) {
  const PlaceOfState place{run.replication_factor, run.gradient_accumulation_steps > 1, run.optimizer_state_offchip,
                           run.replicated_tensor_sharding};
  const std::pair asked{place, key(ipu, first, count)};
  const auto found = held_.find(asked);
  if (found != held_.end()) return found->second;
  return held_.emplace(asked, held(run, with(ipu, first, count), ipu)).first->second;
}

}  // namespace podsim::ipu
