#include "sim/observe/trace.hpp"

#include <algorithm>
#include <tuple>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

// The members that a representative stands for, itself among them; without a map only itself.
template <class TypedId>
std::vector<TypedId> followers(TypedId id, const std::vector<TypedId>* representatives) {
  if (representatives == nullptr) return {id};
  std::vector<TypedId> result;
  for (std::size_t i = 0; i < representatives->size(); ++i) {
    if ((*representatives)[i] == id) result.push_back(TypedId(static_cast<std::uint32_t>(i)));
  }
  if (result.empty()) result.push_back(id);
  return result;
}

const FoldMap* fold_of(const SegmentRun& run) {
  return run.segment.fold.valid() ? &run.program.folds[run.segment.fold.index()] : nullptr;
}

// What stands for it in the first segment that is folded so; empty: nothing does.
template <class TypedId, class Things>
std::string simulated_in_place_of(TypedId id, const Program& program, const Things& things,
                                  const std::vector<TypedId> FoldMap::*representatives) {
  for (const FoldMap& fold : program.folds) {
    const auto& map = fold.*representatives;
    if (id.index() < map.size() && map[id.index()] != id) return things[map[id.index()].index()].name;
  }
  return "";
}

CostCategory main_category(const CostVector& cost) {
  const auto largest = std::max_element(cost.part.begin(), cost.part.end());
  return static_cast<CostCategory>(largest - cost.part.begin());
}

}  // namespace

TraceObserver::TraceObserver(std::int64_t limit) {
  PODSIM_CHECK(limit > 0, "a trace needs a limit above 0");
  trace_.limit = limit;
}

void TraceObserver::begin(const Platform& platform, const Program& program) {
  const std::int64_t limit = trace_.limit;
  *this = TraceObserver(limit);
  trace_.tracks.push_back({TrackKind::program, "program"});
  for (std::uint32_t d = 0; d < platform.devices().size(); ++d) {
    device_tracks_.push_back(static_cast<std::uint32_t>(trace_.tracks.size()));
    trace_.tracks.push_back(
        {TrackKind::device, platform.devices()[d].name,
         simulated_in_place_of(DeviceId(d), program, platform.devices(), &FoldMap::device_representative)});
  }
  for (std::uint32_t l = 0; l < platform.links().size(); ++l) {
    lanes_.push_back({{static_cast<std::uint32_t>(trace_.tracks.size())}, {SimTime()}});
    trace_.tracks.push_back(
        {TrackKind::link, platform.links()[l].name,
         simulated_in_place_of(LinkId(l), program, platform.links(), &FoldMap::link_representative)});
  }
  for (const std::string& label : program.labels) label_names_.push_back(name_index(label));
  level_.assign(platform.memories().size(), Bytes());
  for (const Memory& memory : platform.memories()) trace_.memories.push_back(memory.name);
  for (const AlwaysLive& live : program.always_live) level_[live.memory.index()] += live.bytes;
  for (std::size_t m = 0; m < level_.size(); ++m) {
    trace_.levels.push_back({static_cast<std::uint32_t>(m), SimTime(), level_[m]});
  }
}

void TraceObserver::segment(const SegmentRun& run) {
  if (full_) {
    trace_.left_out += static_cast<std::int64_t>(run.segment.ops.size());
    return;
  }
  const std::size_t slices = trace_.slices.size();
  const std::size_t levels = trace_.levels.size();
  add_program_slice(run);
  add_ops(run);
  add_levels(run);
  const auto size = static_cast<std::int64_t>(trace_.slices.size() + trace_.levels.size());
  if (size > trace_.limit) {
    full_ = true;
    trace_.left_out += size - static_cast<std::int64_t>(slices + levels);
    trace_.slices.resize(slices);
    trace_.levels.resize(levels);
    return;
  }
  shown_until_ = std::max(shown_until_, run.begin + run.duration);
}

void TraceObserver::end(SimTime total) {
  trace_.total = total;
}

// A slice for the iteration shown, and one for the time before it in which earlier repeats went on.
void TraceObserver::add_program_slice(const SegmentRun& run) {
  if (run.begin > shown_until_) {
    trace_.slices.push_back(
        {0, shown_until_, run.begin - shown_until_, name_index("further iterations"), CostCategory::other, Bytes()});
  }
  std::string name = run.segment.name;
  if (run.iterations > 1) name += " (1 of " + std::to_string(run.iterations) + ")";
  trace_.slices.push_back({0, run.begin, run.duration, name_index(name), CostCategory::other, Bytes(), run.iterations});
}

