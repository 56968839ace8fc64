#include "sim/program/builder.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

std::size_t hash_of(const CostVector& cost) {
  std::uint64_t hash = 0;
  for (const SimTime time : cost.part) {
    hash = (hash ^ static_cast<std::uint64_t>(time.picoseconds())) * 0x9e3779b97f4a7c15ULL;
    hash ^= hash >> 29;
  }
  return static_cast<std::size_t>(hash);
}

}  // namespace

SegmentBuilder::SegmentBuilder(ProgramBuilder& program, std::string name) : program_(program) {
  segment_.name = std::move(name);
}

OpId SegmentBuilder::append(Op op) {
  segment_.ops.push_back(op);
  return OpId(static_cast<std::uint32_t>(segment_.ops.size() - 1));
}

void SegmentBuilder::follow(DeviceId device, OpId op) {
  PODSIM_CHECK(device.valid(), segment_.name + ": an op of a chain needs a device");
  if (device.index() >= last_.size()) last_.resize(device.index() + 1);
  OpId& last = last_[device.index()];
  if (last.valid()) edges_.emplace_back(last, op);
  last = op;
}

OpId SegmentBuilder::local(DeviceId device, const CostVector& cost, std::string_view label) {
  return local(device, program_.cost(cost), program_.label(label));
}

OpId SegmentBuilder::local(DeviceId device, CostId cost, LabelId label) {
  PODSIM_CHECK(cost.index() < program_.program_.costs.size(), segment_.name + ": unknown cost");
  Op op;
  op.kind = OpKind::local;
  op.device = device;
  op.cost = cost;
  op.duration = program_.program_.costs[cost.index()].total();
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
  edges_.emplace_back(before, after);
}

void SegmentBuilder::chain(OpId transfer) {
  PODSIM_CHECK(transfer.index() < segment_.ops.size(), segment_.name + ": unknown op to chain");
  follow(segment_.ops[transfer.index()].device, transfer);
}

void SegmentBuilder::memory_at(OpId op, SimTime offset, MemoryId memory, MemoryCategory category, Bytes change) {
  segment_.memory_steps.push_back({op, false, offset, memory, category, change});
}

void SegmentBuilder::memory_at_start(OpId op, MemoryId memory, MemoryCategory category, Bytes change) {
  segment_.memory_steps.push_back({op, false, SimTime(0), memory, category, change});
}

void SegmentBuilder::memory_at_finish(OpId op, MemoryId memory, MemoryCategory category, Bytes change) {
  segment_.memory_steps.push_back({op, true, SimTime(0), memory, category, change});
}

void SegmentBuilder::fold(FoldId fold) {
  segment_.fold = fold;
}

ProgramBuilder::ProgramBuilder() = default;

SegmentBuilder ProgramBuilder::segment(std::string name) {
  return SegmentBuilder(*this, std::move(name));
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
  Segment& segment = builder.segment_;
  set_edges(segment, builder.edges_);
  std::stable_sort(segment.memory_steps.begin(), segment.memory_steps.end(), [](const auto& a, const auto& b) {
    return a.op != b.op ? a.op < b.op : a.from_finish < b.from_finish;
  });
  program_.segments.push_back(std::move(segment));
  return SegmentId(static_cast<std::uint32_t>(program_.segments.size() - 1));
}

MemoryCategory ProgramBuilder::memory_category(std::string_view name) {
  auto& names = program_.memory_categories;
  const auto found = std::find(names.begin(), names.end(), name);
  if (found != names.end()) return static_cast<MemoryCategory>(found - names.begin());
  PODSIM_CHECK(names.size() < 256, "more than 256 memory categories");
  names.emplace_back(name);
  return static_cast<MemoryCategory>(names.size() - 1);
}

FoldId ProgramBuilder::fold(FoldMap map) {
  program_.folds.push_back(std::move(map));
  return FoldId(static_cast<std::uint32_t>(program_.folds.size() - 1));
}

void ProgramBuilder::grow_cost_table() {
  cost_table_.assign(std::max<std::size_t>(64, 2 * cost_table_.size()), CostId::none());
  const std::size_t mask = cost_table_.size() - 1;
  for (std::uint32_t i = 0; i < program_.costs.size(); ++i) {
    std::size_t place = hash_of(program_.costs[i]) & mask;
    while (cost_table_[place].valid()) place = (place + 1) & mask;
    cost_table_[place] = CostId(i);
  }
}

CostId ProgramBuilder::cost(const CostVector& cost) {
  if (2 * (program_.costs.size() + 1) > cost_table_.size()) grow_cost_table();
  const std::size_t mask = cost_table_.size() - 1;
  std::size_t place = hash_of(cost) & mask;
  for (; cost_table_[place].valid(); place = (place + 1) & mask) {
    if (program_.costs[cost_table_[place].index()] == cost) return cost_table_[place];
  }
  const CostId id(static_cast<std::uint32_t>(program_.costs.size()));
  program_.costs.push_back(cost);
  cost_table_[place] = id;
  return id;
}

LabelId ProgramBuilder::label(std::string_view text) {
  const auto found = label_ids_.find(text);
  if (found != label_ids_.end()) return found->second;
  const LabelId id(static_cast<std::uint32_t>(program_.labels.size()));
  program_.labels.emplace_back(text);
  label_ids_.emplace(text, id);
  return id;
}

void ProgramBuilder::always_live(MemoryId memory, MemoryCategory category, Bytes bytes) {
  program_.always_live.push_back({memory, category, bytes});
}

void ProgramBuilder::mark(const std::string& name, SegmentId segment) {
  program_.marks[name].push_back(segment);
}

Program ProgramBuilder::build(std::vector<ProgramBlock> blocks) && {
  program_.blocks = std::move(blocks);
  return std::move(program_);
}

}  // namespace podsim
