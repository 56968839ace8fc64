#include "models/ipu/lowering/shared_parts.hpp"

#include <algorithm>

#include "models/ipu/resolve/resolve_network.hpp"
#include "sim/config/value_hash.hpp"

namespace podsim::ipu {
namespace {

constexpr std::size_t k_configs = 1024;
constexpr std::size_t k_constants = 32;
constexpr std::size_t k_graphs = 64;
constexpr std::size_t k_works = 4096;  // of blocks of all graphs: some 15 KB each
constexpr std::size_t k_staged = 32;
constexpr std::size_t k_prepared = 32;
constexpr std::size_t k_pods = 64;

template <class T>
void forget_oldest(std::vector<T>& kept, std::size_t most) {
  if (kept.size() >= most) kept.erase(kept.begin());
}

// The newest entry of which `is_it` holds; null: none.
template <class T, class IsIt>
T* newest(std::vector<T>& kept, const IsIt& is_it) {
  const auto found = std::find_if(kept.rbegin(), kept.rend(), is_it);
  return found == kept.rend() ? nullptr : &*found;
}

std::vector<int> stage_ipus(const Pipeline& pipeline) {
  std::vector<int> ipus;
  for (const ForwardStage& stage : pipeline.forward()) ipus.push_back(stage.ipu);
  return ipus;
}

// Without what neither stages nor memory look at: how many more than one.
RunSetup for_memory(RunSetup setup) {
  constexpr std::int64_t k_several = 2;
  setup.gradient_accumulation_steps = std::min(setup.gradient_accumulation_steps, k_several);
  if (!setup.replicated_tensor_sharding) setup.replication_factor = std::min(setup.replication_factor, k_several);
  setup.device_iterations = 1;
  setup.instances = 0;
  setup.inference = {};
  return setup;
}

// Nor how many replicas there are, or where state lives.
RunSetup for_stages(RunSetup setup) {
  setup.gradient_accumulation_steps = 1;
  setup.replication_factor = 1;
  setup.replicated_tensor_sharding = false;
  setup.optimizer_state_offchip = false;
  return setup;
}

}  // namespace

std::shared_ptr<const SharedConfig> SharedParts::config(const Value& section, const std::string& variant) {
  const std::lock_guard lock(mutex_);
  const auto [first, last] = configs_.equal_range(hash_of(section));
  for (auto known = first; known != last; ++known) {
    if (known->second.section == section && known->second.variant == variant) return known->second.config;
  }
  return nullptr;
}

void SharedParts::keep(const Value& section, const std::string& variant, std::shared_ptr<const SharedConfig> config) {
  const std::lock_guard lock(mutex_);
  if (configs_.size() >= k_configs) configs_.clear();
  configs_.emplace(hash_of(section), ConfigEntry{section, variant, std::move(config)});
}

std::shared_ptr<const SharedConstants> SharedParts::constants(const ConstantSet& set, bool convolution_network) {
  const std::lock_guard lock(mutex_);
  const auto* known = newest(constants_, [&](const std::shared_ptr<const SharedConstants>& other) {
    return other->set.identity() == set.identity() && other->convolution_network == convolution_network;
  });
  if (known != nullptr) return *known;
  auto fresh = std::make_shared<SharedConstants>();
  fresh->set = set;
  fresh->convolution_network = convolution_network;
  ConstantReader reader(set);
  IpuConstants& constants = fresh->constants;
  constants.chip = read_chip_constants(reader);
  constants.cost = read_cost_constants(reader);
  constants.passes = read_pass_constants(reader);
  constants.loss_scaling = read_loss_scaling_constants(reader);
  constants.system = read_system_constants(reader);
  constants.software = read_software_constants(reader);
  constants.memory = read_memory_constants(reader);
  if (convolution_network) read_network_constants(reader, constants);
  fresh->ids = reader.read_ids();
  fresh->costs = costs_of(*fresh);
  forget_oldest(constants_, k_constants);
  constants_.push_back(fresh);
  return fresh;
}

// Planned products are shared where nothing that decides them differs.
std::shared_ptr<const OperatorCostModel> SharedParts::costs_of(const SharedConstants& shared) const {
  const IpuConstants& constants = shared.constants;
  for (auto known = constants_.rbegin(); known != constants_.rend(); ++known) {
    const IpuConstants& other = (*known)->constants;
    if ((*known)->convolution_network == shared.convolution_network && other.chip == constants.chip &&
        other.cost == constants.cost && other.passes == constants.passes && other.operators == constants.operators) {
      return (*known)->costs;
    }
  }
  if (shared.convolution_network) {
    return std::make_shared<const OperatorCostModel>(constants.chip, constants.cost, *constants.operators);
  }
  return std::make_shared<const OperatorCostModel>(constants.chip, constants.cost, constants.passes);
}

bool SharedParts::GraphKey::operator==(const GraphKey& other) const {
  return blocks.identity() == other.blocks.identity() && costs == other.costs && mode == other.mode &&
         run == other.run && auto_loss_scaling == other.auto_loss_scaling && norm_replicas == other.norm_replicas &&
         framework_factor == other.framework_factor && plan_tolerance == other.plan_tolerance &&
         loss_scaling == other.loss_scaling;
}

SharedParts::GraphEntry& SharedParts::graph_entry(const Plan& plan, const IpuPlan& ipu_plan) {
  const RunSetup& setup = ipu_plan.setup;
  const IpuConstants& constants = ipu_plan.constants;
  const GraphKey key{plan.graph.blocks,
                     ipu_plan.costs,
                     setup.mode,
                     setup.run,
                     setup.auto_loss_scaling,
                     setup.distributed_batch_norm_replicas,
                     constants.software.framework_factor,
                     constants.memory.plan_tolerance,
                     constants.loss_scaling};
  if (GraphEntry* known = newest(graphs_, [&](const GraphEntry& other) { return other.key == key; })) return *known;
  forget_oldest(graphs_, k_graphs);
  graphs_.push_back({key, 0, graphs_made_++, plan.graph.convolutional(), plan.graph.forward_flop(),
                     plan.graph.backward_flop(), std::vector<std::vector<BlockEntry>>(key.blocks.size())});
  return graphs_.back();
}

// Of the oldest graphs, as long as there are too many; of one alone, all.
void SharedParts::forget_works() {
  std::size_t kept = 0;
  for (const GraphEntry& graph : graphs_) kept += graph.kept;
  while (kept > k_works) {
    kept -= graphs_.front().kept;
    graphs_.erase(graphs_.begin());
  }
}

const PreparedPlan& SharedParts::prepared(const Plan& plan, const IpuPlan& ipu_plan) {
  const std::lock_guard lock(mutex_);
  if (ipu_plan.prepared != nullptr) return *ipu_plan.prepared;
  forget_works();
  GraphEntry& graph = graph_entry(plan, ipu_plan);
  const std::shared_ptr<const StagedWork> staged = staged_work(plan, ipu_plan, graph);
  PreparedEntry entry{staged, for_memory(ipu_plan.setup), ipu_plan.constants.memory,
                      ipu_plan.constants.system.sharding_minimum_elements, nullptr};
  const PreparedEntry* known = newest(prepared_, [&](const PreparedEntry& other) {
    return other.staged == entry.staged && other.setup == entry.setup && other.memory == entry.memory &&
           other.sharding_minimum == entry.sharding_minimum;
  });
  if (known != nullptr) {
    ipu_plan.prepared = known->prepared;
    return *ipu_plan.prepared;
  }
  auto fresh = std::make_shared<PreparedPlan>();
  fresh->staged = staged;
  fresh->convolutional = graph.convolutional;
  fresh->parameters = place_parameters(plan.graph, ipu_plan.setup, ipu_plan.constants);
  const MemoryInputs inputs{plan.graph,         plan.settings,  ipu_plan.setup, staged->pipeline,
                            ipu_plan.constants, &staged->works, &staged->steps, &fresh->parameters};
  fresh->account = account_memory(inputs, *ipu_plan.costs);
  entry.prepared = fresh;
  forget_oldest(prepared_, k_prepared);
  prepared_.push_back(std::move(entry));
  ipu_plan.prepared = std::move(fresh);
  return *ipu_plan.prepared;
}

std::shared_ptr<const StagedWork> SharedParts::staged_work(const Plan& plan, const IpuPlan& ipu_plan,
                                                           GraphEntry& graph) {
  RunSetup setup = for_stages(for_memory(ipu_plan.setup));
  const StagedEntry* known = newest(staged_, [&](const StagedEntry& other) {
    return other.graph == graph.number && other.setup == setup && other.settings == plan.settings;
  });
  if (known != nullptr) return known->staged;
  auto fresh = std::make_shared<StagedWork>(
      StagedWork{make_pipeline(plan.graph, ipu_plan.setup.placement), {}, {}, {}, {}, {}, {}});
  const MemoryInputs inputs{plan.graph, plan.settings, ipu_plan.setup, fresh->pipeline, ipu_plan.constants};
  fresh->works = works_of(inputs, ipu_plan, graph);
  const bool training = setup.training();
  const int stages = training ? fresh->pipeline.training_stages() : fresh->pipeline.forward_stages();
  for (int stage = 0; stage < stages; ++stage) {
    fresh->steps.push_back(training ? stage_steps(inputs, stage) : inference_steps(inputs, stage));
  }
  fresh->forward_flop = graph.forward_flop;
  fresh->backward_flop = graph.backward_flop;
  if (training) {
    fresh->recompute_flop = recompute_flop(inputs);
    add_chains(*fresh);
  }
  forget_oldest(staged_, k_staged);
  staged_.push_back({graph.number, plan.settings, std::move(setup), fresh});
  return fresh;
}

BlockWorks SharedParts::works_of(const MemoryInputs& inputs, const IpuPlan& plan, GraphEntry& graph) {
  const std::vector<int> ipus = place_blocks(inputs.graph, inputs.setup.placement);
  BlockWorks works;
  works.reserve(ipus.size());
  for (std::size_t block = 0; block < ipus.size(); ++block) {
    const Execution execution =
        inputs.setup.execution(static_cast<std::size_t>(ipus[block]), inputs.graph.blocks[block].kind);
    std::vector<BlockEntry>& executions = graph.works[block];
    const BlockEntry* known = newest(executions, [&](const BlockEntry& e) {
      return e.proportion == execution.proportion && e.serial_steps == execution.serial_steps;
    });
    if (known == nullptr) {
      ++graph.kept;
      executions.push_back({execution.proportion, execution.serial_steps,
                            std::make_shared<const BlockWork>(block_work(inputs, *plan.costs, block, execution))});
      known = &executions.back();
    }
    works.push_back(known->work);
  }
  return works;
}

std::shared_ptr<const FoldedPod> SharedParts::pod(const Pipeline& pipeline, const IpuPlan& plan, bool fold) {
  PodKey key{plan.pod,
             stage_ipus(pipeline),
             plan.slowdown,
             fold,
             plan.constants.system,
             plan.constants.chip.tile_memory * plan.constants.chip.tiles,
             usable_memory(plan.constants)};
  const std::lock_guard lock(mutex_);
  if (const PodEntry* known = newest(pods_, [&](const PodEntry& other) { return other.key == key; })) return known->pod;
  auto fresh = std::make_shared<FoldedPod>();
  fresh->pod = build_pod(plan.pod, pipeline, plan.constants);
  fresh->fold = fold_replicas(fresh->pod, plan.slowdown, fold);
  forget_oldest(pods_, k_pods);
  pods_.push_back({std::move(key), fresh});
  return fresh;
}

}  // namespace podsim::ipu
