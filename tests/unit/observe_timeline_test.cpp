// Does the timeline show each part of a program once, its operations where they were and nothing twice?
#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "sim/observe/timeline.hpp"

using namespace podsim;

namespace {

// Two devices with a memory each; a segment in which the first works for 10 ps and then sends for 30 ps.
struct Setup {
  Platform platform;
  Program program;
  std::vector<SimTime> start{SimTime(0), SimTime(10)};
  std::vector<SimTime> finish{SimTime(10), SimTime(40)};

  explicit Setup(std::uint32_t devices = 2) {
    for (std::uint32_t d = 0; d < devices; ++d) {
      platform.add(Device{"d" + std::to_string(d)});
      platform.add(Memory{"d" + std::to_string(d) + ".memory", DeviceId(d), Bytes(100), Bytes(100)});
    }
    platform.add(Link{"l0", bytes_per_second(1)});
    platform.add(Route{"r0", {LinkId(0)}, SimTime(0)});
    CostVector cost;
    cost[CostCategory::compute] = SimTime(7);
    cost[CostCategory::exchange] = SimTime(3);
    program.costs = {cost};
    program.labels = {"multiply", "send"};
    program.always_live = {{MemoryId(0), 0, Bytes(5)}};
    Segment segment;
    segment.name = "cycle";
    Op local;
    local.kind = OpKind::local;
    local.device = DeviceId(0);
    local.cost = CostId(0);
    local.label = LabelId(0);
    Op transfer;
    transfer.kind = OpKind::transfer;
    transfer.category = CostCategory::inter_device;
    transfer.device = DeviceId(0);
    transfer.peer = DeviceId(1);
    transfer.route = RouteId(0);
    transfer.label = LabelId(1);
    segment.ops = {local, transfer};
    segment.memory_steps = {{OpId(0), false, SimTime(2), MemoryId(0), 0, Bytes(20)},
                            {OpId(0), true, SimTime(0), MemoryId(0), 0, Bytes(-20)}};
    program.segments = {segment};
    program.marks["one cycle"] = {SegmentId(0)};
  }

  SegmentRun run(SimTime begin, std::int64_t iterations) const {
    return {platform, program, program.segments[0], SegmentId(0), begin, SimTime(40), iterations, start, finish};
  }
};

Timeline observed(const Setup& setup, const std::vector<std::int64_t>& iterations) {
  TimelineObserver observer;
  observer.begin(setup.platform, setup.program);
  SimTime at;
  for (const std::int64_t count : iterations) {
    observer.segment(setup.run(at, count));
    at += count * SimTime(40);
  }
  observer.end(at);
  return observer.timeline();
}

}  // namespace

TEST_CASE("timeline: parts stand side by side, a repeated one once, with how often it runs") {
  const Timeline timeline = observed(Setup(), {176, 1});
  REQUIRE(timeline.parts.size() == 2);
  CHECK(timeline.parts[0].name == "cycle");
  CHECK(timeline.parts[0].iterations == 176);
  CHECK(timeline.parts[0].duration == SimTime(40));
  CHECK(timeline.parts[1].begin == SimTime(40));
  CHECK(timeline.length == SimTime(80));
}

TEST_CASE("timeline: an operation lies on its device's lane, a transfer on the lanes of both ends") {
  const Timeline timeline = observed(Setup(), {1});
  CHECK(timeline.lanes == std::vector<std::string>{"d0", "d1"});
  REQUIRE(timeline.slices.size() == 3);
  CHECK(timeline.slices[0].lane == 0);
  CHECK_FALSE(timeline.slices[0].transfer);
  CHECK(timeline.slices[0].duration == SimTime(10));
  CHECK(timeline.slices[0].cost[CostCategory::compute] == SimTime(7));
  CHECK(timeline.slices[0].cost[CostCategory::exchange] == SimTime(3));
  CHECK(timeline.labels[timeline.slices[0].label] == "multiply");
  for (const std::size_t s : {1U, 2U}) {
    CHECK(timeline.slices[s].transfer);
    CHECK(timeline.slices[s].lane == s - 1);
    CHECK(timeline.slices[s].begin == SimTime(10));
    CHECK(timeline.slices[s].cost[CostCategory::inter_device] == SimTime(30));
  }
}

TEST_CASE("timeline: a mark of the program is a window over its parts") {
  const Timeline timeline = observed(Setup(), {1, 1});
  REQUIRE(timeline.windows.size() == 1);
  CHECK(timeline.windows[0].name == "one cycle");
  CHECK(timeline.windows[0].begin == SimTime(0));
  CHECK(timeline.windows[0].end == SimTime(80));
}

TEST_CASE("timeline: a memory shows the most that it holds in each interval") {
  const Timeline timeline = observed(Setup(), {1});
  // One segment: 40 intervals of 1 ps. 5 bytes are always live, 20 more from 2 ps to 10 ps.
  REQUIRE(timeline.memories.size() == 1);
  CHECK(timeline.memories[0].name == "d0.memory");
  REQUIRE(timeline.memories[0].most.size() == 40);
  REQUIRE(timeline.instants.size() == 40);
  CHECK(timeline.memories[0].most[1] == Bytes(5));
  CHECK(timeline.memories[0].most[2] == Bytes(25));
  CHECK(timeline.memories[0].most[10] == Bytes(25));  // it still holds them when the interval begins
  CHECK(timeline.memories[0].most[11] == Bytes(5));
}

TEST_CASE("timeline: a device that follows another has no lane, and devices beyond sixteen are counted") {
  Setup setup(20);
  FoldMap fold;
  for (std::uint32_t d = 0; d < 20; ++d) {
    fold.device_representative.emplace_back(d == 1 ? 0U : d);
    fold.memory_representative.emplace_back(d == 1 ? 0U : d);
  }
  setup.program.folds = {fold};
  const Timeline timeline = observed(setup, {1});
  CHECK(timeline.devices_alike == 1);
  CHECK(timeline.lanes.size() == 16);
  CHECK(timeline.lanes[1] == "d2");
  CHECK(timeline.devices_left_out == 3);
}

TEST_CASE("timeline: operations too short to be seen are drawn as one and lose none of their time") {
  Setup setup;
  Segment& segment = setup.program.segments[0];
  segment.ops.assign(100'000, segment.ops[0]);
  segment.memory_steps.clear();
  setup.start.clear();
  setup.finish.clear();
  for (std::int64_t i = 0; i < 100'000; ++i) {
    setup.start.emplace_back(i * 10);
    setup.finish.emplace_back(i * 10 + 10);
  }
  TimelineObserver observer;
  observer.begin(setup.platform, setup.program);
  observer.segment({setup.platform, setup.program, segment, SegmentId(0), SimTime(), SimTime(1'000'000), 1, setup.start,
                    setup.finish});
  observer.end(SimTime(1'000'000));
  const Timeline& timeline = observer.timeline();
  CHECK(timeline.slices.size() <= 800);
  std::int64_t operations = 0;
  SimTime compute;
  for (const TimelineSlice& slice : timeline.slices) {
    operations += slice.operations;
    compute += slice.cost[CostCategory::compute];
  }
  CHECK(operations == 100'000);
  CHECK(compute == SimTime(700'000));
}

TEST_CASE("timeline: what is beyond the limit of parts is counted, not shown") {
  const Timeline timeline = observed(Setup(), std::vector<std::int64_t>(401, 1));
  CHECK(timeline.parts.size() == 400);
  CHECK(timeline.parts_left_out == 1);
}
