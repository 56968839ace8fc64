#include "models/rdu/step_cost.hpp"

#include "sim/core/check.hpp"

namespace podsim::rdu {

namespace {

StepTime summed(StepTime step) {
  step.total = step.device + step.host + step.rest + step.exchange;
  return step;
}

// What each of `count` members of a ring sends for one reduction of `bytes`.
DataSize ring_traffic(Bytes bytes, std::int64_t count) {
  const double members = static_cast<double>(count);
  return bytes.size() * (2 * (members - 1) / members);
}

}  // namespace

SectionCapacity section_capacity(const SectionConstants& section, const Allotment& tiles) {
  SectionCapacity capacity;
  capacity.sram = tiles.sram;
  capacity.operators = section.operators;
  capacity.resident_forward = section.resident_forward;
  capacity.resident_backward = section.resident_backward;
  capacity.resident_update = section.resident_update;
  capacity.tiles_per_call = section.tiles_per_call;
  capacity.retry_factor = section.retry_factor;
  return capacity;
}

SectionRates section_rates(const SectionConstants& section, const Allotment& tiles, bool tuned) {
  SectionRates rates;
  rates.peak = tiles.peak;
  rates.efficiency = tuned ? section.tuned_efficiency : section.efficiency;
  rates.memory = tiles.ddr;
  rates.issue_interval = section.issue_interval;
  rates.program_load = section.program_load;
  rates.argument_load = section.argument_load;
  return rates;
}

DeviceTime tuned_device_time(FlopCount flop, std::int64_t sections, const SectionRates& rates) {
  const double count = static_cast<double>(sections);
  DeviceTime time;
  time.execute = flop / (rates.peak * rates.efficiency);
  time.program_load = rates.program_load * count;
  time.argument_load = rates.argument_load * count;
  time.total = time.execute + time.program_load + time.argument_load;
  time.flop = flop;
  time.sections = sections;
  time.compute_bound = sections;
  return time;
}

Duration gradient_exchange(Bytes gradients, const ReplicaSettings& replicas, const SystemConstants& system) {
  PODSIM_CHECK(replicas.ranks >= 1 && replicas.accumulation >= 1, "no ranks or no steps");
  if (replicas.ranks == 1) return seconds(0);
  Duration exchange = ring_traffic(gradients, replicas.ranks) / system.network;
  if (!replicas.reduce_on_rdu) exchange += gradients.size() * 2.0 / system.host_copy;
  return exchange / static_cast<double>(replicas.accumulation);
}

Duration tensor_parallel_reductions(Bytes bytes, std::int64_t reductions, std::int64_t chips,
                                    const RduConstants& constants) {
  PODSIM_CHECK(chips >= 1 && reductions >= 0, "no chips");
  const Duration one = ring_traffic(bytes, chips) / constants.chip.peer_link;
  return one * (constants.system.exposed_reduction * static_cast<double>(reductions));
}

StepTime profiled_step(const DeviceTime& device, std::int64_t parameters, OptimizationLevel level, Duration exchange,
                       const HostConstants& host) {
  StepTime step;
  step.device = device.total;
  step.host = host.profiled_step + device.total * (host.profiled_growth * static_cast<double>(parameters) / 1e9);
  if (level == OptimizationLevel::o0) step.host += host.profiled_step_o0;
  step.rest = host.profiled_rest;
  step.exchange = exchange;
  return summed(step);
}

StepTime production_step(const DeviceTime& device, Duration exchange, const HostConstants& host) {
  StepTime step;
  step.device = device.execute + device.program_load + device.argument_load;
  step.host = host.production_gap;
  step.exchange = exchange;
  return summed(step);
}

}  // namespace podsim::rdu
