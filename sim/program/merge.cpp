// Fusing chains of locals. A fused op takes the place of the last of its chain, so that ops which finish keep their
// order.

#include <algorithm>
#include <map>
#include <tuple>

#include "sim/program/builder.hpp"

namespace podsim {
namespace {

struct Interner {
  explicit Interner(Program& target) : program(target) {
    for (std::uint32_t i = 0; i < program.costs.size(); ++i) costs.emplace(program.costs[i], CostId(i));
    for (std::uint32_t i = 0; i < program.labels.size(); ++i) labels.emplace(program.labels[i], LabelId(i));
  }

  CostId cost(const CostVector& value) {
    const auto [place, added] = costs.try_emplace(value, CostId(static_cast<std::uint32_t>(program.costs.size())));
    if (added) program.costs.push_back(value);
    return place->second;
  }

  LabelId label(LabelId first, LabelId last, std::size_t ops) {
    const std::string text = label_text(first) + " … " + label_text(last) + " (" + std::to_string(ops) + " ops)";
    const auto [place, added] = labels.try_emplace(text, LabelId(static_cast<std::uint32_t>(program.labels.size())));
    if (added) program.labels.push_back(text);
    return place->second;
  }

  std::string label_text(LabelId id) const { return id.valid() ? program.labels[id.index()] : std::string(); }

  Program& program;
  std::map<CostVector, CostId> costs;
  std::map<std::string, LabelId> labels;
};

// The op that continues the chain of `op`, or none.
OpId next_in_chain(const Segment& segment, OpId op) {
  const std::uint32_t begin = segment.successor_begin[op.index()];
  if (segment.successor_begin[op.index() + 1] - begin != 1) return OpId::none();
  const OpId next = segment.successors[begin];
  const Op& a = segment.ops[op.index()];
  const Op& b = segment.ops[next.index()];
  const bool fuses = a.kind == OpKind::local && b.kind == OpKind::local && a.device == b.device &&
                     segment.predecessor_count[next.index()] == 1;
  return fuses ? next : OpId::none();
}

class SegmentMerger {
 public:
  SegmentMerger(const Segment& from, Interner& interner) : from_(from), interner_(interner) {}

  Segment merged() {
    find_chains();
    out_.name = from_.name;
    out_.fold = from_.fold;
    fuse_ops();
    connect();
    move_memory_steps();
    return std::move(out_);
  }

 private:
  void find_chains() {
    const std::size_t ops = from_.ops.size();
    next_.resize(ops);
    head_.assign(ops, true);
    for (std::uint32_t i = 0; i < ops; ++i) {
      next_[i] = next_in_chain(from_, OpId(i));
      if (next_[i].valid()) head_[next_[i].index()] = false;
    }
    new_id_.resize(ops);
    std::uint32_t count = 0;
    for (std::uint32_t i = 0; i < ops; ++i) {
      if (!next_[i].valid()) new_id_[i] = OpId(count++);
    }
    out_.ops.resize(count);
  }

  // Fills the fused ops, and for every old op its new one and its begin within it.
  void fuse_ops() {
    offset_.resize(from_.ops.size());
    std::vector<OpId> chain;
    for (std::uint32_t i = 0; i < from_.ops.size(); ++i) {
      if (!head_[i]) continue;
      chain.clear();
      for (OpId op(i); op.valid(); op = next_[op.index()]) chain.push_back(op);
      Op fused = from_.ops[i];
      if (chain.size() > 1) fuse(chain, fused);
      const OpId id = new_id_[chain.back().index()];
      for (const OpId op : chain) new_id_[op.index()] = id;
      out_.ops[id.index()] = fused;
    }
  }

  void fuse(const std::vector<OpId>& chain, Op& fused) {
    CostVector cost;
    SimTime duration;
    for (const OpId op : chain) {
      offset_[op.index()] = duration;
      duration += from_.ops[op.index()].duration;
      cost += interner_.program.costs[from_.ops[op.index()].cost.index()];
    }
    fused.duration = duration;
    fused.cost = interner_.cost(cost);
    fused.label = interner_.label(fused.label, from_.ops[chain.back().index()].label, chain.size());
  }

  void connect() {
    std::vector<std::pair<OpId, OpId>> edges;
    for (std::uint32_t i = 0; i < from_.ops.size(); ++i) {
      if (next_[i].valid()) continue;
      for (std::uint32_t s = from_.successor_begin[i]; s < from_.successor_begin[i + 1]; ++s) {
        edges.emplace_back(new_id_[i], new_id_[from_.successors[s].index()]);
      }
    }
    set_edges(out_, edges);
  }

  void move_memory_steps() {
    for (MemoryStep step : from_.memory_steps) {
      const std::size_t op = step.op.index();
      step.op = new_id_[op];
      step.offset += offset_[op];
      if (step.from_finish && next_[op].valid()) {
        step.from_finish = false;
        step.offset += from_.ops[op].duration;
      } else if (step.from_finish) {
        step.offset = SimTime(0);
      }
      out_.memory_steps.push_back(step);
    }
    std::stable_sort(out_.memory_steps.begin(), out_.memory_steps.end(), [](const auto& a, const auto& b) {
      return std::tie(a.op, a.from_finish, a.offset) < std::tie(b.op, b.from_finish, b.offset);
    });
  }

  const Segment& from_;
  Interner& interner_;
  Segment out_;
  std::vector<OpId> next_;       // by old op
  std::vector<bool> head_;       // by old op: first of its chain
  std::vector<OpId> new_id_;     // by old op
  std::vector<SimTime> offset_;  // by old op: from the begin of its new op
};

}  // namespace

Program merge(const Program& program) {
  Program result = program;
  Interner interner(result);
  for (std::size_t i = 0; i < program.segments.size(); ++i) {
    result.segments[i] = SegmentMerger(program.segments[i], interner).merged();
  }
  return result;
}

}  // namespace podsim
