#include "sim/engine/native_simulator.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <stdexcept>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

// Channels whose shares differ by less than this fill up together: rounding alone tells them apart.
constexpr double k_same_share = 1 + 1e-13;

// The nearest whole number of picoseconds.
std::int64_t in_picoseconds(double time) {
  if (!(time < 9.2e18)) throw std::range_error("a transfer takes longer than simulated time lasts");
  return std::llround(time);
}

std::int64_t later(std::int64_t time, std::int64_t by) {
  return (SimTime(time) + SimTime(by)).picoseconds();
}

}  // namespace

void NativeSimulator::prepare(const Platform& platform, const Program&) {
  platform_ = &platform;
  channels_.resize(platform.links().size());
  for (std::size_t i = 0; i < channels_.size(); ++i) {
    Channel& channel = channels_[i];
    channel.bandwidth = platform.links()[i].bandwidth.in_base() * 1e-12;
    channel.users = 0;
    channel.flows.clear();
  }
}

std::int64_t NativeSimulator::simulate(const Segment& segment, std::span<SimTime> start, std::span<SimTime> finish) {
  segment_ = &segment;
  start_ = start;
  finish_ = finish;
  if (classify(segment)) {
    find_ready();
    return run_events();
  }
  if (propagate_forward()) return static_cast<std::int64_t>(segment.ops.size());
  find_ready();
  return propagate();
}

void NativeSimulator::find_ready() {
  pending_ = segment_->predecessor_count;
  ready_.clear();
  for (std::uint32_t i = 0; i < pending_.size(); ++i) {
    if (pending_[i] == 0) ready_.push_back(i);
  }
}

// Whether transfers of the segment may meet on a link; marks them.
bool NativeSimulator::classify(const Segment& segment) {
  shared_.assign(segment.ops.size(), 0);
  const auto for_links = [&](auto&& action) {
    for (std::size_t i = 0; i < segment.ops.size(); ++i) {
      const Op& op = segment.ops[i];
      if (op.kind != OpKind::transfer || op.bytes == Bytes(0)) continue;
      for (const LinkId link : (*platform_)[op.route].links) action(i, channels_[link.index()]);
    }
  };
  bool meet = false;
  for_links([&](std::size_t, Channel& channel) { meet |= ++channel.users > 1; });
  if (meet) {
    for_links([&](std::size_t op, const Channel& channel) { shared_[op] |= channel.users > 1 ? 1 : 0; });
  }
  for_links([](std::size_t, Channel& channel) { channel.users = 0; });
  return meet;
}

std::int64_t NativeSimulator::alone_duration(const Op& op) const {
  if (op.kind == OpKind::local) return op.duration.picoseconds();
  if (op.kind == OpKind::join) return 0;
  const Route& route = (*platform_)[op.route];
  if (op.bytes == Bytes(0)) return route.latency.picoseconds();
  double rate = std::numeric_limits<double>::infinity();
  for (const LinkId link : route.links) rate = std::min(rate, (*platform_)[link].bandwidth.in_base());
  return later(route.latency.picoseconds(), in_picoseconds(static_cast<double>(op.bytes.count()) / rate * 1e12));
}

// Nothing is shared: every op takes its own time, and any order of the graph gives the same. Most segments are built
// with every edge to a later op; then ids are such an order. Whether this one is.
bool NativeSimulator::propagate_forward() {
  const Segment& segment = *segment_;
  const auto ops = static_cast<std::uint32_t>(segment.ops.size());
  ready_time_.assign(ops, 0);
  for (std::uint32_t op = 0; op < ops; ++op) {
    const std::int64_t begin = ready_time_[op];
    const std::int64_t end = later(begin, alone_duration(segment.ops[op]));
    start_[op] = SimTime(begin);
    finish_[op] = SimTime(end);
    for (std::uint32_t s = segment.successor_begin[op]; s < segment.successor_begin[op + 1]; ++s) {
      const std::uint32_t next = segment.successors[s].value();
      if (next <= op) return false;
      ready_time_[next] = std::max(ready_time_[next], end);
    }
  }
  return true;
}

