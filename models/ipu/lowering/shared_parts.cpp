#include "models/ipu/lowering/shared_parts.hpp"

#include <algorithm>

#include "models/ipu/resolve/resolve_network.hpp"

namespace podsim::ipu {
namespace {

// Constants are kept for as long as anything made of them may be found by their identity, hence all of them.
constexpr std::size_t k_graphs = 64;
constexpr std::size_t k_pods = 64;

template <class T>
void forget_oldest(std::vector<T>& kept, std::size_t most) {
  if (kept.size() >= most) kept.erase(kept.begin());
}

std::vector<int> stage_ipus(const Pipeline& pipeline) {
  std::vector<int> ipus;
  for (const ForwardStage& stage : pipeline.forward()) ipus.push_back(stage.ipu);
  return ipus;
}

}  // namespace

std::shared_ptr<const SharedConstants> SharedParts::constants(const ConstantSet& set, bool convolution_network) {
  const std::lock_guard lock(mutex_);
  for (auto known = constants_.rbegin(); known != constants_.rend(); ++known) {
    const SharedConstants& other = **known;
    if (other.set.identity() == set.identity() && other.convolution_network == convolution_network) return *known;
  }
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
  constants_.push_back(fresh);
  return fresh;
}

// Planned products are shared where nothing that decides them differs.
std::shared_ptr<const OperatorCostModel> SharedParts::costs_of(const SharedConstants& shared) const {
  const IpuConstants& constants = shared.constants;
  if (shared.convolution_network) {
    return std::make_shared<const OperatorCostModel>(constants.chip, constants.cost, *constants.operators);
  }
  for (const auto& known : constants_) {
    const IpuConstants& other = known->constants;
    if (!known->convolution_network && other.chip == constants.chip && other.cost == constants.cost &&
        other.passes == constants.passes) {
      return known->costs;
    }
  }
  return std::make_shared<const OperatorCostModel>(constants.chip, constants.cost, constants.passes);
}

SharedParts::GraphEntry& SharedParts::graph_entry(const MemoryInputs& inputs, const IpuPlan& plan) {
  const SharedVector<Block>& blocks = inputs.graph.blocks;
  const RunSetup& setup = inputs.setup;
  for (auto known = graphs_.rbegin(); known != graphs_.rend(); ++known) {
    if (known->blocks.identity() == blocks.identity() && known->constants == plan.constants_identity &&
        known->mode == setup.mode && known->run == setup.run && known->auto_loss_scaling == setup.auto_loss_scaling &&
        known->norm_replicas == setup.distributed_batch_norm_replicas) {
      return *known;
    }
  }
  forget_oldest(graphs_, k_graphs);
  graphs_.push_back({blocks,
                     plan.constants_identity,
                     setup.mode,
                     setup.run,
                     setup.auto_loss_scaling,
                     setup.distributed_batch_norm_replicas,
                     {}});
  graphs_.back().works.resize(blocks.size());
  return graphs_.back();
}

const PreparedPlan& SharedParts::prepared(const Plan& plan, const IpuPlan& ipu_plan) {
  const std::lock_guard lock(mutex_);
  if (ipu_plan.prepared != nullptr) return *ipu_plan.prepared;
  auto fresh =
      std::make_shared<PreparedPlan>(PreparedPlan{make_pipeline(plan.graph, ipu_plan.setup.placement), {}, {}, {}, {}});
  MemoryInputs inputs{plan.graph, plan.settings, ipu_plan.setup, fresh->pipeline, ipu_plan.constants};
  fresh->works = works_locked(inputs, ipu_plan);
  inputs.works = &fresh->works;
  const bool training = ipu_plan.setup.training();
  const int stages = training ? fresh->pipeline.training_stages() : fresh->pipeline.forward_stages();
  for (int stage = 0; stage < stages; ++stage) {
    fresh->steps.push_back(training ? stage_steps(inputs, stage) : inference_steps(inputs, stage));
  }
  inputs.steps = &fresh->steps;
  fresh->parameters = place_parameters(plan.graph, ipu_plan.setup, ipu_plan.constants);
  fresh->account = account_memory(inputs, *ipu_plan.costs);
  ipu_plan.prepared = std::move(fresh);
  return *ipu_plan.prepared;
}

BlockWorks SharedParts::works_locked(const MemoryInputs& inputs, const IpuPlan& plan) {
  const std::vector<int> ipus = place_blocks(inputs.graph, inputs.setup.placement);
  BlockWorks works;
  works.reserve(ipus.size());
  GraphEntry& graph = graph_entry(inputs, plan);
  for (std::size_t block = 0; block < ipus.size(); ++block) {
    const Execution execution =
        inputs.setup.execution(static_cast<std::size_t>(ipus[block]), inputs.graph.blocks[block].kind);
    std::vector<BlockEntry>& known = graph.works[block];
    auto entry = std::find_if(known.begin(), known.end(), [&](const BlockEntry& e) {
      return e.proportion == execution.proportion && e.serial_steps == execution.serial_steps;
    });
    if (entry == known.end()) {
      known.push_back({execution.proportion, execution.serial_steps,
                       std::make_shared<const BlockWork>(block_work(inputs, *plan.costs, block, execution))});
      entry = std::prev(known.end());
    }
    works.push_back(entry->work);
  }
  return works;
}

std::shared_ptr<const FoldedPod> SharedParts::pod(const Pipeline& pipeline, const IpuPlan& plan, bool fold) {
  std::vector<int> stages = stage_ipus(pipeline);
  const std::lock_guard lock(mutex_);
  for (auto known = pods_.rbegin(); known != pods_.rend(); ++known) {
    if (known->constants == plan.constants_identity && known->fold == fold && known->shape == plan.pod &&
        known->stages == stages && known->slowdown == plan.slowdown) {
      return known->pod;
    }
  }
  auto fresh = std::make_shared<FoldedPod>();
  fresh->pod = build_pod(plan.pod, pipeline, plan.constants);
  fresh->fold = fold_replicas(fresh->pod, plan.slowdown, fold);
  forget_oldest(pods_, k_pods);
  pods_.push_back({plan.pod, std::move(stages), plan.slowdown, plan.constants_identity, fold, fresh});
  return fresh;
}

}  // namespace podsim::ipu
