#include "models/ipu/lowering.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/ipu/memory.hpp"
#include "models/ipu/stage_work.hpp"
#include "models/ipu/update_cost.hpp"

namespace podsim::ipu {
namespace {

// An op that cycles repeat, with what the builder made of its cost and label.
struct InternedOp {
  CostId cost;
  LabelId label;
  const WorkOp* work = nullptr;
};

class TrainingLowering {
 public:
  TrainingLowering(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options)
      : setup_(ipu_plan.setup),
        constants_(ipu_plan.constants),
        slowdown_(ipu_plan.slowdown),
        pipeline_(make_pipeline(plan.graph, setup_.placement)),
        inputs_{plan.graph, plan.settings, setup_, pipeline_, constants_},
        costs_(*ipu_plan.costs),
        pod_(build_pod(ipu_plan.pod, pipeline_, constants_)),
        fold_(fold_replicas(pod_, slowdown_, options.fold)),
        parameters_(place_parameters(plan.graph, setup_, constants_)),
        works_(prepare_work(inputs_, costs_)) {
    if (fold_.folded) fold_id_ = builder_.fold(fold_.map);
    stash_ = builder_.memory_category(k_stash);
    activations_ = builder_.memory_category(k_activations);
    temporaries_ = builder_.memory_category(k_temporaries);
    intern_work();
  }

  Lowered lower() {
    add_always_live();
    std::vector<ProgramBlock> update = pipeline_blocks();
    add_update(update);
    std::vector<ProgramBlock> blocks;
    blocks.emplace_back(Repeat{setup_.device_iterations, "updates", std::move(update)});
    blocks.emplace_back(fixed_time("host call", constants_.software.call_overhead, CostCategory::host_io));
    Lowered lowered{std::move(pod_.platform), std::move(builder_).build(std::move(blocks)), {}};
    if (!fold_.reason.empty()) lowered.not_folded.push_back("replicas: " + fold_.reason);
    return lowered;
  }

 private:
  void intern_work() {
    for (const BlockWork& work : works_) {
      auto& phases = interned_.emplace_back();
      for (const WorkPhase phase : {WorkPhase::forward, WorkPhase::recompute, WorkPhase::backward}) {
        for (const WorkOp& op : work.phase(phase)) {
          phases[static_cast<std::size_t>(phase)].push_back({builder_.cost(op.cost), builder_.label(op.label), &op});
        }
      }
    }
  }

  // ---- memory that never moves
  void add_always_live() {
    const std::vector<std::vector<MemoryAccountEntry>> account = account_memory(inputs_, costs_);
    for (const ReplicaResources& replica : pod_.replicas) {
      for (std::size_t ipu = 0; ipu < account.size(); ++ipu) {
        for (const MemoryAccountEntry& entry : account[ipu]) {
          const MemoryCategory category = builder_.memory_category(entry.category);
          if (entry.always_live) builder_.always_live(replica.sram[ipu], category, entry.bytes);
        }
        builder_.always_live(replica.streaming_memory[ipu], builder_.memory_category(k_optimizer_state),
                             streamed_state(parameters_[ipu], inputs_.settings, setup_));
      }
    }
  }

  // ---- pipeline cycles
  std::vector<ProgramBlock> pipeline_blocks() {
    const std::int64_t accumulation = setup_.gradient_accumulation_steps;
    const std::int64_t fill = pipeline_.training_stages() - 1;
    copy_segments();
    std::vector<ProgramBlock> blocks;
    for (std::int64_t cycle = 0; cycle < fill; ++cycle) add_cycle(fmt::format("fill {}", cycle), cycle, blocks);
    std::vector<ProgramBlock> full;
    add_cycle("full cycle", fill, full);
    for (const ProgramBlock& block : full) builder_.mark(k_full_cycle_mark, std::get<SegmentId>(block));
    blocks.emplace_back(Repeat{accumulation - fill, "full cycles", std::move(full)});
    for (std::int64_t cycle = accumulation; cycle < accumulation + fill; ++cycle) {
      add_cycle(fmt::format("drain {}", cycle - accumulation), cycle, blocks);
    }
    return blocks;
  }

  void add_cycle(const std::string& name, std::int64_t cycle, std::vector<ProgramBlock>& blocks) {
    SegmentBuilder segment = folded_segment(name + ": compute");
    for (const std::size_t replica : fold_.simulated) add_compute(segment, pod_.replicas[replica], cycle);
    blocks.emplace_back(builder_.add(std::move(segment)));
    for (const SegmentId copies : copies_) blocks.emplace_back(copies);
  }

