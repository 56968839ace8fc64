// What must hold before any engine sees a program. The first fault is thrown, with the names of what it is about.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/program/program.hpp"

namespace podsim {
namespace {

class Verifier {
 public:
  // Without `changes` everything is new.
  Verifier(const Program& program, const Platform& platform, std::span<const SegmentChange> changes = {})
      : program_(program), platform_(platform), changes_(changes) {}

  void verify() {
    for (const FoldMap& fold : program_.folds) verify_fold(fold);
    for (std::size_t i = 0; i < program_.segments.size(); ++i) {
      const SegmentChange change = i < changes_.size() ? changes_[i] : SegmentChange::shape;
      if (change != SegmentChange::none) verify_segment(program_.segments[i], change == SegmentChange::shape);
    }
    for (const AlwaysLive& live : program_.always_live) verify_live(live);
    for (const auto& [name, segments] : program_.marks) {
      for (const SegmentId id : segments)
        PODSIM_CHECK(id.index() < program_.segments.size(), "mark \"" + name + "\": unknown segment");
    }
    open_balance(0);
    for (const ProgramBlock& block : program_.blocks) add_changes(block, 0);
  }

 private:
  template <class TypedId>
  static void verify_map(const std::vector<TypedId>& map, std::size_t count, const char* what) {
    PODSIM_CHECK(map.size() == count,
                 std::string("a fold has ") + std::to_string(map.size()) + " " + what + " of " + std::to_string(count));
    for (const TypedId id : map) {
      PODSIM_CHECK(id.index() < count && map[id.index()] == id,
                   std::string("a fold has a representative among the ") + what + " that does not stand for itself");
    }
  }

  void verify_fold(const FoldMap& fold) const {
    verify_map(fold.device_representative, platform_.devices().size(), "devices");
    verify_map(fold.link_representative, platform_.links().size(), "links");
    verify_map(fold.memory_representative, platform_.memories().size(), "memories");
  }

  void verify_live(const AlwaysLive& live) const {
    PODSIM_CHECK(live.memory.index() < platform_.memories().size(), "always live bytes of an unknown memory");
    const std::string& memory = platform_[live.memory].name;
    PODSIM_CHECK(live.category < program_.memory_categories.size(),
                 memory + ": always live bytes of an unknown category");
    PODSIM_CHECK(live.bytes >= Bytes(0), memory + ": always live bytes below 0");
  }

  std::string op_name(const Segment& segment, OpId id) const {
    const LabelId label = segment.ops[id.index()].label;
    const std::string text = label.index() < program_.labels.size() ? program_.labels[label.index()] : "no label";
    return "segment \"" + segment.name + "\", op " + std::to_string(id.value()) + " \"" + text + "\": ";
  }

  void verify_segment(const Segment& segment, bool new_shape) const {
    PODSIM_CHECK(!segment.fold.valid() || segment.fold.index() < program_.folds.size(),
                 "segment \"" + segment.name + "\": unknown fold");
    if (new_shape) verify_edges(segment);
    for (std::uint32_t i = 0; i < segment.ops.size(); ++i) verify_op(segment, OpId(i));
    if (new_shape) verify_acyclic(segment);
    for (std::size_t i = 0; i < segment.memory_steps.size(); ++i) verify_step(segment, i);
  }

  static void verify_edges(const Segment& segment) {
    const auto name = [&] { return "segment \"" + segment.name + "\": "; };
    const std::size_t ops = segment.ops.size();
    const auto& begin = segment.successor_begin;
    PODSIM_CHECK(begin.size() == ops + 1 && begin.front() == 0 && begin.back() == segment.successors.size() &&
                     std::is_sorted(begin.begin(), begin.end()),
                 name() + "the adjacency does not fit its ops");
    PODSIM_CHECK(segment.predecessor_count.size() == ops, name() + "the counts of predecessors do not fit its ops");
    std::vector<std::uint32_t> count(ops, 0);
    for (const OpId id : segment.successors) {
      PODSIM_CHECK(id.index() < ops, name() + "an edge to an unknown op");
      ++count[id.index()];
    }
    PODSIM_CHECK(count == segment.predecessor_count, name() + "the counts of predecessors do not match the edges");
  }

  void verify_op(const Segment& segment, OpId id) const {
    const Op& op = segment.ops[id.index()];
    if (op.kind == OpKind::join) return;
    const auto name = [&] { return op_name(segment, id); };
    PODSIM_CHECK(op.device.index() < platform_.devices().size(), name() + "no device");
    PODSIM_CHECK(represents(segment, op.device), name() + "on a device that its fold represents by another");
    if (op.kind == OpKind::local) {
      verify_cost(segment, id);
      return;
    }
    PODSIM_CHECK(op.route.index() < platform_.routes().size(), name() + "no route");
    PODSIM_CHECK(op.bytes >= Bytes(0), name() + "bytes below 0");
    if (op.peer.valid()) {
      PODSIM_CHECK(op.peer.index() < platform_.devices().size(), name() + "unknown peer");
      PODSIM_CHECK(represents(segment, op.peer), name() + "with a peer that its fold represents by another");
    }
    for (const LinkId link : platform_[op.route].links) {
      PODSIM_CHECK(
          !segment.fold.valid() || program_.folds[segment.fold.index()].link_representative[link.index()] == link,
          name() + "over link \"" + platform_[link].name + "\" that its fold represents by another");
    }
  }

  bool represents(const Segment& segment, DeviceId device) const {
    return !segment.fold.valid() ||
           program_.folds[segment.fold.index()].device_representative[device.index()] == device;
  }

