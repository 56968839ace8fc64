#include "models/ipu/lowering/lowering_inference.hpp"

#include <fmt/format.h>

#include "models/ipu/lowering/replica_lowering.hpp"

namespace podsim::ipu {
namespace {

class InferenceLowering : private ReplicaLowering {
 public:
  InferenceLowering(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options)
      : ReplicaLowering(plan, ipu_plan, options) {}

  Lowered lower() {
    add_always_live();
    const InferenceSetup& inference = setup_.inference;
    std::vector<ProgramBlock> call = inference.sharded ? sharded_blocks() : pipelined_blocks();
    if (!every_iteration()) call.emplace_back(results("returned results"));
    call.emplace_back(fixed_time("host call", constants_.system.links.host_latency, CostCategory::host_io));
    if (inference.output_tokens == 0) return finish(std::move(call));
    std::vector<ProgramBlock> request;
    request.emplace_back(Repeat{inference.output_tokens, "tokens", std::move(call)});
    return finish(std::move(request));
  }

 private:
  int stages() const { return pipeline_.forward_stages(); }
  bool every_iteration() const { return setup_.inference.output == OutputMode::all; }

  // ---- one IPU at a time
  std::vector<ProgramBlock> sharded_blocks() {
    std::vector<ProgramBlock> iteration;
    iteration.emplace_back(host_input());
    for (int stage = 0; stage < stages(); ++stage) {
      SegmentBuilder segment = folded_segment(fmt::format("stage {}", stage));
      for (const std::size_t replica : fold_.simulated) add_stage(segment, pod_.replicas[replica], stage);
      iteration.emplace_back(builder_.add(std::move(segment)));
      if (stage + 1 < stages()) iteration.emplace_back(copies(stage, stage + 1));
    }
    if (every_iteration()) iteration.emplace_back(results("results"));
    mark(iteration);
    std::vector<ProgramBlock> blocks;
    blocks.emplace_back(Repeat{setup_.device_iterations, "device iterations", std::move(iteration)});
    return blocks;
  }

  SegmentId host_input() {
    SegmentBuilder segment = folded_segment("host input");
    for (const std::size_t replica : fold_.simulated) add_host_input(segment, pod_.replicas[replica]);
    return builder_.add(std::move(segment));
  }

  // ---- all stages at once
  std::vector<ProgramBlock> pipelined_blocks() {
    const std::int64_t fill = stages() - 1;
    const std::int64_t iterations = setup_.device_iterations;
    results_ = every_iteration() ? results("results") : SegmentId::none();
    copies_ = copies(0, stages() - 1);
    std::vector<ProgramBlock> blocks;
    for (std::int64_t cycle = 0; cycle < fill; ++cycle) add_cycle(fmt::format("fill {}", cycle), cycle, blocks);
    std::vector<ProgramBlock> full;
    add_cycle("full cycle", fill, full);
    mark(full);
    blocks.emplace_back(Repeat{iterations - fill, "full cycles", std::move(full)});
    for (std::int64_t cycle = iterations; cycle < iterations + fill; ++cycle) {
      add_cycle(fmt::format("drain {}", cycle - iterations), cycle, blocks);
    }
    return blocks;
  }

  void add_cycle(const std::string& name, std::int64_t cycle, std::vector<ProgramBlock>& blocks) {
    const auto active = [&](int stage) { return Pipeline::active(stage, cycle, setup_.device_iterations); };
    SegmentBuilder segment = folded_segment(name + ": compute");
    for (const std::size_t replica : fold_.simulated) {
      if (active(0)) add_host_input(segment, pod_.replicas[replica]);
      for (int stage = 0; stage < stages(); ++stage) {
        if (active(stage)) add_stage(segment, pod_.replicas[replica], stage);
      }
    }
    blocks.emplace_back(builder_.add(std::move(segment)));
    if (results_.valid() && active(stages() - 1)) blocks.emplace_back(results_);
    blocks.emplace_back(copies_);
  }

  // ---- parts of both
  // The first stage stands behind it on the same IPU.
  void add_host_input(SegmentBuilder& segment, const ReplicaResources& replica) {
    const auto position = static_cast<std::size_t>(pipeline_.forward().front().ipu);
    segment.chain(segment.transfer(replica.ipus[position], DeviceId::none(), replica.host_input,
                                   inputs_.graph.host_input, CostCategory::host_io, "host input"));
  }

  void add_stage(SegmentBuilder& segment, const ReplicaResources& replica, int stage) {
    const auto position = static_cast<std::size_t>(pipeline_.forward()[static_cast<std::size_t>(stage)].ipu);
    for (const StageStep& step : prepared_.staged->steps[static_cast<std::size_t>(stage)]) {
      add_step(segment, replica, position, step);
    }
  }

  SegmentId copies(int begin, int end) {
    SegmentBuilder segment = folded_segment("copies");
    for (const std::size_t replica : fold_.simulated) {
      for (int stage = begin; stage < end; ++stage) {
        add_copy(segment, pod_.replicas[replica], static_cast<std::size_t>(stage), true);
      }
    }
    return builder_.add(std::move(segment));
  }

  SegmentId results(const std::string& name) {
    SegmentBuilder segment = folded_segment(name);
    const auto position = static_cast<std::size_t>(pipeline_.forward().back().ipu);
    for (const std::size_t replica : fold_.simulated) {
      const ReplicaResources& own = pod_.replicas[replica];
      segment.transfer(own.ipus[position], DeviceId::none(), own.host_output, setup_.inference.results,
                       CostCategory::host_io, "results");
    }
    return builder_.add(std::move(segment));
  }

  void mark(const std::vector<ProgramBlock>& blocks) {
    for (const ProgramBlock& block : blocks) builder_.mark(k_iteration_mark, std::get<SegmentId>(block));
  }

  SegmentId copies_ = SegmentId::none();
  SegmentId results_ = SegmentId::none();
};

}  // namespace

Lowered lower_inference(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options) {
  return InferenceLowering(plan, ipu_plan, options).lower();
}

}  // namespace podsim::ipu
