#include "models/ipu/lowering/lowering.hpp"

#include <fmt/format.h>

#include "models/ipu/cost/loss_scaling_cost.hpp"
#include "models/ipu/cost/update_cost.hpp"
#include "models/ipu/lowering/collective.hpp"
#include "models/ipu/lowering/replica_lowering.hpp"

namespace podsim::ipu {
namespace {

class TrainingLowering : private ReplicaLowering {
 public:
  TrainingLowering(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options)
      : ReplicaLowering(plan, ipu_plan, options),
        reduction_(pod_, parameters_),
        counts_(setup_.auto_loss_scaling ? count_traffic(plan.graph, pipeline_) : std::vector<Bytes>()),
        steps_(prepared_.staged->steps) {}

  Lowered lower() {
    add_always_live();
    std::vector<ProgramBlock> update = pipeline_blocks();
    add_update(update);
    std::vector<ProgramBlock> blocks;
    blocks.emplace_back(Repeat{setup_.device_iterations, "updates", std::move(update)});
    blocks.emplace_back(fixed_time("host call", constants_.software.call_overhead, CostCategory::host_io));
    return finish(std::move(blocks));
  }

 private:
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
    if (merges()) begin_chains_of(cycle);
    for (const std::size_t replica : fold_.simulated) {
      const ReplicaResources& own = pod_.replicas[replica];
      if (active(0, cycle)) add_host_input(segment, own);
      if (merges()) {
        add_chains(segment, own);
      } else {
        for_active_steps(cycle,
                         [&](std::size_t position, const StageStep& step) { add_step(segment, own, position, step); });
      }
    }
    norms_.close(segment);
    blocks.emplace_back(builder_.add(std::move(segment)));
    for (const SegmentId copies : copies_) blocks.emplace_back(copies);
  }

  bool active(int stage, std::int64_t cycle) const {
    return Pipeline::active(stage, cycle, setup_.gradient_accumulation_steps);
  }

  template <class Action>
  void for_active_steps(std::int64_t cycle, const Action& action) {
    for (int stage = 0; stage < pipeline_.training_stages(); ++stage) {
      if (!active(stage, cycle)) continue;
      const auto forward_stage = static_cast<std::size_t>(pipeline_.forward_of(stage));
      const auto position = static_cast<std::size_t>(pipeline_.forward()[forward_stage].ipu);
      for (const StageStep& step : steps_[static_cast<std::size_t>(stage)]) action(position, step);
    }
  }

  void begin_chains_of(std::int64_t cycle) {
    working_.assign(static_cast<std::size_t>(setup_.ipus_per_replica), 0);
    for (int stage = 0; stage < pipeline_.training_stages(); ++stage) {
      if (!active(stage, cycle)) continue;
      const auto forward_stage = static_cast<std::size_t>(pipeline_.forward_of(stage));
      const auto position = static_cast<std::size_t>(pipeline_.forward()[forward_stage].ipu);
      working_[position] |= std::uint64_t{1} << stage;
    }
    begin_chains(working_);
  }

  // In front of the first stage, on the same IPU.
  void add_host_input(SegmentBuilder& segment, const ReplicaResources& replica) {
    const auto position = static_cast<std::size_t>(pipeline_.forward().front().ipu);
    const OpId input = segment.transfer(replica.ipus[position], DeviceId::none(), replica.host_input,
                                        inputs_.graph.host_input, CostCategory::host_io, "host input");
    // Images of the next micro-batch arrive while this one is worked on; token ids are waited for.
    if (!convolutional_) segment.chain(input);
    if (replica.host_process.valid()) {
      segment.transfer(replica.ipus[position], DeviceId::none(), replica.host_process, inputs_.graph.host_input,
                       CostCategory::host_io, "next samples on the host");
    }
  }

  void copy_segments() {
    if (pipeline_.forward_stages() == 1) return;
    for (const bool forward : {true, false}) {
      SegmentBuilder segment = folded_segment(forward ? "forward copies" : "backward copies");
      for (const std::size_t replica : fold_.simulated) {
        for (std::size_t stage = 0; stage + 1 < pipeline_.forward().size(); ++stage) {
          add_copy(segment, pod_.replicas[replica], stage, forward);
          if (setup_.auto_loss_scaling && !forward) add_counts(segment, pod_.replicas[replica], stage);
        }
      }
      copies_.push_back(builder_.add(std::move(segment)));
    }
  }

  // Of the histograms of automatic loss scaling.
  void add_counts(SegmentBuilder& segment, const ReplicaResources& replica, std::size_t stage) {
    if (counts_[stage] == Bytes()) return;
    const auto& stages = pipeline_.forward();
    segment.transfer(replica.ipus[static_cast<std::size_t>(stages[stage + 1].ipu)],
                     replica.ipus[static_cast<std::size_t>(stages[stage].ipu)], replica.backward_copies[stage],
                     counts_[stage], CostCategory::inter_device, "loss-scaling counts");
  }

  // ---- update
  void add_loss_scaling(std::vector<ProgramBlock>& blocks) {
    if (!setup_.auto_loss_scaling) return;
    ReplicaReduction(pod_, summed_counts(pipeline_), "loss-scaling counts")
        .add_before_optimizer(builder_, false, blocks);
    const auto& stages = pipeline_.forward();
    if (stages.size() == 1) return;
    SegmentBuilder segment = folded_segment("loss-scaling factor");
    for (const std::size_t index : fold_.simulated) {
      const ReplicaResources& replica = pod_.replicas[index];
      OpId last;
      for (std::size_t stage = 0; stage + 1 < stages.size(); ++stage) {
        const OpId hop = segment.transfer(replica.ipus[static_cast<std::size_t>(stages[stage].ipu)],
                                          replica.ipus[static_cast<std::size_t>(stages[stage + 1].ipu)],
                                          replica.forward_copies[stage], k_loss_scale_factor,
                                          CostCategory::inter_device, "loss-scaling factor");
        if (last.valid()) segment.depend(last, hop);
        last = hop;
      }
    }
    blocks.emplace_back(builder_.add(std::move(segment)));
  }

  void add_update(std::vector<ProgramBlock>& blocks) {
    const std::size_t begin = blocks.size();
    const bool sharded = setup_.replicated_tensor_sharding;
    reduction_.add_before_optimizer(builder_, sharded, blocks);
    add_loss_scaling(blocks);
    add_state_traffic("optimizer state load", blocks);
    blocks.emplace_back(optimizer_segment());
    add_state_traffic("optimizer state store", blocks);
    reduction_.add_after_optimizer(builder_, sharded, blocks);
    blocks.emplace_back(
        fixed_time("update turn-around", constants_.software.update_overhead, CostCategory::weight_update));
    for (std::size_t i = begin; i < blocks.size(); ++i) {
      if (const auto* segment = std::get_if<SegmentId>(&blocks[i])) builder_.mark(k_update_mark, *segment);
    }
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

  ReplicaReduction reduction_;
  std::vector<Bytes> counts_;                         // by boundary between stages
  const std::vector<std::vector<StageStep>>& steps_;  // by training stage
  std::vector<SegmentId> copies_;
  std::vector<std::uint64_t> working_;  // by position: a bit for each stage that works in the cycle under way
};

}  // namespace

Lowered lower_training(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options) {
  return TrainingLowering(plan, ipu_plan, options).lower();
}

}  // namespace podsim::ipu