  void verify_cost(const Segment& segment, OpId id) const {
    const Op& op = segment.ops[id.index()];
    const auto name = [&] { return op_name(segment, id); };
    PODSIM_CHECK(op.cost.index() < program_.costs.size(), name() + "no cost");
    const CostVector& cost = program_.costs[op.cost.index()];
    for (const SimTime time : cost.part) PODSIM_CHECK(time >= SimTime(0), name() + "a cost below 0");
    PODSIM_CHECK(cost.total() == op.duration, name() + "costs of " + std::to_string(cost.total().picoseconds()) +
                                                  " ps do not sum to its duration of " +
                                                  std::to_string(op.duration.picoseconds()) + " ps");
  }

  void verify_acyclic(const Segment& segment) const {
    std::vector<std::uint32_t> pending = segment.predecessor_count;
    std::vector<OpId> ready;
    for (std::uint32_t i = 0; i < segment.ops.size(); ++i) {
      if (pending[i] == 0) ready.push_back(OpId(i));
    }
    while (!ready.empty()) {
      const std::size_t op = ready.back().index();
      ready.pop_back();
      for (std::uint32_t s = segment.successor_begin[op]; s < segment.successor_begin[op + 1]; ++s) {
        const OpId next = segment.successors[s];
        if (--pending[next.index()] == 0) ready.push_back(next);
      }
    }
    for (std::uint32_t i = 0; i < segment.ops.size(); ++i) {
      if (pending[i] != 0) PODSIM_CHECK(false, op_name(segment, OpId(i)) + "waits in a cycle");
    }
  }

  void verify_step(const Segment& segment, std::size_t index) const {
    const MemoryStep& step = segment.memory_steps[index];
    PODSIM_CHECK(step.op.index() < segment.ops.size(),
                 "segment \"" + segment.name + "\": a memory step of an unknown op");
    const auto name = [&] { return op_name(segment, step.op); };
    PODSIM_CHECK(step.memory.index() < platform_.memories().size(), name() + "a step of an unknown memory");
    PODSIM_CHECK(step.category < program_.memory_categories.size(), name() + "a memory step of an unknown category");
    const Op& op = segment.ops[step.op.index()];
    const SimTime latest = op.kind == OpKind::local && !step.from_finish ? op.duration : SimTime(0);
    PODSIM_CHECK(step.offset >= SimTime(0) && step.offset <= latest, name() + "a memory step outside its op");
    PODSIM_CHECK(
        !segment.fold.valid() ||
            program_.folds[segment.fold.index()].memory_representative[step.memory.index()] == step.memory,
        name() + "a step of memory \"" + platform_[step.memory].name + "\" that its fold represents by another");
    if (index == 0) return;
    const MemoryStep& before = segment.memory_steps[index - 1];
    PODSIM_CHECK(
        std::tie(before.op, before.from_finish, before.offset) <= std::tie(step.op, step.from_finish, step.offset),
        name() + "memory steps out of order");
  }

  // Adds what a block changes to the balance of its depth, by memory and category; checks every repeat on the way. A
  // repeat must change nothing, so it adds nothing.
  void add_changes(const ProgramBlock& block, std::size_t depth) {
    if (const SegmentId* id = std::get_if<SegmentId>(&block)) {
      PODSIM_CHECK(id->index() < program_.segments.size(), "a block of an unknown segment");
      Balance& balance = balances_[depth];
      for (const MemoryStep& step : program_[*id].memory_steps) {
        const std::size_t key = step.memory.index() * program_.memory_categories.size() + step.category;
        balance.changes[key] += step.change.count();
        balance.touched.push_back(key);
      }
      return;
    }
    const Repeat& repeat = std::get<Repeat>(block);
    PODSIM_CHECK(repeat.count >= 1, "repeat \"" + repeat.name + "\": a count of " + std::to_string(repeat.count));
    open_balance(depth + 1);
    for (const ProgramBlock& inner : repeat.blocks) add_changes(inner, depth + 1);
    verify_balance(repeat, balances_[depth + 1]);
  }

  // All zero, and as many places as there are memories times categories.
  void open_balance(std::size_t depth) {
    if (balances_.size() <= depth) balances_.resize(depth + 1);
    Balance& balance = balances_[depth];
    balance.changes.resize(platform_.memories().size() * program_.memory_categories.size());
    for (const std::size_t key : balance.touched) balance.changes[key] = 0;
    balance.touched.clear();
  }

  struct Balance {
    std::vector<std::int64_t> changes;  // by memory and category
    std::vector<std::size_t> touched;   // places in it that may not be zero
  };

  void verify_balance(const Repeat& repeat, const Balance& balance) const {
    const std::size_t categories = program_.memory_categories.size();
    for (const std::size_t key : balance.touched) {
      PODSIM_CHECK(balance.changes[key] == 0, "repeat \"" + repeat.name + "\": memory \"" +
                                                  platform_.memories()[key / categories].name + "\" changes by " +
                                                  std::to_string(balance.changes[key]) + " bytes of " +
                                                  program_.memory_categories[key % categories] + " in every iteration");
    }
  }

  const Program& program_;
  const Platform& platform_;
  std::span<const SegmentChange> changes_;
  std::vector<Balance> balances_;  // by depth of repeats
};

}  // namespace

void verify(const Program& program, const Platform& platform) {
  Verifier(program, platform).verify();
}

void verify(const Program& program, const Platform& platform, std::span<const SegmentChange> changes) {
  Verifier(program, platform, changes).verify();
}

}  // namespace podsim
