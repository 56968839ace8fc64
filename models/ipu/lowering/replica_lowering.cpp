#include "models/ipu/lowering/replica_lowering.hpp"

#include <algorithm>
#include <utility>

namespace podsim::ipu {

ReplicaLowering::ReplicaLowering(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options)
    : setup_(ipu_plan.setup),
      constants_(ipu_plan.constants),
      slowdown_(ipu_plan.slowdown),
      prepared_(ipu_plan.parts->prepared(plan, ipu_plan)),
      pipeline_(prepared_.staged->pipeline),
      inputs_{plan.graph, plan.settings, setup_, pipeline_, constants_, &prepared_.staged->works},
      folded_pod_(ipu_plan.parts->pod(pipeline_, ipu_plan, options.fold)),
      pod_(folded_pod_->pod),
      norms_(pod_, setup_),
      fold_(folded_pod_->fold),
      parameters_(prepared_.parameters),
      convolutional_(prepared_.convolutional),
      builder_(options.storage),
      works_(prepared_.staged->works) {
  // A slow IPU rounds every op of its own; norms over replicas stand between ops.
  merge_ = options.merge && setup_.training() && !norms_.needed() &&
           pipeline_.training_stages() <= k_most_chained_stages &&
           std::all_of(slowdown_.begin(), slowdown_.end(), [](double factor) { return factor == 1.0; });
  if (fold_.folded) fold_id_ = builder_.fold(fold_.map);
  for (const char* category : k_categories) builder_.memory_category(category);  // the order of reports
  activations_ = builder_.memory_category(k_activations);
  temporaries_ = builder_.memory_category(k_temporaries);
  if (!merge_) intern_work();
}

void ReplicaLowering::intern_work() {
  for (const std::shared_ptr<const BlockWork>& work : works_) {
    auto& phases = interned_.emplace_back();
    for (const WorkPhase phase : {WorkPhase::forward, WorkPhase::recompute, WorkPhase::backward}) {
      for (const WorkOp& op : work->phase(phase)) {
        phases[static_cast<std::size_t>(phase)].push_back({builder_.cost(op.cost), builder_.label(op.label), &op});
      }
    }
  }
}

void ReplicaLowering::begin_chains(const std::vector<std::uint64_t>& working) {
  chains_.resize(working.size());
  current_.resize(working.size());
  for (std::size_t position = 0; position < working.size(); ++position) {
    std::vector<InternedChain>& chains = chains_[position];
    const auto known = std::find_if(chains.begin(), chains.end(), [&](const InternedChain& chain) {
      return chain.work->working == working[position];
    });
    current_[position] = static_cast<std::size_t>(known - chains.begin());
    if (known == chains.end()) chains.push_back(intern_chain(position, working[position]));
  }
}

ReplicaLowering::InternedChain ReplicaLowering::intern_chain(std::size_t position, std::uint64_t working) {
  const std::vector<WorkChain>& common = prepared_.staged->chains[position];
  const auto found =
      std::find_if(common.begin(), common.end(), [&](const WorkChain& chain) { return chain.working == working; });
  const WorkChain& work =
      found != common.end() ? *found : rare_chains_.emplace_back(make_chain(*prepared_.staged, working));
  if (work.ops == 0) return {&work, CostId::none(), LabelId::none()};
  return {&work, builder_.cost(work.cost), builder_.label(work.label)};
}

void ReplicaLowering::add_chains(SegmentBuilder& segment, const ReplicaResources& replica) {
  for (std::size_t position = 0; position < chains_.size(); ++position) {
    const InternedChain& chain = chains_[position][current_[position]];
    const WorkChain& work = *chain.work;
    if (work.ops == 0) continue;
    const OpId op = segment.local(replica.ipus[position], chain.cost, chain.label);
    const MemoryId sram = replica.sram[position];
    const auto hold = [&](MemoryCategory category, Bytes bytes) {
      if (bytes == Bytes()) return;
      segment.memory_at(op, work.most_at, sram, category, bytes);
      segment.memory_at_finish(op, sram, category, Bytes(-bytes.count()));
    };
    hold(activations_, work.most_activations);
    hold(temporaries_, work.most_temporary);
  }
}

void ReplicaLowering::add_always_live() {
  const std::vector<std::vector<MemoryAccountEntry>>& account = prepared_.account;
  std::vector<std::vector<std::pair<MemoryCategory, Bytes>>> live(account.size());
  std::vector<Bytes> streamed;
  for (std::size_t ipu = 0; ipu < account.size(); ++ipu) {
    streamed.push_back(streamed_state(parameters_[ipu], inputs_.settings, setup_));
    for (const MemoryAccountEntry& entry : account[ipu]) {
      if (entry.always_live) live[ipu].emplace_back(builder_.memory_category(entry.category), entry.bytes);
    }
  }
  const MemoryCategory remote = builder_.memory_category(k_remote_state);
  for (const ReplicaResources& replica : pod_.replicas) {
    for (std::size_t ipu = 0; ipu < account.size(); ++ipu) {
      for (const auto& [category, bytes] : live[ipu]) builder_.always_live(replica.sram[ipu], category, bytes);
      if (replica.streaming_memory.empty()) continue;
      builder_.always_live(replica.streaming_memory[ipu], remote, streamed[ipu]);
    }
  }
}

void ReplicaLowering::add_step(SegmentBuilder& segment, const ReplicaResources& replica, std::size_t position,
                               const StageStep& step) {
  const DeviceId device = replica.ipus[position];
  const MemoryId sram = replica.sram[position];
  const bool slow = slowdown_[device.index()] != 1.0;
  OpId last;
  for (const InternedOp& op : interned_[step.block][static_cast<std::size_t>(step.phase)]) {
    const bool first = !last.valid();
    last = segment.local(device, slow ? builder_.cost(slowed(op.work->cost, device)) : op.cost, op.label);
    if (norms_.needed()) norms_.follow(device, last);
    if (first && step.takes > Bytes()) segment.memory_at_start(last, sram, activations_, step.takes);
    if (const Bytes temporary = op.work->temporary; temporary > Bytes()) {
      segment.memory_at_start(last, sram, temporaries_, temporary);
      segment.memory_at_finish(last, sram, temporaries_, Bytes(-temporary.count()));
    }
    if (op.work->statistics > Bytes()) norms_.add(segment, replica, position, op.work->statistics);
  }
  if (step.frees > Bytes() && last.valid()) {
    segment.memory_at_finish(last, sram, activations_, Bytes(-step.frees.count()));
  }
}

void ReplicaLowering::add_copy(SegmentBuilder& segment, const ReplicaResources& replica, std::size_t stage,
                               bool forward) {
  const auto& stages = pipeline_.forward();
  DeviceId from = replica.ipus[static_cast<std::size_t>(stages[stage].ipu)];
  DeviceId to = replica.ipus[static_cast<std::size_t>(stages[stage + 1].ipu)];
  if (!forward) std::swap(from, to);
  const RouteId route = forward ? replica.forward_copies[stage] : replica.backward_copies[stage];
  segment.transfer(from, to, route, inputs_.graph.handed_on(stages[stage].blocks.back()), CostCategory::inter_device,
                   forward ? "activations" : "activation gradients");
}

SegmentId ReplicaLowering::fixed_time(const std::string& name, Duration time, CostCategory category) {
  SegmentBuilder segment = folded_segment(name);
  CostVector cost;
  cost[category] = to_sim_time(time);
  for (const std::size_t replica : fold_.simulated) {
    for (const DeviceId device : pod_.replicas[replica].ipus) segment.local(device, cost, name);
  }
  return builder_.add(std::move(segment));
}

SegmentBuilder ReplicaLowering::folded_segment(const std::string& name) {
  SegmentBuilder segment = builder_.segment(name);
  if (fold_.folded) segment.fold(fold_id_);
  return segment;
}

CostVector ReplicaLowering::slowed(const CostVector& cost, DeviceId device) const {
  const double factor = slowdown_[device.index()];
  if (factor == 1.0) return cost;
  CostVector slower;
  for (std::size_t i = 0; i < k_cost_categories; ++i) slower.part[i] = to_sim_time(cost.part[i].duration() * factor);
  return slower;
}

Lowered ReplicaLowering::finish(std::vector<ProgramBlock> blocks) {
  Lowered lowered{pod_.platform, std::move(builder_).build(std::move(blocks)), {}, merge_};
  if (!fold_.reason.empty()) lowered.not_folded.push_back("replicas: " + fold_.reason);
  return lowered;
}

}  // namespace podsim::ipu
