#pragma once
// What a run did and when, for a timeline: slices on tracks, and the level of each memory over time. One iteration of
// each repeat is kept, as executed; equal replicas are shown on all their tracks. The size is bounded: from the first
// segment that would exceed the limit on, slices are counted and left out.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/observe/observer.hpp"

namespace podsim {

enum class TrackKind : std::uint8_t { program, device, link };

struct TraceTrack {
  TrackKind kind = TrackKind::program;
  std::string name;
  std::string same_as = {};  // what was simulated in its place, in folded segments; empty: nothing
};

struct TraceSlice {
  std::uint32_t track = 0;  // index into Trace::tracks
  SimTime begin;
  SimTime duration;
  std::uint32_t name = 0;  // index into Trace::names
  CostCategory category = CostCategory::other;
  Bytes bytes;                  // of a transfer
  std::int64_t iterations = 1;  // of a part of the program: how often it runs; shown is the first time
};

// The level of a memory from an instant on.
struct TraceLevel {
  std::uint32_t memory = 0;  // index into Trace::memories
  SimTime at;
  Bytes bytes;
};

struct Trace {
  std::vector<TraceTrack> tracks;
  std::vector<std::string> names;
  std::vector<std::string> memories;
  std::vector<TraceSlice> slices;
  std::vector<TraceLevel> levels;
  std::int64_t left_out = 0;  // slices and levels beyond the limit
  std::int64_t limit = 0;
  SimTime total;
};

class TraceObserver final : public Observer {
 public:
  // `limit`: the most slices and levels kept, above 0.
  explicit TraceObserver(std::int64_t limit = 500'000);
  void begin(const Platform& platform, const Program& program) override;
  void segment(const SegmentRun& run) override;
  void end(SimTime total) override;
  // What was seen; complete after `end`.
  const Trace& trace() const { return trace_; }

 private:
  struct LinkLanes {
    std::vector<std::uint32_t> tracks;  // one for each transfer that runs at the same time
    std::vector<SimTime> free_at;
  };
  void add_program_slice(const SegmentRun& run);
  void add_ops(const SegmentRun& run);
  void add_transfer(const SegmentRun& run, const Op& op, TraceSlice slice);
  void add_levels(const SegmentRun& run);
  std::uint32_t lane(LinkId link, SimTime begin, SimTime end);
  std::uint32_t name_index(std::string_view text);

  Trace trace_;
  std::vector<std::uint32_t> device_tracks_;
  std::vector<LinkLanes> lanes_;
  std::vector<Bytes> level_;
  std::vector<std::uint32_t> label_names_;
  std::vector<std::pair<std::string, std::uint32_t>> names_;
  SimTime shown_until_;
  bool full_ = false;
};

}  // namespace podsim
