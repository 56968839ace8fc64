#include "models/rdu/step_time.hpp"

namespace podsim::rdu {

std::int64_t calls_per_step(const RduSetup& setup, RduPhase phase) {
  return phase >= RduPhase::gradient_norm ? 1 : setup.gradient_accumulation_steps;
}

SectionSums section_sums(const RduPlan& plan) {
  SectionSums sums;
  const Partition& partition = plan.compiled.partition;
  for (std::size_t i = 0; i < partition.sections.size(); ++i) {
    const auto times = static_cast<double>(calls_per_step(plan.setup, partition.sections[i].phase));
    sums.total += plan.compiled.times[i].total * times;
    sums.execute += plan.compiled.times[i].execute * times;
    sums.program_load += plan.rates.program_load * times;
    sums.argument_load += plan.rates.argument_load * times;
  }
  return sums;
}

Duration host_time(const RduPlan& plan) {
  const HostConstants& host = plan.constants.host;
  if (plan.setup.host == HostModel::production) return host.production_gap;
  Duration time = host.profiled_step;
  if (plan.setup.level == OptimizationLevel::o0) time += host.profiled_step_o0;
  const double billions = static_cast<double>(plan.parameter_count()) / 1e9;
  return time + section_sums(plan).total * (host.profiled_growth * billions);
}

Bytes reduced_gradients(const RduPlan& plan) {
  constexpr std::int64_t k_bf16 = 2;
  return Bytes(k_bf16) * plan.share_parameters();
}

}  // namespace podsim::rdu
