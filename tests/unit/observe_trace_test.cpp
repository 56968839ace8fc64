#include <doctest/doctest.h>

#include <algorithm>
#include <vector>

#include "sim/observe/trace.hpp"

using namespace podsim;

namespace {

// Two devices, one link, a memory on each device; a segment with a local op and two transfers that overlap.
struct Setup {
  Platform platform;
  Program program;
  std::vector<SimTime> start{SimTime(0), SimTime(10), SimTime(20)};
  std::vector<SimTime> finish{SimTime(10), SimTime(40), SimTime(50)};

  Setup() {
    platform.add(Device{"d0"});
    platform.add(Device{"d1"});
    platform.add(Memory{"m0", DeviceId(0), Bytes(100), Bytes(100)});
    platform.add(Memory{"m1", DeviceId(1), Bytes(100), Bytes(100)});
    platform.add(Link{"l0", bytes_per_second(1)});
    platform.add(Link{"l1", bytes_per_second(1)});
    platform.add(Route{"r0", {LinkId(0)}, SimTime(0)});
    CostVector cost;
    cost[CostCategory::compute] = SimTime(7);
    cost[CostCategory::exchange] = SimTime(3);
    program.costs = {cost};
    program.labels = {"multiply", "send"};
    program.always_live = {{MemoryId(0), 0, Bytes(5)}};
    Segment segment;
    segment.name = "cycle 17";
    Op local;
    local.kind = OpKind::local;
    local.device = DeviceId(0);
    local.cost = CostId(0);
    local.label = LabelId(0);
    Op transfer;
    transfer.kind = OpKind::transfer;
    transfer.category = CostCategory::inter_device;
    transfer.device = DeviceId(0);
    transfer.route = RouteId(0);
    transfer.bytes = Bytes(64);
    transfer.label = LabelId(1);
    segment.ops = {local, transfer, transfer};
    segment.memory_steps = {{OpId(0), false, SimTime(2), MemoryId(0), 0, Bytes(20)},
                            {OpId(0), true, SimTime(0), MemoryId(0), 0, Bytes(-20)}};
    program.segments = {segment};
    program.blocks = {SegmentId(0)};
  }

  SegmentRun run(SimTime begin, std::int64_t iterations) const {
    return {platform, program, program.segments[0], SegmentId(0), begin, SimTime(50), iterations, start, finish};
  }
};

std::vector<TraceSlice> slices_on(const Trace& trace, const std::string& track) {
  std::vector<TraceSlice> result;
  for (const TraceSlice& slice : trace.slices) {
    if (trace.tracks[slice.track].name == track) result.push_back(slice);
  }
  return result;
}

}  // namespace

TEST_CASE("trace observer: ops become slices of their device or link") {
  const Setup setup;
  TraceObserver observer;
  observer.begin(setup.platform, setup.program);
  observer.segment(setup.run(SimTime(1000), 1));
  observer.end(SimTime(1050));
  const Trace& trace = observer.trace();
  const auto on_device = slices_on(trace, "d0");
  REQUIRE(on_device.size() == 1);
  CHECK(on_device[0].begin == SimTime(1000));
  CHECK(on_device[0].duration == SimTime(10));
  CHECK(on_device[0].category == CostCategory::compute);
  CHECK(trace.names[on_device[0].name] == "multiply");
  CHECK(slices_on(trace, "d1").empty());
  CHECK(trace.total == SimTime(1050));
}

TEST_CASE("trace observer: transfers that share a link get a lane each") {
  const Setup setup;
  TraceObserver observer;
  observer.begin(setup.platform, setup.program);
  observer.segment(setup.run(SimTime(0), 1));
  const Trace& trace = observer.trace();
  REQUIRE(slices_on(trace, "l0").size() == 1);
  REQUIRE(slices_on(trace, "l0 (shared 2)").size() == 1);
  CHECK(slices_on(trace, "l0")[0].begin == SimTime(10));
  CHECK(slices_on(trace, "l0 (shared 2)")[0].begin == SimTime(20));
  CHECK(slices_on(trace, "l0")[0].bytes == Bytes(64));
}

