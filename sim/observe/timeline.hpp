#pragma once
// A run for a picture: every part of the program once, side by side, however often it is repeated. The axis is
// therefore not the time of the run but that of one pass over its program; each part says how often it runs.
// Small enough to be shown: a few devices, and operations too short to be seen drawn together.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "sim/observe/observer.hpp"

namespace podsim {

// A segment of the program, as it ran.
struct TimelinePart {
  std::string name;
  SimTime begin;  // on the axis of the timeline
  SimTime duration;
  std::int64_t iterations = 1;  // how often it runs in the whole run
};

struct TimelineSlice {
  std::uint32_t lane = 0;  // index into Timeline::lanes
  bool transfer = false;   // else work of the device itself
  SimTime begin;
  SimTime duration;
  std::uint32_t label = 0;      // index into Timeline::labels; of the longest one drawn here
  std::int64_t operations = 1;  // drawn together
  CostVector cost;              // what their time goes to, by kind; without the gaps between them
};

// The largest level of a memory within each of the intervals of Timeline::instants.
struct TimelineMemory {
  std::string name;
  Bytes limit;
  std::vector<Bytes> most;
};

// A marked stretch of the program that may be looked at alone: "cycle".
struct TimelineWindow {
  std::string name;
  SimTime begin;
  SimTime end;
};

struct Timeline {
  SimTime length;
  std::vector<TimelinePart> parts;
  std::vector<std::string> lanes;  // devices
  std::vector<std::string> labels;
  std::vector<TimelineSlice> slices;  // by lane, own work before transfers, by begin
  std::vector<SimTime> instants;      // where intervals of the memories begin
  std::vector<TimelineMemory> memories;
  std::vector<TimelineWindow> windows;
  std::size_t devices_alike = 0;     // that do in some part what a shown or another device does
  std::size_t devices_left_out = 0;  // beyond the lanes, not alike
  std::size_t parts_left_out = 0;    // beyond the limit
  std::int64_t slices_left_out = 0;  // beyond the limit, in parts that are shown
};

class TimelineObserver final : public Observer {
 public:
  void begin(const Platform& platform, const Program& program) override;
  void segment(const SegmentRun& run) override;
  void end(SimTime total) override;
  // Complete after `end`.
  const Timeline& timeline() const { return timeline_; }

 private:
  struct Tracked {
    MemoryId memory;
    Bytes level;
    std::vector<Bytes> most;
  };
  void choose_memories(const Platform& platform, const Program& program);
  std::int64_t steps_of(const SegmentRun& run) const;
  void add_slices(const SegmentRun& run, SimTime at);
  void add_levels(const SegmentRun& run, SimTime at);
  void add_windows();
  void merge_into(std::vector<TimelineSlice>& slices, SimTime finest);
  std::uint32_t label_index(const std::string& label);

  Timeline timeline_;
  const Program* program_ = nullptr;
  std::vector<std::int32_t> lane_of_device_;  // -1: none
  std::vector<Tracked> tracked_;
  std::vector<std::int32_t> tracked_of_memory_;                   // -1: none
  std::size_t intervals_ = 1;                                     // of the memories in each part
  std::vector<std::pair<std::string, std::uint32_t>> label_ids_;  // sorted
  std::vector<SegmentId> segments_;                               // by part
};

}  // namespace podsim
