#include <algorithm>
#include <utility>

#include "sim/core/check.hpp"
#include "sim/program/builder.hpp"

namespace podsim {
namespace {

// Labels stay from program to program, so that equal ones keep their ids, as long as they are few.
constexpr std::size_t k_most_labels = 4096;

std::size_t hash_of(const CostVector& cost) {
  std::uint64_t hash = 0;
  for (const SimTime time : cost.part) {
    hash = (hash ^ static_cast<std::uint64_t>(time.picoseconds())) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

bool same_step(const MemoryStep& now, const MemoryStep& before) {
  return now.op == before.op && now.from_finish == before.from_finish && now.offset == before.offset &&
         now.memory == before.memory && now.category == before.category && now.change == before.change;
}

}  // namespace

void ProgramStorage::give_back(Program program) {
  PODSIM_CHECK(lent_, "a program that was not built here");
  program_ = std::move(program);
  lent_ = false;
}

void ProgramStorage::forget() {
  program_ = {};
  label_ids_.clear();
  edges_.clear();
  changes_.clear();
}

// A program that never came back (what used it failed) is no pattern.
void ProgramStorage::begin() {
  if (lent_ || program_.labels.size() > k_most_labels) forget();
  lent_ = true;
  segments_ = 0;
  categories_ = 0;
  folds_ = 0;
  folds_changed_ = false;
  costs_before_.swap(program_.costs);
  program_.costs.clear();
  std::fill(cost_table_.begin(), cost_table_.end(), CostId::none());
  program_.always_live.clear();
  for (auto& [name, segments] : program_.marks) segments.clear();
}

bool ProgramStorage::same_figures(const Op& now, const Op& before) const {
  if (now.duration != before.duration || now.bytes != before.bytes) return false;
  return now.kind != OpKind::local || program_.costs[now.cost.index()] == costs_before_[before.cost.index()];
}

SegmentChange ProgramStorage::compare(const Draft& draft, std::size_t place) const {
  const Segment& now = draft.segment;
  const Segment& before = program_.segments[place];
  if (now.ops.size() != before.ops.size() || now.fold != before.fold || draft.edges != edges_[place]) {
    return SegmentChange::shape;
  }
  bool same = now.memory_steps.size() == before.memory_steps.size();
  for (std::size_t i = 0; i < now.ops.size(); ++i) {
    const Op& a = now.ops[i];
    const Op& b = before.ops[i];
    const bool alike =
        a.kind == b.kind && a.category == b.category && a.device == b.device && a.peer == b.peer && a.route == b.route;
    if (!alike) return SegmentChange::shape;
    same = same && same_figures(a, b);
  }
  same = same && std::equal(now.memory_steps.begin(), now.memory_steps.end(), before.memory_steps.begin(), same_step);
  return same ? SegmentChange::none : SegmentChange::figures;
}

// Ops and steps change places with those of the segment before; the adjacency stays where it may.
SegmentId ProgramStorage::take(Draft& draft) {
  const auto earlier = [](const MemoryStep& a, const MemoryStep& b) {
    return a.op != b.op ? a.op < b.op : a.from_finish < b.from_finish;
  };
  std::vector<MemoryStep>& steps = draft.segment.memory_steps;
  if (!std::is_sorted(steps.begin(), steps.end(), earlier)) std::stable_sort(steps.begin(), steps.end(), earlier);
  const std::size_t place = segments_++;
  if (place == program_.segments.size()) {
    program_.segments.emplace_back();
    edges_.emplace_back();
  }
  if (changes_.size() <= place) changes_.resize(place + 1);
  Segment& kept = program_.segments[place];
  const bool has_pattern = kept.successor_begin.size() == kept.ops.size() + 1;
  const SegmentChange change = has_pattern ? compare(draft, place) : SegmentChange::shape;
  changes_[place] = change;
  kept.name.swap(draft.segment.name);
  kept.ops.swap(draft.segment.ops);
  kept.memory_steps.swap(draft.segment.memory_steps);
  kept.fold = draft.segment.fold;
  if (change == SegmentChange::shape) {
    edges_[place].swap(draft.edges);
    set_edges(kept, edges_[place]);
  }
  draft.segment.ops.clear();
  draft.segment.memory_steps.clear();
  draft.segment.fold = FoldId::none();
  draft.edges.clear();
  draft.last.clear();
  spare_.push_back(std::move(draft));
  return SegmentId(static_cast<std::uint32_t>(place));
}

// Ops that were on representatives may now be away from them.
void ProgramStorage::tell_of_folds() {
  if (!folds_changed_) return;
  for (std::size_t i = 0; i < segments_; ++i) {
    if (program_.segments[i].fold.valid()) changes_[i] = std::max(changes_[i], SegmentChange::figures);
  }
}

CostId ProgramStorage::cost(const CostVector& cost) {
  std::vector<CostVector>& costs = program_.costs;
  if (2 * (costs.size() + 1) > cost_table_.size()) grow_cost_table();
  const std::size_t mask = cost_table_.size() - 1;
  std::size_t place = hash_of(cost) & mask;
  for (; cost_table_[place].valid(); place = (place + 1) & mask) {
    if (costs[cost_table_[place].index()] == cost) return cost_table_[place];
  }
  const CostId id(static_cast<std::uint32_t>(costs.size()));
  costs.push_back(cost);
  cost_table_[place] = id;
  return id;
}

void ProgramStorage::grow_cost_table() {
  cost_table_.assign(std::max<std::size_t>(64, 2 * cost_table_.size()), CostId::none());
  const std::size_t mask = cost_table_.size() - 1;
  for (std::uint32_t i = 0; i < program_.costs.size(); ++i) {
    std::size_t place = hash_of(program_.costs[i]) & mask;
    while (cost_table_[place].valid()) place = (place + 1) & mask;
    cost_table_[place] = CostId(i);
  }
}

}  // namespace podsim
