#pragma once
// The observer that fills a RunResult: where each device's time went, what the links carried, how full the memories
// were. All sums are whole picoseconds and bytes, so that a folded or repeated run measures the same as a full one.
//
// A segment starts from rest, so that its devices and links are measured once and counted as often as it ran (anew
// where it took another time); memories are followed from call to call.
//
// A device's time in a segment: its locals take their cost vectors; its transfers (as device or peer) take what no
// local and no earlier transfer of it covers, in their category. A gap is charged to what ended it: of the
// predecessors of the op after the gap, the one that finished last (seen through joins; a transfer before a local, then
// the lowest id): a transfer's category, or `bubble` for the work of another device. The gap at the end of a
// segment is charged in the same way to the op that finished last in the segment.

#include <cstdint>
#include <vector>

#include "sim/observe/observer.hpp"
#include "sim/observe/run_result.hpp"

namespace podsim {

// What one iteration of a segment does to devices and links.
struct SegmentShare {
  struct Use {
    CostVector breakdown;
    std::int64_t busy = 0;  // ps
  };
  struct Carried {
    std::int64_t bytes = 0;
    std::int64_t busy = 0;  // ps
  };
  struct OfDevice {
    std::uint32_t device = 0;
    Use use;
  };
  struct OfLink {
    std::uint32_t link = 0;
    Carried carried;
  };
  bool measured = false;
  SimTime duration;
  CostCategory end_category = CostCategory::other;  // that every device waits for its end in
  std::vector<OfDevice> devices;                    // with ops, ascending
  std::vector<OfLink> links;                        // with transfers, ascending
};

class Measure final : public Observer {
 public:
  void begin(const Platform& platform, const Program& program) override;
  // The same with what is known of segments already: `shares`, by segment, lives until `end` and learns the others.
  void begin(const Platform& platform, const Program& program, std::vector<SegmentShare>& shares);
  void segment(const SegmentRun& run) override;
  void end(SimTime total) override;
  // After `end`: the finished result; counters of the engine are not its concern and stay as they are. A result that is
  // swapped for an older one leaves its memory to the next run.
  RunResult& result() { return result_; }

 private:
  // An op or a flow on one device or link.
  struct Interval {
    std::int64_t start;
    std::int64_t finish;
    std::uint32_t owner;  // device or link index
    std::uint32_t op;
    bool is_transfer;
  };
  // Intervals of one owner, in `grouped_`.
  struct Group {
    std::uint32_t owner;
    std::uint32_t begin;
    std::uint32_t end;
  };

  void order_ops(const Segment& segment);
  void find_releasers(const SegmentRun& run);
  CostCategory charged_to(const Segment& segment, std::uint32_t releaser) const;
  std::uint32_t last_releaser(const SegmentRun& run) const;
  void measure_devices(const SegmentRun& run, SegmentShare& share);
  SegmentShare::Use measure_device(const SegmentRun& run, CostCategory end_category, const Interval* first,
                                   const Interval* last);
  void measure_links(const SegmentRun& run, SegmentShare& share);
  void group_by_owner(std::size_t owners);
  void add_share(std::size_t segment);
  void finish_devices_and_links();
  void finish_memories();
  void classify_memories(const Platform& platform, const Program& program);
  void refine_memory_classes(const FoldMap& fold);
  void list_class_members(const Program& program);
  void measure_memories(const SegmentRun& run);
  void apply(const MemoryStep& step, std::size_t fold, SimTime at);
  std::size_t fold_index(const Segment& segment) const;

  RunResult result_;
  const Platform* platform_ = nullptr;
  const Program* program_ = nullptr;
  std::size_t folds_ = 0;                        // those of the program, and "none" as the last
  std::vector<SegmentShare::Use> device_use_;    // by fold, device: where it differs from every_device_
  std::vector<CostVector> every_device_;         // by fold: charged to every device alike
  std::vector<SegmentShare::Carried> link_use_;  // by fold, link
  std::vector<SegmentShare> own_shares_;
  std::vector<SegmentShare>* shares_ = nullptr;  // by segment
  std::vector<std::int64_t> iterations_;         // by segment: not yet added

  std::vector<std::uint32_t> topological_;
  std::vector<std::uint32_t> pending_;
  std::vector<std::uint32_t> releaser_;  // by op
  std::vector<Interval> intervals_;
  std::vector<Interval> grouped_;
  std::vector<std::uint32_t> group_begin_;
  std::vector<Group> groups_;

  // Memories that always do the same are one class, named by its first member.
  struct Membership {
    std::uint32_t old_class;
    std::uint32_t representative;
    std::uint32_t memory;
  };
  std::vector<std::uint32_t> memory_class_;  // by memory
  std::vector<Membership> memberships_;      // while refining classes
  std::vector<char> fold_has_steps_;         // by fold
  // By fold * memories + representative: the classes that follow it, between `followers_begin_` and its next.
  std::vector<std::uint32_t> followers_begin_;
  std::vector<std::uint32_t> followers_;
  std::vector<std::int64_t> in_use_;        // by memory, category: on top of what is always live
  std::vector<std::int64_t> total_in_use_;  // by memory
  std::vector<std::int64_t> peak_;          // by memory
  std::vector<std::int64_t> peak_time_;     // by memory
  std::vector<std::int64_t> at_peak_;       // by memory, category
  struct Instant {
    std::int64_t time;
    std::uint32_t step;
    bool allocates;
  };
  std::vector<Instant> instants_;
};

}  // namespace podsim