  void add_compute(SegmentBuilder& segment, const ReplicaResources& replica, std::int64_t cycle) {
    for (int stage = 0; stage < pipeline_.training_stages(); ++stage) {
      if (Pipeline::active(stage, cycle, setup_.gradient_accumulation_steps)) add_stage(segment, replica, stage);
    }
  }

  void add_stage(SegmentBuilder& segment, const ReplicaResources& replica, int stage) {
    const int forward_stage = pipeline_.forward_of(stage);
    const ForwardStage& placed = pipeline_.forward()[static_cast<std::size_t>(forward_stage)];
    const auto position = static_cast<std::size_t>(placed.ipu);
    const Bytes stash = stash_of_stage(inputs_.graph, inputs_.settings, setup_, placed);
    if (stage == 0) {
      const OpId input = segment.transfer(replica.ipus[position], DeviceId::none(), replica.host_input,
                                          inputs_.graph.host_input, CostCategory::host_io, "host input");
      segment.chain(input);
    }
    OpId last;
    for (const StageStep& step : stage_steps(inputs_, stage)) last = add_step(segment, replica, position, step);
    const bool last_forward = forward_stage == pipeline_.forward_stages() - 1;
    if (last_forward) return;
    const Bytes change = stage < pipeline_.forward_stages() ? stash : Bytes(-stash.count());
    segment.memory_at_finish(last, replica.sram[position], stash_, change);
  }

  OpId add_step(SegmentBuilder& segment, const ReplicaResources& replica, std::size_t position, const StageStep& step) {
    const DeviceId device = replica.ipus[position];
    const MemoryId sram = replica.sram[position];
    const bool slow = slowdown_[device.index()] != 1.0;
    OpId last;
    bool first = true;
    for (const InternedOp& op : interned_[step.block][static_cast<std::size_t>(step.phase)]) {
      last = segment.local(device, slow ? builder_.cost(slowed(op.work->cost, device)) : op.cost, op.label);
      if (first && step.first_of_layer) {
        layer_activations_ = layer_total(step.block, position);
        segment.memory_at_start(last, sram, activations_, layer_activations_);
      }
      first = false;
      const Bytes temporary = op.work->temporary;
      if (temporary == Bytes()) continue;
      segment.memory_at_start(last, sram, temporaries_, temporary);
      segment.memory_at_finish(last, sram, temporaries_, Bytes(-temporary.count()));
    }
    if (step.last_of_layer) segment.memory_at_finish(last, sram, activations_, Bytes(-layer_activations_.count()));
    return last;
  }

  // Activations of all blocks of the block's layer on the same IPU.
  Bytes layer_total(std::size_t block, std::size_t position) const {
    const int layer = inputs_.graph.blocks[block].layer;
    if (layer < 0) return works_[block].activations;
    Bytes total;
    for (const ForwardStage& stage : pipeline_.forward()) {
      if (static_cast<std::size_t>(stage.ipu) != position) continue;
      for (const std::size_t other : stage.blocks) {
        if (inputs_.graph.blocks[other].layer == layer) total += works_[other].activations;
      }
    }
    return total;
  }

  void copy_segments() {
    if (pipeline_.forward_stages() == 1) return;
    for (const bool forward : {true, false}) {
      SegmentBuilder segment = folded_segment(forward ? "forward copies" : "backward copies");
      for (const std::size_t replica : fold_.simulated) add_copies(segment, pod_.replicas[replica], forward);
      copies_.push_back(builder_.add(std::move(segment)));
    }
  }

  void add_copies(SegmentBuilder& segment, const ReplicaResources& replica, bool forward) {
    const auto& stages = pipeline_.forward();
    for (std::size_t stage = 0; stage + 1 < stages.size(); ++stage) {
      DeviceId from = replica.ipus[static_cast<std::size_t>(stages[stage].ipu)];
      DeviceId to = replica.ipus[static_cast<std::size_t>(stages[stage + 1].ipu)];
      if (!forward) std::swap(from, to);
      const RouteId route = forward ? replica.forward_copies[stage] : replica.backward_copies[stage];
      segment.transfer(from, to, route, inputs_.graph.boundary, CostCategory::inter_device,
                       forward ? "activations" : "activation gradients");
    }
  }

  // ---- update
  void add_update(std::vector<ProgramBlock>& blocks) {
    const std::size_t begin = blocks.size();
    const std::int64_t steps = setup_.replication_factor - 1;
    const bool sharded = setup_.replicated_tensor_sharding;
    if (steps > 0)
      add_ring(sharded ? "gradient reduce-scatter" : "gradient all-reduce", sharded ? steps : 2 * steps, blocks);
    add_state_traffic("optimizer state load", blocks);
    blocks.emplace_back(optimizer_segment());
    add_state_traffic("optimizer state store", blocks);
    if (steps > 0 && sharded) add_ring("weight all-gather", steps, blocks);
    blocks.emplace_back(
        fixed_time("update turn-around", constants_.software.update_overhead, CostCategory::weight_update));
    for (std::size_t i = begin; i < blocks.size(); ++i) {
      if (const auto* segment = std::get_if<SegmentId>(&blocks[i])) builder_.mark(k_update_mark, *segment);
    }
  }