void TraceObserver::add_ops(const SegmentRun& run) {
  // Lanes need transfers in the order of their starts.
  std::vector<std::uint32_t> order(run.segment.ops.size());
  for (std::uint32_t i = 0; i < order.size(); ++i) order[i] = i;
  std::stable_sort(order.begin(), order.end(),
                   [&](std::uint32_t a, std::uint32_t b) { return run.start[a] < run.start[b]; });
  const FoldMap* fold = fold_of(run);
  for (const std::uint32_t i : order) {
    const Op& op = run.segment.ops[i];
    if (op.kind == OpKind::join) continue;
    TraceSlice slice{
        0,       run.begin + run.start[i], run.finish[i] - run.start[i], label_names_[op.label.index()], op.category,
        op.bytes};
    if (op.kind == OpKind::transfer) {
      add_transfer(run, op, slice);
      continue;
    }
    slice.category = main_category(run.program.costs[op.cost.index()]);
    for (const DeviceId device : followers(op.device, fold ? &fold->device_representative : nullptr)) {
      slice.track = device_tracks_[device.index()];
      trace_.slices.push_back(slice);
    }
  }
}

void TraceObserver::add_transfer(const SegmentRun& run, const Op& op, TraceSlice slice) {
  const FoldMap* fold = fold_of(run);
  for (const LinkId first : run.platform[op.route].links) {
    for (const LinkId link : followers(first, fold ? &fold->link_representative : nullptr)) {
      slice.track = lane(link, slice.begin, slice.begin + slice.duration);
      trace_.slices.push_back(slice);
    }
  }
}

void TraceObserver::add_levels(const SegmentRun& run) {
  struct Change {
    SimTime at;
    bool allocation = false;
    std::uint32_t memory = 0;
    Bytes bytes;
  };
  const FoldMap* fold = fold_of(run);
  std::vector<Change> changes;
  for (const MemoryStep& step : run.segment.memory_steps) {
    const SimTime base = step.from_finish ? run.finish[step.op.index()] : run.start[step.op.index()];
    for (const MemoryId memory : followers(step.memory, fold ? &fold->memory_representative : nullptr)) {
      changes.push_back({run.begin + base + step.offset, step.change > Bytes(), memory.value(), step.change});
    }
  }
  std::stable_sort(changes.begin(), changes.end(), [](const Change& a, const Change& b) {
    return std::tie(a.memory, a.at, a.allocation) < std::tie(b.memory, b.at, b.allocation);
  });
  for (std::size_t i = 0; i < changes.size(); ++i) {
    level_[changes[i].memory] += changes[i].bytes;
    const bool last_of_instant =
        i + 1 == changes.size() || changes[i + 1].memory != changes[i].memory || changes[i + 1].at != changes[i].at;
    if (last_of_instant) trace_.levels.push_back({changes[i].memory, changes[i].at, level_[changes[i].memory]});
  }
}

// Transfers that share a link overlap; slices of one track must not. The first lane of a link is the link itself.
std::uint32_t TraceObserver::lane(LinkId link, SimTime begin, SimTime end) {
  LinkLanes& lanes = lanes_[link.index()];
  for (std::size_t i = 0; i < lanes.tracks.size(); ++i) {
    if (lanes.free_at[i] > begin) continue;
    lanes.free_at[i] = end;
    return lanes.tracks[i];
  }
  const auto track = static_cast<std::uint32_t>(trace_.tracks.size());
  const std::string name = trace_.tracks[lanes.tracks.front()].name;
  trace_.tracks.push_back({TrackKind::link, name + " (shared " + std::to_string(lanes.tracks.size() + 1) + ")"});
  lanes.tracks.push_back(track);
  lanes.free_at.push_back(end);
  return track;
}

std::uint32_t TraceObserver::name_index(std::string_view text) {
  const auto place = std::lower_bound(names_.begin(), names_.end(), text,
                                      [](const auto& entry, std::string_view wanted) { return entry.first < wanted; });
  if (place != names_.end() && place->first == text) return place->second;
  const auto index = static_cast<std::uint32_t>(trace_.names.size());
  trace_.names.emplace_back(text);
  names_.insert(place, {std::string(text), index});
  return index;
}

}  // namespace podsim
