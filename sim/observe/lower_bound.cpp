#include "sim/observe/lower_bound.hpp"

#include <algorithm>
#include <limits>

namespace podsim {
namespace {

// Ids whose edges all go forward are an order already.
std::vector<std::uint32_t> predecessors_first(const Segment& segment) {
  std::vector<std::uint32_t> pending = segment.predecessor_count;
  std::vector<std::uint32_t> order;
  for (std::uint32_t i = 0; i < pending.size(); ++i) {
    if (pending[i] == 0) order.push_back(i);
  }
  for (std::size_t k = 0; k < order.size(); ++k) {
    for (std::uint32_t s = segment.successor_begin[order[k]]; s < segment.successor_begin[order[k] + 1]; ++s) {
      if (--pending[segment.successors[s].index()] == 0) order.push_back(segment.successors[s].value());
    }
  }
  return order;
}

// With `spared` valid, as if that link carried any bytes at once.
SimTime route_time(const Platform& platform, const Route& route, Bytes bytes, LinkId spared) {
  double rate = std::numeric_limits<double>::infinity();
  for (const LinkId link : route.links) {
    if (link != spared) rate = std::min(rate, platform[link].bandwidth.in_base());
  }
  return route.latency + to_sim_time(seconds(static_cast<double>(bytes.count()) / rate));
}

}  // namespace

SimTime alone_on_route(const Platform& platform, const Route& route, Bytes bytes) {
  return route_time(platform, route, bytes, LinkId::none());
}

LowerBound::LowerBound(const Platform& platform, const Program& program) : platform_(platform), program_(program) {
  for (const Segment& segment : program.segments) order_.push_back(predecessors_first(segment));
  const auto time_of = [this](const Op& op) { return alone(op); };
  std::vector<SimTime> start;
  for (const Segment& segment : program.segments) durations_.push_back(longest(segment, time_of, start));
  total_ = sum(program.blocks, durations_);
}

SimTime LowerBound::alone(const Op& op) const {
  if (op.kind == OpKind::local) return op.duration;
  if (op.kind == OpKind::join) return SimTime();
  return alone_on_route(platform_, platform_[op.route], op.bytes);
}

SimTime LowerBound::spared(const Op& op, Resource resource) const {
  if (const DeviceId* device = std::get_if<DeviceId>(&resource)) {
    return op.kind == OpKind::local && op.device == *device ? SimTime() : alone(op);
  }
  if (op.kind != OpKind::transfer) return alone(op);
  return route_time(platform_, platform_[op.route], op.bytes, std::get<LinkId>(resource));
}

template <class Time>
SimTime LowerBound::longest(const Segment& segment, const Time& time_of, std::vector<SimTime>& start) const {
  const auto place = static_cast<std::size_t>(&segment - program_.segments.data());
  start.assign(segment.ops.size(), SimTime());
  SimTime last;
  for (const std::uint32_t op : order_[place]) {
    const SimTime end = start[op] + time_of(segment.ops[op]);
    last = std::max(last, end);
    for (std::uint32_t s = segment.successor_begin[op]; s < segment.successor_begin[op + 1]; ++s) {
      SimTime& next = start[segment.successors[s].index()];
      next = std::max(next, end);
    }
  }
  return last;
}

template <class Time>
SimTime LowerBound::total_with(const Time& time_of) const {
  std::vector<SimTime> durations;
  std::vector<SimTime> start;
  for (const Segment& segment : program_.segments) durations.push_back(longest(segment, time_of, start));
  return sum(program_.blocks, durations);
}

SimTime LowerBound::sum(std::span<const ProgramBlock> blocks, std::span<const SimTime> durations) const {
  SimTime total;
  for (const ProgramBlock& block : blocks) {
    if (const auto* segment = std::get_if<SegmentId>(&block)) {
      total += durations[segment->index()];
    } else {
      const Repeat& repeat = std::get<Repeat>(block);
      total += repeat.count * sum(repeat.blocks, durations);
    }
  }
  return total;
}

std::vector<SimTime> LowerBound::starts(SegmentId id) const {
  std::vector<SimTime> start;
  longest(
      program_[id], [this](const Op& op) { return alone(op); }, start);
  return start;
}

SimTime LowerBound::without(Resource resource) const {
  return total_with([&](const Op& op) { return spared(op, resource); });
}

SimTime LowerBound::without(Resource resource, LabelId label) const {
  return total_with([&](const Op& op) { return op.label == label ? spared(op, resource) : alone(op); });
}

}  // namespace podsim