TEST_CASE("trace observer: a repeated segment is shown once and named so, the time of the others as a gap") {
  const Setup setup;
  TraceObserver observer;
  observer.begin(setup.platform, setup.program);
  observer.segment(setup.run(SimTime(0), 176));
  observer.segment(setup.run(SimTime(176 * 50), 1));
  const Trace& trace = observer.trace();
  const auto program = slices_on(trace, "program");
  REQUIRE(program.size() == 3);
  CHECK(trace.names[program[0].name] == "cycle 17 (1 of 176)");
  CHECK(trace.names[program[1].name] == "further iterations");
  CHECK(program[1].begin == SimTime(50));
  CHECK(program[1].duration == SimTime(175 * 50));
  CHECK(trace.names[program[2].name] == "cycle 17");
}

TEST_CASE("trace observer: a device or link that another is simulated for says so") {
  Setup setup;
  FoldMap fold;
  fold.device_representative = {DeviceId(0), DeviceId(0)};
  fold.link_representative = {LinkId(0), LinkId(0)};
  fold.memory_representative = {MemoryId(0), MemoryId(0)};
  setup.program.folds = {fold};
  setup.program.segments[0].fold = FoldId(0);
  TraceObserver observer;
  observer.begin(setup.platform, setup.program);
  observer.segment(setup.run(SimTime(0), 3));
  const Trace& trace = observer.trace();
  CHECK(trace.tracks[1].same_as.empty());
  CHECK(trace.tracks[2].name == "d1");
  CHECK(trace.tracks[2].same_as == "d0");
  CHECK(trace.tracks[4].name == "l1");
  CHECK(trace.tracks[4].same_as == "l0");
  CHECK(slices_on(trace, "program")[0].iterations == 3);
  CHECK(slices_on(trace, "d1").size() == slices_on(trace, "d0").size());
}

TEST_CASE("trace observer: memory levels start with what is always live and follow the steps") {
  const Setup setup;
  TraceObserver observer;
  observer.begin(setup.platform, setup.program);
  observer.segment(setup.run(SimTime(1000), 1));
  const auto& levels = observer.trace().levels;
  REQUIRE(levels.size() == 4);
  CHECK(levels[0].bytes == Bytes(5));  // m0
  CHECK(levels[1].bytes == Bytes(0));  // m1
  CHECK(levels[2].at == SimTime(1002));
  CHECK(levels[2].bytes == Bytes(25));
  CHECK(levels[3].at == SimTime(1010));
  CHECK(levels[3].bytes == Bytes(5));
}

TEST_CASE("trace observer: folded segments show on every device, link and memory they stand for") {
  Setup setup;
  setup.program.folds = {{{DeviceId(0), DeviceId(0)}, {LinkId(0), LinkId(0)}, {MemoryId(0), MemoryId(0)}}};
  setup.program.segments[0].fold = FoldId(0);
  TraceObserver observer;
  observer.begin(setup.platform, setup.program);
  observer.segment(setup.run(SimTime(0), 1));
  const Trace& trace = observer.trace();
  CHECK(slices_on(trace, "d0").size() == 1);
  CHECK(slices_on(trace, "d1").size() == 1);
  CHECK(slices_on(trace, "l1").size() == 1);
  CHECK(std::count_if(trace.levels.begin(), trace.levels.end(), [](const TraceLevel& l) { return l.memory == 1; }) ==
        3);
}

TEST_CASE("trace observer: segments beyond the limit are counted and left out whole") {
  const Setup setup;
  // Each segment gives 4 slices and 2 levels; 2 levels stand at the start.
  TraceObserver observer(8);
  observer.begin(setup.platform, setup.program);
  observer.segment(setup.run(SimTime(0), 1));
  observer.segment(setup.run(SimTime(50), 1));
  observer.segment(setup.run(SimTime(100), 1));
  const Trace& trace = observer.trace();
  CHECK(trace.slices.size() == 4);
  CHECK(trace.levels.size() == 4);
  CHECK(trace.left_out == 6 + 3);
  CHECK(trace.limit == 8);
}
