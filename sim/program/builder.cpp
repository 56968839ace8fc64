#include "sim/program/builder.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace podsim {

SegmentBuilder::SegmentBuilder(ProgramBuilder& program, std::string_view name) : program_(program) {
  std::vector<ProgramStorage::Draft>& spare = program.storage_.spare_;
  if (!spare.empty()) {
    draft_ = std::move(spare.back());
    spare.pop_back();
  }
  draft_.segment.name = name;
}

OpId SegmentBuilder::append(Op op) {
  draft_.segment.ops.push_back(op);
  return OpId(static_cast<std::uint32_t>(draft_.segment.ops.size() - 1));
}

void SegmentBuilder::follow(DeviceId device, OpId op) {
  PODSIM_CHECK(device.valid(), draft_.segment.name + ": an op of a chain needs a device");
  std::vector<OpId>& chains = draft_.last;
  if (device.index() >= chains.size()) chains.resize(device.index() + 1);
  OpId& last = chains[device.index()];
  if (last.valid()) draft_.edges.emplace_back(last, op);
  last = op;
}

OpId SegmentBuilder::local(DeviceId device, const CostVector& cost, std::string_view label) {
  return local(device, program_.cost(cost), program_.label(label));
}

OpId SegmentBuilder::local(DeviceId device, CostId cost, LabelId label) {
  PODSIM_CHECK(cost.index() < program_.storage_.program_.costs.size(), draft_.segment.name + ": unknown cost");
  Op op;
  op.kind = OpKind::local;
  op.device = device;
  op.cost = cost;
  op.duration = program_.storage_.program_.costs[cost.index()].total();
  op.label = label;
  const OpId id = append(op);
  follow(device, id);
  return id;
}

OpId SegmentBuilder::transfer(DeviceId device, DeviceId peer, RouteId route, Bytes bytes, CostCategory category,
                              std::string_view label) {
  return transfer(device, peer, route, bytes, category, program_.label(label));
}

OpId SegmentBuilder::transfer(DeviceId device, DeviceId peer, RouteId route, Bytes bytes, CostCategory category,
                              LabelId label) {
  Op op;
  op.kind = OpKind::transfer;
  op.category = category;
  op.device = device;
  op.peer = peer;
  op.bytes = bytes;
  op.route = route;
  op.label = label;
  return append(op);
}

OpId SegmentBuilder::join(std::string_view label) {
  Op op;
  op.label = program_.label(label);
  return append(op);
}

void SegmentBuilder::depend(OpId before, OpId after) {
  draft_.edges.emplace_back(before, after);
}

void SegmentBuilder::chain(OpId transfer) {
  PODSIM_CHECK(transfer.index() < draft_.segment.ops.size(), draft_.segment.name + ": unknown op to chain");
  follow(draft_.segment.ops[transfer.index()].device, transfer);
}

void SegmentBuilder::memory_at(OpId op, SimTime offset, MemoryId memory, MemoryCategory category, Bytes change) {
  draft_.segment.memory_steps.push_back({op, false, offset, memory, category, change});
}

void SegmentBuilder::memory_at_start(OpId op, MemoryId memory, MemoryCategory category, Bytes change) {
  draft_.segment.memory_steps.push_back({op, false, SimTime(0), memory, category, change});
}

void SegmentBuilder::memory_at_finish(OpId op, MemoryId memory, MemoryCategory category, Bytes change) {
  draft_.segment.memory_steps.push_back({op, true, SimTime(0), memory, category, change});
}

void SegmentBuilder::fold(FoldId fold) {
  draft_.segment.fold = fold;
}

ProgramBuilder::ProgramBuilder(ProgramStorage* storage) : storage_(storage != nullptr ? *storage : own_) {
  storage_.begin();
}

SegmentBuilder ProgramBuilder::segment(std::string_view name) {
  return SegmentBuilder(*this, name);
}