std::int64_t NativeSimulator::propagate() {
  std::int64_t finished = 0;
  ready_time_.assign(segment_->ops.size(), 0);
  std::fill(start_.begin(), start_.end(), k_never);
  std::fill(finish_.begin(), finish_.end(), k_never);
  while (!ready_.empty()) {
    const std::uint32_t op = ready_.back();
    ready_.pop_back();
    const std::int64_t end = later(ready_time_[op], alone_duration(segment_->ops[op]));
    start_[op] = SimTime(ready_time_[op]);
    finish_[op] = SimTime(end);
    ++finished;
    for (std::uint32_t s = segment_->successor_begin[op]; s < segment_->successor_begin[op + 1]; ++s) {
      const std::uint32_t next = segment_->successors[s].value();
      ready_time_[next] = std::max(ready_time_[next], end);
      if (--pending_[next] == 0) ready_.push_back(next);
    }
  }
  return finished;
}

void NativeSimulator::push(Event event) {
  heap_.push_back(event);
  std::push_heap(heap_.begin(), heap_.end(), std::greater<>());
}

std::int64_t NativeSimulator::run_events() {
  flows_.assign(segment_->ops.size(), Flow{});
  heap_.clear();
  now_ = 0;
  finished_ = 0;
  while (true) {
    // Ops without duration finish at once and make others ready at the same instant.
    while (!ready_.empty()) {
      starting_ = ready_;  // a swap would let the two grow in turns
      ready_.clear();
      std::sort(starting_.begin(), starting_.end());
      for (const std::uint32_t op : starting_) begin(op);
    }
    share_links();
    if (heap_.empty()) return finished_;
    now_ = heap_.front().time;
    take_events();
  }
}

void NativeSimulator::begin(std::uint32_t op) {
  start_[op] = SimTime(now_);
  if (!shared_[op]) {
    const std::int64_t duration = alone_duration(segment_->ops[op]);
    if (duration == 0) {
      complete(op);
    } else {
      push({later(now_, duration), op, 0});
    }
    return;
  }
  const std::int64_t latency = (*platform_)[segment_->ops[op].route].latency.picoseconds();
  if (latency == 0) {
    start_flow(op);
  } else {
    push({later(now_, latency), op, 0});
  }
}

// Handles every event of this instant.
void NativeSimulator::take_events() {
  while (!heap_.empty() && heap_.front().time == now_) {
    const Event event = heap_.front();
    std::pop_heap(heap_.begin(), heap_.end(), std::greater<>());
    heap_.pop_back();
    if (!shared_[event.op]) {
      complete(event.op);
    } else if (event.version == 0) {
      start_flow(event.op);
    } else if (event.version == flows_[event.op].version) {
      leave_links(event.op);
      complete(event.op);
    }
  }
}

void NativeSimulator::start_flow(std::uint32_t op) {
  Flow& flow = flows_[op];
  flow.remaining = static_cast<double>(segment_->ops[op].bytes.count());
  flow.updated = now_;
  flow.links = (*platform_)[segment_->ops[op].route].links;
  for (const LinkId link : flow.links) {
    channels_[link.index()].flows.push_back(op);
    dirty_.push_back(link.value());
  }
}

void NativeSimulator::leave_links(std::uint32_t op) {
  ++flows_[op].version;
  for (const LinkId link : flows_[op].links) {
    auto& flows = channels_[link.index()].flows;
    *std::find(flows.begin(), flows.end(), op) = flows.back();
    flows.pop_back();
    dirty_.push_back(link.value());
  }
}

