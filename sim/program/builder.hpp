#pragma once
// Makes programs. Local ops of one device are chained in the order in which they are added (a device runs one at a
// time); all other order is stated with `depend`.

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/program/program.hpp"

namespace podsim {

class ProgramBuilder;

// A program of a sweep's earlier point, as room and pattern for the next one: a builder that works in it allocates
// little, keeps what comes out the same, and says what did not. For one program at a time.
class ProgramStorage {
 public:
  // By segment of the program built last, against the one that was given back before it: what has not changed has the
  // times it had, on the same platform.
  const std::vector<SegmentChange>& changes() const { return changes_; }
  // The program built last; until it is back, there is no pattern for the next one.
  void give_back(Program program);

 private:
  friend class ProgramBuilder;
  friend class SegmentBuilder;
  // A segment in the making.
  struct Draft {
    Segment segment;
    std::vector<std::pair<OpId, OpId>> edges;  // in the order of their making
    std::vector<OpId> last;                    // by device index
  };
  void begin();
  void grow_cost_table();
  void forget();
  void tell_of_folds();
  CostId cost(const CostVector& cost);
  SegmentId take(Draft& draft);
  SegmentChange compare(const Draft& draft, std::size_t place) const;
  bool same_figures(const Op& now, const Op& before) const;

  Program program_;
  bool lent_ = false;           // the program is elsewhere, or half made
  std::size_t segments_ = 0;    // of the program that is being made
  std::size_t categories_ = 0;  // likewise
  std::size_t folds_ = 0;       // likewise
  bool folds_changed_ = false;
  std::vector<CostVector> costs_before_;                   // of the program given back
  std::vector<CostId> cost_table_;                         // open addressing; a power of two, at most half of it used
  std::map<std::string, LabelId, std::less<>> label_ids_;  // of program_.labels
  std::vector<std::vector<std::pair<OpId, OpId>>> edges_;  // by segment, as they were stated
  std::vector<SegmentChange> changes_;
  std::vector<Draft> spare_;
};

class SegmentBuilder {
 public:
  // Adds a local op and an edge from the op this device did last in this segment: a local, or a transfer put into its
  // chain by `chain`.
  OpId local(DeviceId device, const CostVector& cost, std::string_view label);
  // The same with what ProgramBuilder::cost and ::label interned before, for ops made many times.
  OpId local(DeviceId device, CostId cost, LabelId label);
  // Adds a transfer; it starts with the segment unless `depend` or `chain` orders it.
  OpId transfer(DeviceId device, DeviceId peer, RouteId route, Bytes bytes, CostCategory category,
                std::string_view label);
  OpId transfer(DeviceId device, DeviceId peer, RouteId route, Bytes bytes, CostCategory category, LabelId label);
  OpId join(std::string_view label);
  void depend(OpId before, OpId after);
  // Puts a transfer into its device's chain: after what the device did last, before what it does next.
  void chain(OpId transfer);
  // `offset` after the start of a local, at most its duration; steps of one op are added in the order of time.
  void memory_at(OpId op, SimTime offset, MemoryId memory, MemoryCategory category, Bytes change);
  void memory_at_start(OpId op, MemoryId memory, MemoryCategory category, Bytes change);
  void memory_at_finish(OpId op, MemoryId memory, MemoryCategory category, Bytes change);
  void fold(FoldId fold);

 private:
  friend class ProgramBuilder;
  SegmentBuilder(ProgramBuilder& program, std::string_view name);
  OpId append(Op op);
  // Orders `op` after what `device` did last and makes it the last.
  void follow(DeviceId device, OpId op);

  ProgramBuilder& program_;
  ProgramStorage::Draft draft_;
};

class ProgramBuilder {
 public:
  // Works in `storage`, which outlives it; null: in memory of its own.
  explicit ProgramBuilder(ProgramStorage* storage = nullptr);
  ProgramBuilder(const ProgramBuilder&) = delete;
  ProgramBuilder& operator=(const ProgramBuilder&) = delete;
  SegmentBuilder segment(std::string_view name);
  // Closes a segment: builds its adjacency (an edge stated twice counts once), orders its memory steps.
  SegmentId add(SegmentBuilder&& segment);
  MemoryCategory memory_category(std::string_view name);
  FoldId fold(const FoldMap& map);
  CostId cost(const CostVector& cost);
  LabelId label(std::string_view text);
  void always_live(MemoryId memory, MemoryCategory category, Bytes bytes);
  void mark(const std::string& name, SegmentId segment);
  // The finished program with these top-level blocks; the builder is spent.
  Program build(std::vector<ProgramBlock> blocks) &&;

 private:
  friend class SegmentBuilder;

  ProgramStorage own_;
  ProgramStorage& storage_;
};

// Fills the adjacency of a segment from edges in any order; an edge stated twice counts once.
void set_edges(Segment& segment, const std::vector<std::pair<OpId, OpId>>& edges);

// Fuses chains of local ops of one device (each the only successor of the one before it, which is its only
// predecessor) into one op: durations and costs add, memory steps keep their instants. Same times, fewer events.
// A fused op is labelled "first … last (n ops)".
Program merge(const Program& program);

}  // namespace podsim
