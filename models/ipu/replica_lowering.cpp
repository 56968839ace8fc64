#include "models/ipu/replica_lowering.hpp"

namespace podsim::ipu {

ReplicaLowering::ReplicaLowering(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options)
    : setup_(ipu_plan.setup),
      constants_(ipu_plan.constants),
      slowdown_(ipu_plan.slowdown),
      pipeline_(make_pipeline(plan.graph, setup_.placement)),
      inputs_{plan.graph, plan.settings, setup_, pipeline_, constants_},
      costs_(*ipu_plan.costs),
      pod_(build_pod(ipu_plan.pod, pipeline_, constants_)),
      norms_(pod_, setup_),
      fold_(fold_replicas(pod_, slowdown_, options.fold)),
      parameters_(place_parameters(plan.graph, setup_, constants_)),
      works_(prepare_work(inputs_, costs_)) {
  if (fold_.folded) fold_id_ = builder_.fold(fold_.map);
  for (const char* category : k_categories) builder_.memory_category(category);  // the order of reports
  activations_ = builder_.memory_category(k_activations);
  temporaries_ = builder_.memory_category(k_temporaries);
  intern_work();
}

void ReplicaLowering::intern_work() {
  for (const BlockWork& work : works_) {
    auto& phases = interned_.emplace_back();
    for (const WorkPhase phase : {WorkPhase::forward, WorkPhase::recompute, WorkPhase::backward}) {
      for (const WorkOp& op : work.phase(phase)) {
        phases[static_cast<std::size_t>(phase)].push_back({builder_.cost(op.cost), builder_.label(op.label), &op});
      }
    }
  }
}

void ReplicaLowering::add_always_live() {
  const std::vector<std::vector<MemoryAccountEntry>> account = account_memory(inputs_, costs_);
  for (const ReplicaResources& replica : pod_.replicas) {
    for (std::size_t ipu = 0; ipu < account.size(); ++ipu) {
      for (const MemoryAccountEntry& entry : account[ipu]) {
        const MemoryCategory category = builder_.memory_category(entry.category);
        if (entry.always_live) builder_.always_live(replica.sram[ipu], category, entry.bytes);
      }
      if (replica.streaming_memory.empty()) continue;
      builder_.always_live(replica.streaming_memory[ipu], builder_.memory_category(k_remote_state),
                           streamed_state(parameters_[ipu], inputs_.settings, setup_));
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
  Lowered lowered{std::move(pod_.platform), std::move(builder_).build(std::move(blocks)), {}};
  if (!fold_.reason.empty()) lowered.not_folded.push_back("replicas: " + fold_.reason);
  return lowered;
}

}  // namespace podsim::ipu