void set_edges(Segment& segment, const std::vector<std::pair<OpId, OpId>>& edges) {
  const std::size_t ops = segment.ops.size();
  std::vector<std::uint32_t> place(ops + 1, 0);
  for (const auto& [before, after] : edges) {
    PODSIM_CHECK(before.index() < ops && after.index() < ops, segment.name + ": an edge to an unknown op");
    ++place[before.index() + 1];
  }
  for (std::size_t i = 0; i < ops; ++i) place[i + 1] += place[i];
  const std::vector<std::uint32_t> begin = place;
  std::vector<OpId> sorted(edges.size());
  for (const auto& [before, after] : edges) sorted[place[before.index()]++] = after;

  segment.successor_begin.assign(ops + 1, 0);
  segment.successors.clear();
  segment.successors.reserve(edges.size());
  segment.predecessor_count.assign(ops, 0);
  for (std::size_t i = 0; i < ops; ++i) {
    const auto first = sorted.begin() + begin[i];
    const auto last = sorted.begin() + begin[i + 1];
    std::sort(first, last);
    const auto from = static_cast<std::ptrdiff_t>(segment.successors.size());
    segment.successors.insert(segment.successors.end(), first, std::unique(first, last));
    for (auto s = segment.successors.begin() + from; s != segment.successors.end(); ++s) {
      ++segment.predecessor_count[s->index()];
    }
    segment.successor_begin[i + 1] = static_cast<std::uint32_t>(segment.successors.size());
  }
}

SegmentId ProgramBuilder::add(SegmentBuilder&& builder) {
  return storage_.take(builder.draft_);
}

MemoryCategory ProgramBuilder::memory_category(std::string_view name) {
  auto& names = storage_.program_.memory_categories;
  std::size_t& known = storage_.categories_;
  const auto end = names.begin() + static_cast<std::ptrdiff_t>(known);
  const auto found = std::find(names.begin(), end, name);
  if (found != end) return static_cast<MemoryCategory>(found - names.begin());
  PODSIM_CHECK(known < 256, "more than 256 memory categories");
  if (known == names.size()) names.emplace_back();
  if (names[known] != name) names[known] = name;
  return static_cast<MemoryCategory>(known++);
}

FoldId ProgramBuilder::fold(const FoldMap& map) {
  auto& folds = storage_.program_.folds;
  const std::size_t place = storage_.folds_++;
  if (place == folds.size()) folds.emplace_back();
  if (!(folds[place] == map)) {
    folds[place] = map;
    storage_.folds_changed_ = true;
  }
  return FoldId(static_cast<std::uint32_t>(place));
}

CostId ProgramBuilder::cost(const CostVector& cost) {
  return storage_.cost(cost);
}

LabelId ProgramBuilder::label(std::string_view text) {
  const auto found = storage_.label_ids_.find(text);
  if (found != storage_.label_ids_.end()) return found->second;
  std::vector<std::string>& labels = storage_.program_.labels;
  const LabelId id(static_cast<std::uint32_t>(labels.size()));
  labels.emplace_back(text);
  storage_.label_ids_.emplace(text, id);
  return id;
}

void ProgramBuilder::always_live(MemoryId memory, MemoryCategory category, Bytes bytes) {
  storage_.program_.always_live.push_back({memory, category, bytes});
}

void ProgramBuilder::mark(const std::string& name, SegmentId segment) {
  storage_.program_.marks[name].push_back(segment);
}

Program ProgramBuilder::build(std::vector<ProgramBlock> blocks) && {
  Program& program = storage_.program_;
  program.segments.resize(storage_.segments_);
  storage_.edges_.resize(storage_.segments_);
  storage_.changes_.resize(storage_.segments_);
  storage_.tell_of_folds();
  program.memory_categories.resize(storage_.categories_);
  program.folds.resize(storage_.folds_);
  std::erase_if(program.marks, [](const auto& mark) { return mark.second.empty(); });
  program.blocks = std::move(blocks);
  return std::move(program);
}

}  // namespace podsim
