#pragma once
// The engine narrates, observers count: one call per executed segment, with the times of its ops and the weight of the
// call (a segment inside repeats is executed once and told once, with the number of iterations it stands for).

#include <cstdint>
#include <span>

#include "sim/hardware/platform.hpp"
#include "sim/program/program.hpp"
#include "sim/units/sim_time.hpp"

namespace podsim {

struct SegmentRun {
  const Platform& platform;
  const Program& program;
  const Segment& segment;
  SegmentId id;
  SimTime begin;                   // of the first iteration, from the start of the run
  SimTime duration;                // of one iteration
  std::int64_t iterations = 1;     // how often it ran in the whole run up to the next call for it
  std::span<const SimTime> start;  // per op, from `begin`
  std::span<const SimTime> finish;
};

class Observer {
 public:
  virtual ~Observer() = default;
  virtual void begin(const Platform& platform, const Program& program);
  virtual void segment(const SegmentRun& run) = 0;
  virtual void end(SimTime total);
};

}  // namespace podsim
