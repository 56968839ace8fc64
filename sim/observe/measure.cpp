#include "sim/observe/measure.hpp"

#include <algorithm>
#include <tuple>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

constexpr std::uint32_t k_no_releaser = UINT32_MAX;
constexpr std::uint32_t k_local_releaser = UINT32_MAX - 1;  // any local: its work on another device is waited for

void add(CostVector& to, const CostVector& what, std::int64_t times) {
  for (std::size_t i = 0; i < k_cost_categories; ++i) to.part[i] += what.part[i] * times;
}

std::int64_t product(std::int64_t value, std::int64_t times) {
  return (SimTime(value) * times).picoseconds();
}

}  // namespace

void Measure::begin(const Platform& platform, const Program& program) {
  own_shares_.resize(program.segments.size());
  for (SegmentShare& share : own_shares_) share.measured = false;
  begin(platform, program, own_shares_);
}

void Measure::begin(const Platform& platform, const Program& program, std::vector<SegmentShare>& shares) {
  PODSIM_CHECK(shares.size() == program.segments.size(), "shares of another program");
  shares_ = &shares;
  platform_ = &platform;
  program_ = &program;
  folds_ = program.folds.size() + 1;
  device_use_.assign(folds_ * platform.devices().size(), {});
  every_device_.assign(folds_, {});
  link_use_.assign(folds_ * platform.links().size(), {});
  iterations_.assign(program.segments.size(), 0);
  result_.events = 0;
  result_.segments_executed = 0;
  result_.folded = false;
  result_.repeats = false;
  result_.segment_duration.assign(program.segments.size(), SimTime(0));
  classify_memories(platform, program);
  const std::size_t memories = platform.memories().size();
  in_use_.assign(memories * program.memory_categories.size(), 0);
  at_peak_.assign(in_use_.size(), 0);
  total_in_use_.assign(memories, 0);
  peak_.assign(memories, 0);
  peak_time_.assign(memories, 0);
}

std::size_t Measure::fold_index(const Segment& segment) const {
  return segment.fold.valid() ? segment.fold.index() : folds_ - 1;
}

void Measure::segment(const SegmentRun& run) {
  result_.segment_duration[run.id.index()] = run.duration;
  if (run.segment.fold.valid()) result_.folded = true;
  if (run.iterations > 1) result_.repeats = true;
  const std::size_t place = run.id.index();
  SegmentShare& share = (*shares_)[place];
  if (share.measured && share.duration != run.duration) {
    add_share(place);
    iterations_[place] = 0;
    share.measured = false;
  }
  if (!share.measured) {
    share.duration = run.duration;
    order_ops(run.segment);
    find_releasers(run);
    measure_devices(run, share);
    measure_links(run, share);
    share.measured = true;
  }
  iterations_[place] += run.iterations;
  measure_memories(run);
}

// Segments are mostly built in an order in which every edge goes forward; then ids are that order.
void Measure::order_ops(const Segment& segment) {
  const auto ops = static_cast<std::uint32_t>(segment.ops.size());
  topological_.resize(ops);
  bool forward = true;
  for (std::uint32_t i = 0; i < ops; ++i) {
    topological_[i] = i;
    const std::uint32_t begin = segment.successor_begin[i];
    if (begin != segment.successor_begin[i + 1] && segment.successors[begin].value() <= i) forward = false;
  }
  if (forward) return;  // successors are sorted
  pending_ = segment.predecessor_count;
  topological_.clear();
  for (std::uint32_t i = 0; i < ops; ++i) {
    if (pending_[i] == 0) topological_.push_back(i);
  }
  for (std::size_t k = 0; k < topological_.size(); ++k) {
    const std::uint32_t i = topological_[k];
    for (std::uint32_t s = segment.successor_begin[i]; s < segment.successor_begin[i + 1]; ++s) {
      if (--pending_[segment.successors[s].index()] == 0) topological_.push_back(segment.successors[s].value());
    }
  }
}

void Measure::find_releasers(const SegmentRun& run) {
  const Segment& segment = run.segment;
  releaser_.assign(segment.ops.size(), k_no_releaser);
  for (const std::uint32_t i : topological_) {
    std::uint32_t releaser = releaser_[i];  // of a join: what it waited for last
    if (segment.ops[i].kind == OpKind::transfer) releaser = i;
    if (segment.ops[i].kind == OpKind::local) releaser = k_local_releaser;
    for (std::uint32_t s = segment.successor_begin[i]; s < segment.successor_begin[i + 1]; ++s) {
      const std::size_t next = segment.successors[s].index();
      if (run.start[next] == run.finish[i]) releaser_[next] = std::min(releaser_[next], releaser);
    }
  }
}

