#pragma once
// The seam between the common walk and an engine: one segment in, the start and finish of each op out. Header only, and
// free of any type that needs linking, since one implementation lives in a module opened at run time.

#include <cstdint>
#include <span>

#include "sim/hardware/platform.hpp"
#include "sim/program/program.hpp"
#include "sim/units/sim_time.hpp"

namespace podsim {

// The finish of an op that never finished.
inline constexpr SimTime k_never = SimTime(INT64_MAX);

class SegmentSimulator {
 public:
  virtual ~SegmentSimulator() = default;
  // Called once per run before its segments; the platform outlives the run.
  virtual void prepare(const Platform& platform, const Program& program) = 0;
  // Simulates one segment from instant 0. An op starts when its last predecessor has finished; locals take their
  // duration, transfers their route's latency and then a max-min share of its links, joins no time. `start` and
  // `finish` have one place per op and arrive filled with k_never. Returns the number of ops finished.
  virtual std::int64_t simulate(const Segment& segment, std::span<SimTime> start, std::span<SimTime> finish) = 0;
};

// What a module exports under the name k_segment_simulator_symbol.
using MakeSegmentSimulator = SegmentSimulator* (*)();
inline constexpr const char* k_segment_simulator_symbol = "podsim_make_segment_simulator";

}  // namespace podsim