  // One ring step: every IPU sends a chunk of its gradients to the same position of the next replica; all positions
  // share the hop.
  void add_ring(const std::string& name, std::int64_t steps, std::vector<ProgramBlock>& blocks) {
    constexpr std::int64_t k_half = 2;
    const std::int64_t replicas = setup_.replication_factor;
    SegmentBuilder segment = builder_.segment(name + " step");
    for (std::size_t replica = 0; replica < pod_.replicas.size(); ++replica) {
      const ReplicaResources& own = pod_.replicas[replica];
      const ReplicaResources& next = pod_.replicas[(replica + 1) % pod_.replicas.size()];
      for (std::size_t position = 0; position < own.ipus.size(); ++position) {
        const std::int64_t chunk = (parameters_[position].elements + replicas - 1) / replicas;
        if (chunk == 0) continue;
        segment.transfer(own.ipus[position], next.ipus[position], pod_.ring_hops[replica], Bytes(k_half * chunk),
                         CostCategory::collective, name);
      }
    }
    blocks.emplace_back(Repeat{steps, name, {builder_.add(std::move(segment))}});
  }

  void add_state_traffic(const std::string& name, std::vector<ProgramBlock>& blocks) {
    SegmentBuilder segment = folded_segment(name);
    bool any = false;
    for (const std::size_t replica : fold_.simulated) {
      const ReplicaResources& own = pod_.replicas[replica];
      for (std::size_t position = 0; position < own.ipus.size(); ++position) {
        const Bytes state = streamed_state(parameters_[position], inputs_.settings, setup_);
        if (state == Bytes()) continue;
        segment.transfer(own.ipus[position], DeviceId::none(), own.streaming[position], state,
                         CostCategory::off_chip_memory, name);
        any = true;
      }
    }
    if (any) blocks.emplace_back(builder_.add(std::move(segment)));
  }

  SegmentId optimizer_segment() {
    SegmentBuilder segment = folded_segment("optimizer");
    for (const std::size_t replica : fold_.simulated) {
      const ReplicaResources& own = pod_.replicas[replica];
      for (std::size_t position = 0; position < own.ipus.size(); ++position) {
        const Duration time = optimizer_time(parameters_[position], inputs_.settings.optimizer, constants_);
        CostVector cost;
        cost[CostCategory::weight_update] = to_sim_time(time);
        segment.local(own.ipus[position], slowed(cost, own.ipus[position]), "optimizer");
      }
    }
    return builder_.add(std::move(segment));
  }

  SegmentId fixed_time(const std::string& name, Duration time, CostCategory category) {
    SegmentBuilder segment = folded_segment(name);
    CostVector cost;
    cost[category] = to_sim_time(time);
    for (const std::size_t replica : fold_.simulated) {
      for (const DeviceId device : pod_.replicas[replica].ipus) segment.local(device, cost, name);
    }
    return builder_.add(std::move(segment));
  }

  // ---- helpers
  SegmentBuilder folded_segment(const std::string& name) {
    SegmentBuilder segment = builder_.segment(name);
    if (fold_.folded) segment.fold(fold_id_);
    return segment;
  }

  CostVector slowed(const CostVector& cost, DeviceId device) const {
    const double factor = slowdown_[device.index()];
    if (factor == 1.0) return cost;
    CostVector slower;
    for (std::size_t i = 0; i < k_cost_categories; ++i) slower.part[i] = to_sim_time(cost.part[i].duration() * factor);
    return slower;
  }

  const TrainingSetup& setup_;
  const IpuConstants& constants_;
  const std::vector<double>& slowdown_;
  Pipeline pipeline_;
  MemoryInputs inputs_;
  const OperatorCostModel& costs_;
  Pod pod_;
  ReplicaFold fold_;
  std::vector<PlacedParameters> parameters_;
  std::vector<BlockWork> works_;
  std::vector<std::array<std::vector<InternedOp>, 3>> interned_;  // by block, then phase
  ProgramBuilder builder_;
  FoldId fold_id_;
  MemoryCategory stash_ = 0;
  MemoryCategory activations_ = 0;
  MemoryCategory temporaries_ = 0;
  Bytes layer_activations_;
  std::vector<SegmentId> copies_;
};

}  // namespace

Lowered lower_training(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options) {
  return TrainingLowering(plan, ipu_plan, options).lower();
}

}  // namespace podsim::ipu