CostCategory Measure::charged_to(const Segment& segment, std::uint32_t releaser) const {
  return releaser >= k_local_releaser ? CostCategory::bubble : segment.ops[releaser].category;
}

std::uint32_t Measure::last_releaser(const SegmentRun& run) const {
  for (std::uint32_t i = 0; i < run.segment.ops.size(); ++i) {
    if (run.segment.ops[i].kind == OpKind::transfer && run.finish[i] == run.duration) return i;
  }
  return k_local_releaser;
}

// Sorts the intervals by owner, then by start; locals first, then by op. Few are sorted as they are, many counted into
// their places in `grouped_`.
void Measure::group_by_owner(std::size_t owners) {
  const auto before = [](const Interval& a, const Interval& b) {
    return std::tie(a.start, a.is_transfer, a.op) < std::tie(b.start, b.is_transfer, b.op);
  };
  groups_.clear();
  if (intervals_.size() < owners / 4) {
    grouped_ = intervals_;
    std::sort(grouped_.begin(), grouped_.end(), [&](const Interval& a, const Interval& b) {
      return a.owner != b.owner ? a.owner < b.owner : before(a, b);
    });
    for (std::uint32_t i = 0; i < grouped_.size(); ++i) {
      if (groups_.empty() || groups_.back().owner != grouped_[i].owner) groups_.push_back({grouped_[i].owner, i, i});
      groups_.back().end = i + 1;
    }
    return;
  }
  group_begin_.assign(owners + 2, 0);
  for (const Interval& interval : intervals_) ++group_begin_[interval.owner + 2];
  for (std::size_t i = 2; i < owners + 2; ++i) group_begin_[i] += group_begin_[i - 1];
  grouped_.resize(intervals_.size());
  for (const Interval& interval : intervals_) grouped_[group_begin_[interval.owner + 1]++] = interval;
  for (std::uint32_t i = 0; i < owners; ++i) {
    if (group_begin_[i] == group_begin_[i + 1]) continue;
    groups_.push_back({i, group_begin_[i], group_begin_[i + 1]});
    const auto first = grouped_.begin() + group_begin_[i];
    const auto last = grouped_.begin() + group_begin_[i + 1];
    if (last - first > 1 && !std::is_sorted(first, last, before)) std::sort(first, last, before);
  }
}

void Measure::measure_devices(const SegmentRun& run, SegmentShare& share) {
  const auto& ops = run.segment.ops;
  intervals_.clear();
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    const Op& op = ops[i];
    if (op.kind == OpKind::join) continue;
    const bool transfer = op.kind == OpKind::transfer;
    Interval interval{run.start[i].picoseconds(), run.finish[i].picoseconds(), op.device.value(), i, transfer};
    intervals_.push_back(interval);
    if (!transfer || !op.peer.valid() || op.peer == op.device) continue;
    interval.owner = op.peer.value();
    intervals_.push_back(interval);
  }
  share.end_category = charged_to(run.segment, last_releaser(run));
  group_by_owner(platform_->devices().size());
  share.devices.clear();
  for (const Group& group : groups_) {
    const Interval* intervals = grouped_.data();
    share.devices.push_back(
        {group.owner, measure_device(run, share.end_category, intervals + group.begin, intervals + group.end)});
  }
}

// Every device waits for the end of a segment; what one with ops does before is put right here.
SegmentShare::Use Measure::measure_device(const SegmentRun& run, CostCategory end_category, const Interval* first,
                                          const Interval* last) {
  SegmentShare::Use use;
  const auto charge = [&](CostCategory category, std::int64_t time) { use.breakdown[category] += SimTime(time); };
  std::int64_t now = 0;
  const Interval* local = first;     // the next local not yet passed
  const Interval* transfer = first;  // the first transfer that may still be running
  const Interval* next = first;      // the first op that starts after `now`
  const auto skip = [last](const Interval* i, bool transfers) {
    while (i != last && i->is_transfer != transfers) ++i;
    return i;
  };
  local = skip(local, false);
  transfer = skip(transfer, true);
  while (true) {
    if (local != last && local->start <= now) {
      const Op& op = run.segment.ops[local->op];
      use.breakdown += program_->costs[op.cost.index()];
      use.busy += local->finish - local->start;
      now = local->finish;
      local = skip(local + 1, false);
      continue;
    }
    while (transfer != last && transfer->finish <= now) transfer = skip(transfer + 1, true);
    const std::int64_t local_start = local == last ? INT64_MAX : local->start;
    if (transfer != last && transfer->start <= now) {
      const std::int64_t until = std::min(transfer->finish, local_start);
      charge(run.segment.ops[transfer->op].category, until - now);
      use.busy += until - now;
      now = until;
      continue;
    }
    while (next != last && next->start <= now) ++next;
    if (next == last) break;
    charge(charged_to(run.segment, releaser_[next->op]), next->start - now);
    now = next->start;
  }
  // The wait for the end is charged for the whole segment.
  charge(end_category, -now);
  return use;
}