void NativeSimulator::complete(std::uint32_t op) {
  finish_[op] = SimTime(now_);
  ++finished_;
  for (std::uint32_t s = segment_->successor_begin[op]; s < segment_->successor_begin[op + 1]; ++s) {
    const std::uint32_t next = segment_->successors[s].value();
    if (--pending_[next] == 0) ready_.push_back(next);
  }
}

void NativeSimulator::share_links() {
  if (dirty_.empty()) return;
  ++search_;
  for (const std::uint32_t channel : dirty_) {
    if (channels_[channel].visited == search_ || channels_[channel].flows.empty()) continue;
    find_component(channel);
    solve_component();
    schedule_finishes();
  }
  dirty_.clear();
}

// Everything that the flows on this channel can influence through shared channels.
void NativeSimulator::find_component(std::uint32_t channel) {
  component_flows_.clear();
  component_channels_.assign(1, channel);
  channels_[channel].visited = search_;
  for (std::size_t i = 0; i < component_channels_.size(); ++i) {
    for (const std::uint32_t op : channels_[component_channels_[i]].flows) {
      Flow& flow = flows_[op];
      if (flow.visited == search_) continue;
      flow.visited = search_;
      component_flows_.push_back(op);
      for (const LinkId link : flow.links) {
        Channel& other = channels_[link.index()];
        if (other.visited == search_) continue;
        other.visited = search_;
        component_channels_.push_back(link.value());
      }
    }
  }
}

// Progressive filling: the channels with the least to give per flow fix their flows, until all have their share.
void NativeSimulator::solve_component() {
  for (const std::uint32_t op : component_flows_) {
    Flow& flow = flows_[op];
    const double moved = flow.rate * static_cast<double>(now_ - flow.updated);
    flow.remaining = std::max(0.0, flow.remaining - moved);
    flow.updated = now_;
  }
  for (const std::uint32_t i : component_channels_) {
    channels_[i].free = channels_[i].bandwidth;
    channels_[i].unfixed = static_cast<std::uint32_t>(channels_[i].flows.size());
  }
  unsolved_ = component_channels_;
  double level = 0;
  while (true) {
    double least = std::numeric_limits<double>::infinity();
    std::size_t kept = 0;
    for (const std::uint32_t i : unsolved_) {
      const Channel& channel = channels_[i];
      if (channel.unfixed == 0) continue;
      unsolved_[kept++] = i;
      least = std::min(least, channel.free / channel.unfixed);
    }
    unsolved_.resize(kept);
    if (kept == 0) return;
    // Shares never fall from one bottleneck to the next; rounding must not make them.
    level = std::max(level, least);
    for (const std::uint32_t i : unsolved_) {
      Channel& channel = channels_[i];
      if (channel.unfixed > 0 && channel.free <= level * k_same_share * channel.unfixed) fix_flows_of(channel, level);
    }
  }
}

void NativeSimulator::fix_flows_of(Channel& bottleneck, double share) {
  for (const std::uint32_t op : bottleneck.flows) {
    Flow& flow = flows_[op];
    if (flow.fixed == search_) continue;
    flow.fixed = search_;
    flow.rate = share;
    for (const LinkId link : flow.links) {
      channels_[link.index()].free -= share;
      --channels_[link.index()].unfixed;
    }
  }
}

// An event for the flows of the component that finish first; that instant leads to a new solution for the others.
void NativeSimulator::schedule_finishes() {
  double least = std::numeric_limits<double>::infinity();
  for (const std::uint32_t op : component_flows_) {
    ++flows_[op].version;
    least = std::min(least, flows_[op].remaining / flows_[op].rate);
  }
  const std::int64_t first = in_picoseconds(least);
  const std::int64_t end = later(now_, first);
  for (const std::uint32_t op : component_flows_) {
    const Flow& flow = flows_[op];
    const double time = flow.remaining / flow.rate;
    // Not `time < least + 1`: beyond 2^53 ps that sum is `least` itself.
    if (time - least < 1 && in_picoseconds(time) == first) push({end, op, flow.version});
  }
}

}  // namespace podsim
