#include "models/ipu/lowering/replica_lowering.hpp"

#include <algorithm>
#include <utility>

namespace podsim::ipu {

ReplicaLowering::ReplicaLowering(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options)
    : setup_(ipu_plan.setup),
      constants_(ipu_plan.constants),
      slowdown_(ipu_plan.slowdown),
      prepared_(ipu_plan.parts->prepared(plan, ipu_plan)),
      pipeline_(prepared_.pipeline),
      inputs_{plan.graph, plan.settings, setup_, pipeline_, constants_, &prepared_.works},
      folded_pod_(ipu_plan.parts->pod(pipeline_, ipu_plan, options.fold)),
      pod_(folded_pod_->pod),
      norms_(pod_, setup_),
      fold_(folded_pod_->fold),
      parameters_(prepared_.parameters),
      works_(prepared_.works) {
  // A slow IPU rounds every op of its own; norms over replicas stand between ops.
  constexpr int k_most_stages = 64;  // a bit for each
  merge_ = options.merge && setup_.training() && !norms_.needed() && pipeline_.training_stages() <= k_most_stages &&
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

bool ReplicaLowering::begin_chains(const std::vector<std::uint64_t>& working) {
  chains_.resize(working.size());
  current_.resize(working.size());
  bool missing = false;
  for (std::size_t position = 0; position < working.size(); ++position) {
    std::vector<Chain>& chains = chains_[position];
    const auto known = std::find_if(chains.begin(), chains.end(),
                                    [&](const Chain& chain) { return chain.working == working[position]; });
    current_[position] = static_cast<std::size_t>(known - chains.begin());
    if (known == chains.end()) chains.emplace_back().working = working[position];
    missing |= !chains[current_[position]].noted;
  }
  return missing;
}

void ReplicaLowering::end_chains() {
  for (std::size_t position = 0; position < chains_.size(); ++position) close(chains_[position][current_[position]]);
}

// The most is live in the step's most demanding op. What takes no time releases at once what it holds, and is not
// seen.
void ReplicaLowering::extend_chain(std::size_t position, const StageStep& step) {
  const std::size_t ops = works_[step.block]->phase(step.phase).size();
  if (ops == 0) return;
  Chain& chain = chains_[position][current_[position]];
  if (chain.noted) return;
  const PhaseSum& sum = works_[step.block]->sum(step.phase);
  if (chain.ops == 0) chain.first = step;
  chain.last = step;
  chain.ops += ops;
  chain.live += step.takes;
  const bool more = chain.live + sum.largest > chain.most_activations + chain.most_temporary;
  if (more && sum.time > SimTime()) {
    chain.most_activations = chain.live;
    chain.most_temporary = sum.largest;
    chain.most_at = chain.time + sum.largest_at;
  }
  chain.cost += sum.cost;
  chain.time += sum.time;
  chain.live -= step.frees;
}

std::string ReplicaLowering::chain_label(const Chain& chain) const {
  const std::string& begin = works_[chain.first.block]->phase(chain.first.phase).front().label;
  if (chain.ops == 1) return begin;
  return begin + " … " + works_[chain.last.block]->phase(chain.last.phase).back().label + " (" +
         std::to_string(chain.ops) + " ops)";
}

void ReplicaLowering::close(Chain& chain) {
  chain.noted = true;
  if (chain.ops == 0 || chain.label.valid()) return;
  chain.cost_id = builder_.cost(chain.cost);
  chain.label = builder_.label(chain_label(chain));
}

void ReplicaLowering::add_chains(SegmentBuilder& segment, const ReplicaResources& replica) {
  for (std::size_t position = 0; position < chains_.size(); ++position) {
    const Chain& chain = chains_[position][current_[position]];
    if (chain.ops == 0) continue;
    const OpId op = segment.local(replica.ipus[position], chain.cost_id, chain.label);
    const MemoryId sram = replica.sram[position];
    const auto hold = [&](MemoryCategory category, Bytes bytes) {
      if (bytes == Bytes()) return;
      segment.memory_at(op, chain.most_at, sram, category, bytes);
      segment.memory_at_finish(op, sram, category, Bytes(-bytes.count()));
    };
    hold(activations_, chain.most_activations);
    hold(temporaries_, chain.most_temporary);
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