void Measure::measure_links(const SegmentRun& run, SegmentShare& share) {
  share.links.clear();
  const auto& ops = run.segment.ops;
  intervals_.clear();
  for (std::uint32_t i = 0; i < ops.size(); ++i) {
    if (ops[i].kind != OpKind::transfer || ops[i].bytes == Bytes(0)) continue;
    const Route& route = (*platform_)[ops[i].route];
    const std::int64_t start = (run.start[i] + route.latency).picoseconds();
    for (const LinkId link : route.links) {
      intervals_.push_back({start, run.finish[i].picoseconds(), link.value(), i, true});
    }
  }
  if (intervals_.empty()) return;
  group_by_owner(platform_->links().size());
  for (const Group& group : groups_) {
    SegmentShare::Carried carried;
    std::int64_t covered = 0;
    for (std::uint32_t k = group.begin; k < group.end; ++k) {
      carried.bytes += ops[grouped_[k].op].bytes.count();
      const std::int64_t from = std::max(covered, grouped_[k].start);
      if (grouped_[k].finish <= from) continue;
      carried.busy += grouped_[k].finish - from;
      covered = grouped_[k].finish;
    }
    share.links.push_back({group.owner, carried});
  }
}

// What a segment did, as often as it ran.
void Measure::add_share(std::size_t segment) {
  const SegmentShare& share = (*shares_)[segment];
  const std::int64_t times = iterations_[segment];
  if (times == 0) return;
  const std::size_t fold = fold_index(program_->segments[segment]);
  every_device_[fold][share.end_category] += share.duration * times;
  for (const SegmentShare::OfDevice& part : share.devices) {
    SegmentShare::Use& use = device_use_[fold * platform_->devices().size() + part.device];
    add(use.breakdown, part.use.breakdown, times);
    use.busy += product(part.use.busy, times);
  }
  for (const SegmentShare::OfLink& part : share.links) {
    SegmentShare::Carried& carried = link_use_[fold * platform_->links().size() + part.link];
    carried.bytes += part.carried.bytes * times;
    carried.busy += product(part.carried.busy, times);
  }
}

void Measure::classify_memories(const Platform& platform, const Program& program) {
  const std::size_t memories = platform.memories().size();
  fold_has_steps_.assign(folds_, 0);
  for (const Segment& segment : program.segments) {
    if (!segment.memory_steps.empty()) fold_has_steps_[fold_index(segment)] = 1;
  }
  const bool own_steps = fold_has_steps_.back() != 0;  // without a fold every memory may do something else
  memory_class_.resize(memories);
  for (std::uint32_t m = 0; m < memories; ++m) memory_class_[m] = own_steps ? m : 0;
  for (std::size_t fold = 0; fold + 1 < folds_ && !own_steps; ++fold) {
    if (fold_has_steps_[fold]) refine_memory_classes(program.folds[fold]);
  }
  list_class_members(program);
}

// Splits classes whose members have different representatives.
void Measure::refine_memory_classes(const FoldMap& fold) {
  memberships_.clear();
  for (std::uint32_t m = 0; m < memory_class_.size(); ++m) {
    memberships_.push_back({memory_class_[m], fold.memory_representative[m].value(), m});
  }
  std::sort(memberships_.begin(), memberships_.end(), [](const Membership& a, const Membership& b) {
    return std::tie(a.old_class, a.representative, a.memory) < std::tie(b.old_class, b.representative, b.memory);
  });
  std::uint32_t first = 0;
  for (std::size_t i = 0; i < memberships_.size(); ++i) {
    const Membership& own = memberships_[i];
    const bool same = i > 0 && memberships_[i - 1].old_class == own.old_class &&
                      memberships_[i - 1].representative == own.representative;
    if (!same) first = own.memory;
    memory_class_[own.memory] = first;
  }
}

