#include "models/rdu/lowering.hpp"

#include "models/rdu/section_lowering.hpp"

namespace podsim::rdu {
namespace {

class StepLowering : private SectionLowering {
 public:
  StepLowering(const RduPlan& plan, const WorkloadSettings& settings, const LowerOptions& options)
      : SectionLowering(plan, settings, options) {}

  Lowered lower() {
    std::vector<ProgramBlock> step;
    if (!setup_.training()) {
      add_sections(plan_.compiled, RduPhase::forward, RduPhase::forward, step);
      return finish(std::move(step));
    }
    std::vector<ProgramBlock> pass;
    add_sections(plan_.compiled, RduPhase::forward, RduPhase::backward, pass);
    step.emplace_back(Repeat{setup_.gradient_accumulation_steps, "forward and backward", std::move(pass)});
    add_reductions(step);
    add_sections(plan_.compiled, RduPhase::gradient_norm, RduPhase::optimizer, step);
    add_host(step);
    return finish(std::move(step));
  }

 private:
  void add_reductions(std::vector<ProgramBlock>& step) {
    const Bytes gradients = reduced_gradients(plan_);
    if (setup_.tensor_parallel == TensorParallel::batch && setup_.parts > 1) {
      add_part_reduction("gradient all-reduce within a replica", gradients, step);
    }
    if (setup_.replicas == 1 || !setup_.reduces_gradients) return;
    if (!setup_.reduce_on_rdu) {
      step.emplace_back(moved("gradients to the host", gradients, &PartResources::host_copy, CostCategory::host_io));
    }
    add_replica_reduction("gradient all-reduce", gradients, step);
    if (!setup_.reduce_on_rdu) {
      step.emplace_back(moved("gradients from the host", gradients, &PartResources::host_copy, CostCategory::host_io));
    }
  }

  void add_host(std::vector<ProgramBlock>& step) {
    const HostConstants& host = plan_.constants.host;
    if (setup_.host == HostModel::production) {
      step.emplace_back(fixed_time("host between steps", host.production_gap, CostCategory::host_io));
      return;
    }
    step.emplace_back(fixed_time("host of a profiled step", profiled_host_time(plan_), CostCategory::host_io));
    step.emplace_back(fixed_time("rest of a profiled step", host.profiled_rest, CostCategory::other));
  }
};

}  // namespace

Lowered lower_step(const RduPlan& plan, const WorkloadSettings& settings, const LowerOptions& options) {
  return StepLowering(plan, settings, options).lower();
}

Duration profiled_host_time(const RduPlan& plan) {
  const HostConstants& host = plan.constants.host;
  const DeviceTime device = device_time(plan.compiled.partition, plan.compiled.work, plan.rates);
  Duration time = host.profiled_step;
  if (plan.setup.level == OptimizationLevel::o0) time += host.profiled_step_o0;
  return time + device.total * (host.profiled_growth * static_cast<double>(plan.parameter_count()) / 1e9);
}

Bytes reduced_gradients(const RduPlan& plan) {
  constexpr std::int64_t k_bf16 = 2;
  return Bytes(k_bf16) * plan.share_parameters();
}

}  // namespace podsim::rdu
