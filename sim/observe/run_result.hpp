#pragma once
// What one simulated run measured; a value.

#include <cstdint>
#include <vector>

#include "sim/core/ids.hpp"
#include "sim/program/program.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/sim_time.hpp"

namespace podsim {

struct DeviceUse {
  CostVector breakdown;  // sums to the run's total
  SimTime busy;          // time in ops of its own: the breakdown without waiting
};

struct LinkUse {
  Bytes bytes;   // carried over the whole run
  SimTime busy;  // time with at least one flow on it
};

struct MemoryUse {
  Bytes always_live;
  Bytes peak;
  SimTime peak_time;                      // of the first peak
  std::vector<Bytes> categories_at_peak;  // by memory category
};

struct RunResult {
  SimTime total;
  std::int64_t events = 0;  // ops an engine executed
  std::int64_t segments_executed = 0;
  bool folded = false;             // some segment ran for several replicas at once
  bool repeats = false;            // some segment ran once for several iterations
  std::vector<DeviceUse> devices;  // by device id, folded ones included
  std::vector<LinkUse> links;
  std::vector<MemoryUse> memories;
  std::vector<SimTime> segment_duration;  // by segment id; zero when it did not run
};

// Of a block with all its iterations.
SimTime block_duration(const ProgramBlock& block, const RunResult& result);

}  // namespace podsim