void Measure::list_class_members(const Program& program) {
  const auto memories = static_cast<std::uint32_t>(memory_class_.size());
  followers_begin_.assign(folds_ * memories + 2, 0);
  const auto for_classes = [&](auto&& action) {
    for (std::size_t fold = 0; fold < folds_; ++fold) {
      if (!fold_has_steps_[fold]) continue;
      for (std::uint32_t m = 0; m < memories; ++m) {
        if (memory_class_[m] != m) continue;
        const bool none = fold + 1 == folds_;
        action(fold * memories + (none ? m : program.folds[fold].memory_representative[m].index()), m);
      }
    }
  };
  for_classes([&](std::size_t place, std::uint32_t) { ++followers_begin_[place + 2]; });
  for (std::size_t i = 2; i < followers_begin_.size(); ++i) followers_begin_[i] += followers_begin_[i - 1];
  followers_.resize(followers_begin_.back());
  for_classes([&](std::size_t place, std::uint32_t m) { followers_[followers_begin_[place + 1]++] = m; });
}

void Measure::measure_memories(const SegmentRun& run) {
  const auto& steps = run.segment.memory_steps;
  if (steps.empty()) return;
  instants_.clear();
  for (std::uint32_t i = 0; i < steps.size(); ++i) {
    const std::size_t op = steps[i].op.index();
    const SimTime at = (steps[i].from_finish ? run.finish[op] : run.start[op]) + steps[i].offset;
    instants_.push_back({at.picoseconds(), i, steps[i].change > Bytes(0)});
  }
  std::sort(instants_.begin(), instants_.end(), [](const Instant& a, const Instant& b) {
    return std::tie(a.time, a.allocates, a.step) < std::tie(b.time, b.allocates, b.step);
  });
  for (const Instant& instant : instants_) {
    apply(steps[instant.step], fold_index(run.segment), run.begin + SimTime(instant.time));
  }
}

void Measure::apply(const MemoryStep& step, std::size_t fold, SimTime at) {
  const std::size_t categories = program_->memory_categories.size();
  const std::size_t place = fold * platform_->memories().size() + step.memory.index();
  for (std::uint32_t i = followers_begin_[place]; i < followers_begin_[place + 1]; ++i) {
    const std::uint32_t m = followers_[i];
    std::int64_t* in_use = in_use_.data() + m * categories;
    in_use[step.category] += step.change.count();
    total_in_use_[m] += step.change.count();
    if (total_in_use_[m] <= peak_[m]) continue;
    peak_[m] = total_in_use_[m];
    peak_time_[m] = at.picoseconds();
    std::copy(in_use, in_use + categories, at_peak_.data() + m * categories);
  }
}

void Measure::end(SimTime total) {
  result_.total = total;
  for (std::size_t i = 0; i < iterations_.size(); ++i) add_share(i);
  finish_devices_and_links();
  finish_memories();
}

// Everything does what its representative did.
void Measure::finish_devices_and_links() {
  const std::size_t devices = platform_->devices().size();
  const std::size_t links = platform_->links().size();
  result_.devices.assign(devices, {});
  result_.links.assign(links, {});
  CostVector waits;
  for (const CostVector& wait : every_device_) waits += wait;
  for (DeviceUse& use : result_.devices) use.breakdown = waits;
  for (std::size_t fold = 0; fold < folds_; ++fold) {
    const FoldMap* map = fold + 1 == folds_ ? nullptr : &program_->folds[fold];
    for (std::size_t d = 0; d < devices; ++d) {
      const std::size_t from = map ? map->device_representative[d].index() : d;
      const SegmentShare::Use& use = device_use_[fold * devices + from];
      result_.devices[d].breakdown += use.breakdown;
      result_.devices[d].busy += SimTime(use.busy);
    }
    for (std::size_t l = 0; l < links; ++l) {
      const SegmentShare::Carried& carried = link_use_[fold * links + (map ? map->link_representative[l].index() : l)];
      result_.links[l].bytes += Bytes(carried.bytes);
      result_.links[l].busy += SimTime(carried.busy);
    }
  }
}

void Measure::finish_memories() {
  const std::size_t categories = program_->memory_categories.size();
  result_.memories.assign(platform_->memories().size(), {});
  for (std::size_t m = 0; m < result_.memories.size(); ++m) {
    MemoryUse& use = result_.memories[m];
    const std::size_t from = memory_class_[m];
    use.peak = Bytes(peak_[from]);
    use.peak_time = SimTime(peak_time_[from]);
    use.categories_at_peak.resize(categories);
    for (std::size_t c = 0; c < categories; ++c) use.categories_at_peak[c] = Bytes(at_peak_[from * categories + c]);
  }
  for (const AlwaysLive& live : program_->always_live) {
    MemoryUse& use = result_.memories[live.memory.index()];
    use.always_live += live.bytes;
    use.peak += live.bytes;
    use.categories_at_peak[live.category] += live.bytes;
  }
}

}  // namespace podsim
