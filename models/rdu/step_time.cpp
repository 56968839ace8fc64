#include "models/rdu/step_time.hpp"

#include <algorithm>

namespace podsim::rdu {

std::int64_t calls_per_step(const RduSetup& setup, RduPhase phase) {
  return phase >= RduPhase::gradient_norm ? 1 : setup.gradient_accumulation_steps;
}

SectionSums section_sums(const RduPlan& plan, double slowdown) {
  SectionSums sums;
  const SectionRates& rates = plan.rates;
  const Partition& partition = plan.compiled.partition;
  for (std::size_t i = 0; i < partition.sections.size(); ++i) {
    const auto times = static_cast<double>(calls_per_step(plan.setup, partition.sections[i].phase));
    const SectionTime& section = plan.compiled.times[i];
    const Duration loads = (rates.program_load + rates.argument_load) * slowdown;
    const Duration execute = std::max(section.compute * slowdown, section.memory);
    sums.total += std::max(rates.issue_interval, loads + execute) * times;
    sums.execute += execute * times;
    sums.program_load += rates.program_load * (slowdown * times);
    sums.argument_load += rates.argument_load * (slowdown * times);
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
