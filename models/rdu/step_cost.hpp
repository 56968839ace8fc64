#pragma once
// A training step around the sections: host software, gradient exchange between copies of the model, and the rate that
// a hand-tuned mapping reaches.

#include <cstdint>

#include "models/rdu/constants.hpp"
#include "models/rdu/partition.hpp"
#include "models/rdu/section_cost.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"

namespace podsim::rdu {

SectionCapacity section_capacity(const SectionConstants& section, const Allotment& tiles);
// `tuned`: with a human-decision file for the model.
SectionRates section_rates(const SectionConstants& section, const Allotment& tiles, bool tuned);

// With a human-decision file: products at the tuned rate hide the traffic of recomputed activations, so that only
// `flop` and the launches of `sections` count. Sections are those of the o3 packing without recompute.
DeviceTime tuned_device_time(FlopCount flop, std::int64_t sections, const SectionRates& rates);

struct ReplicaSettings {
  std::int64_t ranks = 1;         // copies of the model
  std::int64_t accumulation = 1;  // steps per gradient exchange
  bool reduce_on_rdu = true;      // false: gradients go through the hosts
};

// The exposed part of a gradient exchange, per step: a ring over the ranks, and copies to and from the host.
Duration gradient_exchange(Bytes gradients, const ReplicaSettings& replicas, const SystemConstants& system);

// Exposed part of `reductions` all-reduces of `bytes` over the chips that share a model's weights.
Duration tensor_parallel_reductions(Bytes bytes, std::int64_t reductions, std::int64_t chips,
                                    const RduConstants& constants);

struct StepTime {
  Duration device;    // sections, or their loads and execution in a production loop
  Duration host;      // software around them
  Duration rest;      // neither; profiled runs only
  Duration exchange;  // gradients
  Duration total;
};

// A run under the profiler or of a tutorial: the host works after the device.
StepTime profiled_step(const DeviceTime& device, std::int64_t parameters, OptimizationLevel level, Duration exchange,
                       const HostConstants& host);
// A training loop that keeps the device busy: launches are prepared ahead, a gap stays between steps.
StepTime production_step(const DeviceTime& device, Duration exchange, const HostConstants& host);

}  // namespace podsim::rdu
