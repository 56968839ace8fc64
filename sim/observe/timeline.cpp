#include "sim/observe/timeline.hpp"

#include <algorithm>
#include <tuple>

namespace podsim {
namespace {

constexpr std::size_t k_lanes = 16;
constexpr std::size_t k_memories = 6;
constexpr std::size_t k_parts = 400;
constexpr std::size_t k_instants = 400;
// Steps of a part over eight lanes: what is shorter than one is drawn together. Marked parts are those looked at.
constexpr std::int64_t k_most_steps = 800;
constexpr std::int64_t k_least_steps = 100;
constexpr std::size_t k_slices = 20'000;

// Whether some segment runs with another in its place.
template <class TypedId>
bool follows(TypedId id, const std::vector<FoldMap>& folds, const std::vector<TypedId> FoldMap::*representatives) {
  return std::any_of(folds.begin(), folds.end(), [&](const FoldMap& fold) {
    const auto& map = fold.*representatives;
    return id.index() < map.size() && map[id.index()] != id;
  });
}

// The level of a memory from an instant on.
struct Change {
  SimTime at;
  bool allocation = false;
  Bytes bytes;
};

}  // namespace

void TimelineObserver::begin(const Platform& platform, const Program& program) {
  *this = TimelineObserver();
  program_ = &program;
  lane_of_device_.assign(platform.devices().size(), -1);
  for (std::size_t d = 0; d < platform.devices().size(); ++d) {
    if (follows(DeviceId(static_cast<std::uint32_t>(d)), program.folds, &FoldMap::device_representative)) {
      ++timeline_.devices_alike;
    } else if (timeline_.lanes.size() < k_lanes) {
      lane_of_device_[d] = static_cast<std::int32_t>(timeline_.lanes.size());
      timeline_.lanes.push_back(platform.devices()[d].name);
    } else {
      ++timeline_.devices_left_out;
    }
  }
  intervals_ = std::clamp<std::size_t>(k_instants / std::max<std::size_t>(program.segments.size(), 1), 1, 40);
  choose_memories(platform, program);
}

// Those of the lanes' devices, and those that belong to none; the others do the same or are not shown either.
void TimelineObserver::choose_memories(const Platform& platform, const Program& program) {
  tracked_of_memory_.assign(platform.memories().size(), -1);
  for (std::size_t m = 0; m < platform.memories().size(); ++m) {
    const MemoryId id(static_cast<std::uint32_t>(m));
    const DeviceId device = platform[id].device;
    if (follows(id, program.folds, &FoldMap::memory_representative)) continue;
    if (device.valid() && lane_of_device_[device.index()] < 0) continue;
    tracked_of_memory_[m] = static_cast<std::int32_t>(tracked_.size());
    tracked_.push_back({id, Bytes(), {}});
  }
  for (const AlwaysLive& live : program.always_live) {
    const std::int32_t index = tracked_of_memory_[live.memory.index()];
    if (index >= 0) tracked_[static_cast<std::size_t>(index)].level += live.bytes;
  }
  for (const Tracked& tracked : tracked_) {
    timeline_.memories.push_back({platform[tracked.memory].name, platform[tracked.memory].limit, {}});
  }
}

void TimelineObserver::segment(const SegmentRun& run) {
  if (timeline_.parts.size() >= k_parts) {
    ++timeline_.parts_left_out;
    return;
  }
  segments_.push_back(run.id);
  timeline_.parts.push_back({run.segment.name, timeline_.length, run.duration, run.iterations});
  add_slices(run, timeline_.length);
  add_levels(run, timeline_.length);
  timeline_.length += run.duration;
}

std::int64_t TimelineObserver::steps_of(const SegmentRun& run) const {
  for (const auto& [name, marked] : run.program.marks) {
    if (std::find(marked.begin(), marked.end(), run.id) != marked.end()) return k_most_steps;
  }
  const auto segments = static_cast<std::int64_t>(std::max<std::size_t>(run.program.segments.size(), 1));
  return std::clamp(static_cast<std::int64_t>(k_slices) / 2 / segments, k_least_steps, k_most_steps);
}

void TimelineObserver::add_slices(const SegmentRun& run, SimTime at) {
  std::vector<TimelineSlice> slices;
  for (std::size_t i = 0; i < run.segment.ops.size(); ++i) {
    const Op& op = run.segment.ops[i];
    const SimTime duration = run.finish[i] - run.start[i];
    if (op.kind == OpKind::join || duration == SimTime()) continue;
    TimelineSlice slice;
    slice.transfer = op.kind == OpKind::transfer;
    slice.begin = at + run.start[i];
    slice.duration = duration;
    if (slice.transfer) {
      slice.cost[op.category] = duration;
    } else {
      slice.cost = run.program.costs[op.cost.index()];
    }
    for (const DeviceId device : {op.device, op.peer}) {
      if (!device.valid() || lane_of_device_[device.index()] < 0) continue;
      slice.lane = static_cast<std::uint32_t>(lane_of_device_[device.index()]);
      slice.label = label_index(run.program.labels[op.label.index()]);
      slices.push_back(slice);
    }
  }
  const auto lanes = static_cast<std::int64_t>(std::max<std::size_t>(timeline_.lanes.size(), 1));
  merge_into(slices, SimTime(run.duration.picoseconds() / steps_of(run) * std::min<std::int64_t>(lanes, 8)));
}

// Sorted, with runs of slices shorter than `finest` drawn as one.
void TimelineObserver::merge_into(std::vector<TimelineSlice>& slices, SimTime finest) {
  std::stable_sort(slices.begin(), slices.end(), [](const TimelineSlice& a, const TimelineSlice& b) {
    return std::tie(a.lane, a.transfer, a.begin) < std::tie(b.lane, b.transfer, b.begin);
  });
  for (std::size_t i = 0; i < slices.size();) {
    TimelineSlice drawn = slices[i];
    drawn.cost = {};
    SimTime longest;
    SimTime finish = drawn.begin;
    std::size_t next = i;
    for (; next < slices.size(); ++next) {
      const TimelineSlice& slice = slices[next];
      const bool together = slice.lane == drawn.lane && slice.transfer == drawn.transfer && slice.duration < finest &&
                            slice.begin < drawn.begin + finest && slice.begin < finish + finest;
      if (next > i && !together) break;
      drawn.cost += slice.cost;
      finish = std::max(finish, slice.begin + slice.duration);
      if (slice.duration > longest) {
        longest = slice.duration;
        drawn.label = slice.label;
      }
      if (slice.duration >= finest) {
        ++next;
        break;
      }
    }
    drawn.duration = finish - drawn.begin;
    drawn.operations = static_cast<std::int64_t>(next - i);
    if (timeline_.slices.size() < k_slices) {
      timeline_.slices.push_back(drawn);
    } else {
      ++timeline_.slices_left_out;
    }
    i = next;
  }
}

void TimelineObserver::add_levels(const SegmentRun& run, SimTime at) {
  std::vector<std::vector<Change>> changes(tracked_.size());
  for (const MemoryStep& step : run.segment.memory_steps) {
    const std::int32_t index = tracked_of_memory_[step.memory.index()];
    if (index < 0) continue;
    const SimTime base = step.from_finish ? run.finish[step.op.index()] : run.start[step.op.index()];
    changes[static_cast<std::size_t>(index)].push_back({base + step.offset, step.change > Bytes(), step.change});
  }
  const auto count = static_cast<std::int64_t>(intervals_);
  for (std::int64_t i = 0; i < count; ++i) {
    timeline_.instants.push_back(at + SimTime(run.duration.picoseconds() / count * i));
  }
  for (std::size_t t = 0; t < tracked_.size(); ++t) {
    auto& mine = changes[t];
    std::stable_sort(mine.begin(), mine.end(), [](const Change& a, const Change& b) {
      return std::tie(a.at, a.allocation) < std::tie(b.at, b.allocation);
    });
    std::size_t next = 0;
    for (std::int64_t i = 0; i < count; ++i) {
      Bytes most = tracked_[t].level;
      const SimTime until = SimTime(run.duration.picoseconds() / count * (i + 1));
      for (; next < mine.size() && (mine[next].at < until || i + 1 == count); ++next) {
        tracked_[t].level += mine[next].bytes;
        // The level between two changes at one instant lasts no time.
        if (next + 1 == mine.size() || mine[next + 1].at != mine[next].at) most = std::max(most, tracked_[t].level);
      }
      tracked_[t].most.push_back(most);
    }
  }
}

void TimelineObserver::end(SimTime /*total*/) {
  add_windows();
  std::stable_sort(timeline_.slices.begin(), timeline_.slices.end(), [](const auto& a, const auto& b) {
    return std::tie(a.lane, a.transfer, a.begin) < std::tie(b.lane, b.transfer, b.begin);
  });
  for (std::size_t t = 0; t < tracked_.size(); ++t) timeline_.memories[t].most = std::move(tracked_[t].most);
  const auto fill = [](const TimelineMemory& memory) {
    const auto most = std::max_element(memory.most.begin(), memory.most.end());
    if (most == memory.most.end() || memory.limit <= Bytes()) return 0.0;
    return static_cast<double>(most->count()) / static_cast<double>(memory.limit.count());
  };
  std::stable_sort(timeline_.memories.begin(), timeline_.memories.end(),
                   [&](const auto& a, const auto& b) { return fill(a) > fill(b); });
  std::erase_if(timeline_.memories, [&](const TimelineMemory& memory) { return fill(memory) == 0.0; });
  if (timeline_.memories.size() > k_memories) timeline_.memories.resize(k_memories);
}

// Of each mark the longest stretch of parts: a segment may also run elsewhere.
void TimelineObserver::add_windows() {
  for (const auto& [name, marked] : program_->marks) {
    std::size_t first = 0;
    std::size_t count = 0;
    for (std::size_t begin = 0; begin < segments_.size(); ++begin) {
      std::size_t end = begin;
      while (end < segments_.size() && std::find(marked.begin(), marked.end(), segments_[end]) != marked.end()) ++end;
      if (end - begin > count) {
        first = begin;
        count = end - begin;
      }
      begin = std::max(begin, end);
    }
    if (count == 0) continue;
    const TimelinePart& last = timeline_.parts[first + count - 1];
    timeline_.windows.push_back({name, timeline_.parts[first].begin, last.begin + last.duration});
  }
}

std::uint32_t TimelineObserver::label_index(const std::string& label) {
  const auto at = std::lower_bound(label_ids_.begin(), label_ids_.end(), label,
                                   [](const auto& known, const std::string& wanted) { return known.first < wanted; });
  if (at != label_ids_.end() && at->first == label) return at->second;
  const auto id = static_cast<std::uint32_t>(timeline_.labels.size());
  label_ids_.emplace(at, label, id);
  timeline_.labels.push_back(label);
  return id;
}

}  // namespace podsim
