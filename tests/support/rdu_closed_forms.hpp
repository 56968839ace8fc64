#pragma once
// Times of sections and steps as formulas, independent of events: what simulated steps are compared with.

#include <cstdint>
#include <vector>

#include "models/rdu/constants.hpp"
#include "models/rdu/section_cost.hpp"

namespace podsim::test {

// One pass over the sections of a graph: sum of max(issue interval, loads + max(products, bytes)).
struct DeviceTime {
  Duration total;
  Duration execute;
  Duration program_load;
  Duration argument_load;
  Duration issue_wait;  // what the issue interval adds
  FlopCount flop;
  Bytes bytes;
  std::int64_t sections = 0;
  std::int64_t issue_bound = 0;  // sections by what decides them
  std::int64_t compute_bound = 0;
  std::int64_t memory_bound = 0;
};

inline DeviceTime device_time(const rdu::Partition& partition, const std::vector<rdu::SectionWork>& work,
                              const rdu::SectionRates& rates) {
  DeviceTime sum;
  const std::vector<rdu::SectionTime> times = rdu::section_times(partition, work, rates);
  for (std::size_t i = 0; i < times.size(); ++i) {
    const rdu::SectionTime& time = times[i];
    sum.total += time.total;
    sum.execute += time.execute;
    sum.program_load += rates.program_load;
    sum.argument_load += rates.argument_load;
    sum.issue_wait += time.total - time.loads - time.execute;
    sum.flop += work[i].flop;
    sum.bytes += work[i].bytes();
    sum.issue_bound += time.bound == rdu::SectionBound::issue ? 1 : 0;
    sum.compute_bound += time.bound == rdu::SectionBound::compute ? 1 : 0;
    sum.memory_bound += time.bound == rdu::SectionBound::memory ? 1 : 0;
  }
  sum.sections = static_cast<std::int64_t>(times.size());
  return sum;
}

// With a human-decision file: products at the tuned rate and launches, without the bytes.
inline DeviceTime tuned_device_time(FlopCount flop, std::int64_t sections, const rdu::SectionRates& rates) {
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

// What each of `count` members of a ring sends for one reduction of `bytes`.
inline DataSize ring_traffic(Bytes bytes, std::int64_t count) {
  const double members = static_cast<double>(count);
  return bytes.size() * (2 * (members - 1) / members);
}

// The exposed part of a gradient exchange over `ranks` copies; through the hosts two copies more.
inline Duration gradient_exchange(Bytes gradients, std::int64_t ranks, bool reduce_on_rdu,
                                  const rdu::RduConstants& constants) {
  if (ranks == 1) return seconds(0);
  Duration exchange = ring_traffic(gradients, ranks) / constants.system.network;
  if (!reduce_on_rdu) exchange += gradients.size() * 2.0 / constants.chip.host_link;
  return exchange;
}

// Exposed part of `reductions` all-reduces of `bytes` over the chips that share a model's weights.
inline Duration tensor_parallel_reductions(Bytes bytes, std::int64_t reductions, std::int64_t chips,
                                           const rdu::RduConstants& constants) {
  const Duration one = ring_traffic(bytes, chips) / constants.chip.peer_link;
  return one * (constants.system.exposed_reduction * static_cast<double>(reductions));
}

struct StepTime {
  Duration host;   // software around the sections
  Duration total;  // sections, host, gradient exchange and what is neither
};

// Under the profiler the host works after the device.
inline StepTime profiled_step(Duration device, std::int64_t parameters, rdu::OptimizationLevel level, Duration exchange,
                              const rdu::HostConstants& host) {
  StepTime step;
  step.host = host.profiled_step + device * (host.profiled_growth * static_cast<double>(parameters) / 1e9);
  if (level == rdu::OptimizationLevel::o0) step.host += host.profiled_step_o0;
  step.total = device + step.host + host.profiled_rest + exchange;
  return step;
}

// A training loop prepares launches ahead: no waits, a gap between steps.
inline StepTime production_step(const DeviceTime& device, Duration exchange, const rdu::HostConstants& host) {
  const Duration work = device.execute + device.program_load + device.argument_load;
  return {host.production_gap, work + host.production_gap + exchange};
}

}  // namespace podsim::test
