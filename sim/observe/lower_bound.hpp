#pragma once
// The least time that a program can take: every op as if it were alone on its links. A simulated run is never shorter
// and, where no transfers meet on a link, exactly as long: an oracle for engines, and the measure of what a resource
// costs (the bound again, with that resource's work at zero).
//
//   segment = longest path over its edges;  local = its duration;
//   transfer = latency of the route + bytes / the least bandwidth on it, rounded to the picosecond

#include <cstdint>
#include <span>
#include <variant>
#include <vector>

#include "sim/hardware/platform.hpp"
#include "sim/program/program.hpp"
#include "sim/units/sim_time.hpp"

namespace podsim {

// What a transfer takes without any other on its links.
SimTime alone_on_route(const Platform& platform, const Route& route, Bytes bytes);

// A device (its locals) or a link (the bytes over it; latencies stay).
using Resource = std::variant<DeviceId, LinkId>;

class LowerBound {
 public:
  // Both must outlive it; the program must have passed `verify`.
  LowerBound(const Platform& platform, const Program& program);

  SimTime total() const { return total_; }
  // By segment, once; of every segment, whether the program runs it or not.
  SimTime segment(SegmentId id) const { return durations_[id.index()]; }
  // When op `op` starts and finishes in the longest-path schedule of its segment.
  std::vector<SimTime> starts(SegmentId id) const;

  // The bound if that resource's work took no time.
  SimTime without(Resource resource) const;
  // The bound if the ops of that label took no time on that resource.
  SimTime without(Resource resource, LabelId label) const;

 private:
  template <class Time>
  SimTime longest(const Segment& segment, const Time& time_of, std::vector<SimTime>& start) const;
  template <class Time>
  SimTime total_with(const Time& time_of) const;
  SimTime sum(std::span<const ProgramBlock> blocks, std::span<const SimTime> durations) const;
  SimTime alone(const Op& op) const;
  SimTime spared(const Op& op, Resource resource) const;

  const Platform& platform_;
  const Program& program_;
  std::vector<std::vector<std::uint32_t>> order_;  // by segment: its ops, predecessors first
  std::vector<SimTime> durations_;                 // by segment
  SimTime total_;
};

}  // namespace podsim
