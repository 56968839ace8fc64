#pragma once
// What runs on a platform: nested blocks of segments. A segment is a small graph of ops and a barrier: it starts when
// every op of the one before it has finished. A repeat runs its blocks n times, so n iterations take exactly n
// times one. Costs are vectors per breakdown category; memory changes ride on the starts and ends of ops.

#include <array>
#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/core/ids.hpp"
#include "sim/hardware/platform.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/sim_time.hpp"

namespace podsim {

// Where time goes. The order is the order of reports.
enum class CostCategory : std::uint8_t {
  compute,
  recompute,
  exchange,
  sync,
  inter_device,
  host_io,
  off_chip_memory,
  collective,
  weight_update,
  launch,
  bubble,
  other,
};
inline constexpr std::size_t k_cost_categories = 12;
std::string_view name(CostCategory category);

// Picoseconds per category.
struct CostVector {
  std::array<SimTime, k_cost_categories> part{};
  SimTime& operator[](CostCategory c) { return part[static_cast<std::size_t>(c)]; }
  SimTime operator[](CostCategory c) const { return part[static_cast<std::size_t>(c)]; }
  SimTime total() const;
  CostVector& operator+=(const CostVector& other);
  friend auto operator<=>(const CostVector&, const CostVector&) = default;
};

enum class OpKind : std::uint8_t { local, transfer, join };

struct Op {
  OpKind kind = OpKind::join;
  CostCategory category = CostCategory::other;  // of a transfer: what its time and the waiting for it are charged to
  DeviceId device;   // of a local: where it runs; of a transfer: who waits for it (sender); of a join: none
  DeviceId peer;     // of a transfer: the other device it occupies; none: no other
  CostId cost;       // of a local: sums to `duration`
  SimTime duration;  // of a local
  Bytes bytes;       // of a transfer; 0 takes only the route's latency
  RouteId route;     // of a transfer
  LabelId label;
};

// Kind of memory use, by index into Program::memory_categories.
using MemoryCategory = std::uint8_t;

// A change of the bytes in use. The steps of an op happen at `offset` after its start or, with `from_finish`, at its
// finish (offset 0). At one instant all releases are applied before all allocations.
struct MemoryStep {
  OpId op;
  bool from_finish = false;
  SimTime offset;
  MemoryId memory;
  MemoryCategory category = 0;
  Bytes change;  // may be negative
};

// Which device or link stands for which: while a folded segment runs, only representatives have ops, and every
// other device or link does what its representative does.
struct FoldMap {
  std::vector<DeviceId> device_representative;  // by device index
  std::vector<LinkId> link_representative;      // by link index
  std::vector<MemoryId> memory_representative;  // by memory index
  friend bool operator==(const FoldMap&, const FoldMap&) = default;
};

// Every device, link and memory stands for itself.
FoldMap unfolded(const Platform& platform);

struct Segment {
  std::string name;
  std::vector<Op> ops;
  std::vector<std::uint32_t> successor_begin;  // CSR: ops.size() + 1 offsets into `successors`
  std::vector<OpId> successors;
  std::vector<std::uint32_t> predecessor_count;
  std::vector<MemoryStep> memory_steps;  // ordered by op, then offset
  FoldId fold;                           // none: every device has its own ops
};

struct Repeat;
using ProgramBlock = std::variant<SegmentId, Repeat>;
struct Repeat {
  std::int64_t count = 1;
  std::string name;  // "cycles", "updates", …
  std::vector<ProgramBlock> blocks;
};

struct AlwaysLive {
  MemoryId memory;
  MemoryCategory category = 0;
  Bytes bytes;
};

struct Program {
  std::vector<Segment> segments;
  std::vector<CostVector> costs;    // interned
  std::vector<std::string> labels;  // interned
  std::vector<std::string> memory_categories;
  std::vector<FoldMap> folds;
  std::vector<AlwaysLive> always_live;
  std::vector<ProgramBlock> blocks;
  std::map<std::string, std::vector<SegmentId>> marks;  // named stretches whose duration a family asks for

  const Segment& operator[](SegmentId id) const { return segments[id.index()]; }
};

// Throws InternalError naming the first fault: an edge out of range, a cycle, an op without device, route or cost, a
// cost that does not sum to its duration, an op of a folded segment away from the representatives, a repeat whose
// memory steps do not cancel out per memory and category over one iteration of its blocks, a repeat count below 1.
void verify(const Program& program, const Platform& platform);

// How a segment differs from the one that an earlier program had in its place.
enum class SegmentChange : std::uint8_t {
  none,     // all that engines and measures look at is the same
  figures,  // the same ops, devices, routes and edges, with other durations, bytes or memory steps
  shape,
};

// The same of a program that was made from a sound one on the same platform: only what has changed is looked at.
// `changes`: by segment.
void verify(const Program& program, const Platform& platform, std::span<const SegmentChange> changes);

}  // namespace podsim
