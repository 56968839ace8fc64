#include <doctest/doctest.h>

#include <string>

#include "sim/engine/engine.hpp"
#include "sim/observe/critical_path.hpp"
#include "sim/program/builder.hpp"

using namespace podsim;

namespace {

// Two devices; a link of 1 byte per nanosecond and one of 2, a route over each and one over both, 5 ps of latency.
struct Bench {
  Bench() {
    for (int i = 0; i < 2; ++i) platform.add(Device{"d" + std::to_string(i)});
    const LinkId slow = platform.add(Link{"slow", bytes_per_second(1e9)});
    const LinkId fast = platform.add(Link{"fast", bytes_per_second(2e9)});
    platform.add(Route{"r0", {slow}, SimTime(5)});
    platform.add(Route{"r1", {fast}, SimTime(5)});
    platform.add(Route{"both", {fast, slow}, SimTime(5)});
  }

  OpId work(std::uint32_t device, std::int64_t time, const std::string& label) {
    CostVector cost;
    cost[CostCategory::compute] = SimTime(time);
    return segment.local(DeviceId(device), cost, label);
  }

  OpId send(std::uint32_t route, std::int64_t bytes) {
    return segment.transfer(DeviceId(0), DeviceId::none(), RouteId(route), Bytes(bytes), CostCategory::exchange,
                            "send");
  }

  void build(std::int64_t times) {
    const SegmentId id = builder.add(std::move(segment));
    program = std::move(builder).build({Repeat{times, "times", {id}}});
    verify(program, platform);
  }

  CriticalPathObserver observe() const {
    CriticalPathObserver observer;
    Observer* const observers[] = {&observer};
    make_engine("native").run(platform, program, observers);
    return observer;
  }

  Platform platform;
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
  Program program;
};

}  // namespace

TEST_CASE("lower bound: a transfer takes its latency and its bytes over the slowest link") {
  Bench bench;
  bench.send(2, 10);
  bench.build(3);
  const LowerBound bound(bench.platform, bench.program);
  CHECK(bound.total() == SimTime(3 * (5 + 10'000)));
  CHECK(bound.without(LinkId(0)) == SimTime(3 * (5 + 5'000)));   // the fast link is left
  CHECK(bound.without(LinkId(1)) == SimTime(3 * (5 + 10'000)));  // the slow one holds it up
}

TEST_CASE("lower bound: without a device another path remains") {
  Bench bench;
  bench.work(0, 100, "long");
  bench.work(1, 70, "short");
  bench.build(2);
  const LowerBound bound(bench.platform, bench.program);
  CHECK(bound.total() == SimTime(200));
  CHECK(bound.without(DeviceId(0)) == SimTime(140));
  CHECK(bound.without(DeviceId(1)) == SimTime(200));
}

TEST_CASE("lower bound: one label of a device can be left out") {
  Bench bench;
  bench.work(0, 100, "a");
  bench.work(0, 30, "b");
  bench.work(1, 120, "other");
  bench.build(1);
  const LowerBound bound(bench.platform, bench.program);
  CHECK(bound.without(DeviceId(0), LabelId(0)) == SimTime(120));
  CHECK(bound.without(DeviceId(0), LabelId(1)) == SimTime(120));
  CHECK(bound.without(DeviceId(1), LabelId(2)) == SimTime(130));
  CHECK(bound.starts(SegmentId(0))[1] == SimTime(100));
}

TEST_CASE("lower bound: empty transfers take their latency with or without the link") {
  Bench bench;
  bench.send(0, 0);
  bench.build(1);
  const LowerBound bound(bench.platform, bench.program);
  CHECK(bound.total() == SimTime(5));
  CHECK(bound.without(LinkId(0)) == SimTime(5));
}

TEST_CASE("critical path: follows what released each op, through joins, over all iterations") {
  Bench bench;
  const OpId first = bench.work(0, 100, "first");
  bench.work(1, 70, "beside");
  const OpId join = bench.segment.join("join");
  const OpId last = bench.send(0, 10);
  bench.segment.depend(first, join);
  bench.segment.depend(join, last);
  bench.build(4);
  const CriticalPathObserver observer = bench.observe();
  const CriticalPath& path = observer.path();
  REQUIRE(path.ops.size() == 2);
  CHECK(path.ops[0].resource == Resource(LinkId(0)));
  CHECK(path.ops[0].count == 4);
  CHECK(path.ops[0].time == SimTime(4 * 10'005));
  CHECK(path.ops[0].sharing == SimTime(0));
  CHECK(path.ops[0].saves == SimTime(4 * 10'000));
  CHECK(path.ops[1].resource == Resource(DeviceId(0)));
  CHECK(path.ops[1].time == SimTime(400));
  CHECK(path.ops[1].saves == SimTime(400));
  CHECK(path.total == path.bound);
}

TEST_CASE("critical path: says what sharing took") {
  Bench bench;
  bench.send(0, 10);
  bench.send(0, 10);
  bench.build(1);
  const CriticalPathObserver observer = bench.observe();
  CHECK(observer.path().ops[0].time == SimTime(20'005));
  CHECK(observer.path().ops[0].sharing == SimTime(10'000));
  CHECK(observer.path().bound == SimTime(10'005));
}

TEST_CASE("critical path: a representative stands for those that do the same") {
  Bench bench;
  FoldMap fold;
  fold.device_representative = {DeviceId(0), DeviceId(0)};
  fold.link_representative = {LinkId(0), LinkId(1)};
  bench.segment.fold(bench.builder.fold(fold));
  bench.work(0, 100, "work");
  bench.build(1);
  const CriticalPathObserver observer = bench.observe();
  REQUIRE(observer.path().resources.size() == 1);
  CHECK(observer.path().resources[0].name == "d0");
  CHECK(observer.path().resources[0].stands_for == 2);
}

TEST_CASE("critical path: its tables have the figures") {
  Bench bench;
  bench.work(0, 1'000'000, "long");
  bench.build(2);
  const CriticalPathObserver observer = bench.observe();
  const std::vector<Table>& tables = observer.tables();
  REQUIRE(tables.size() == 3);
  CHECK(tables[0].name == "critical_path");
  CHECK(std::get<double>(tables[0].rows[0][0]) == doctest::Approx(2e-6));
  CHECK(std::get<std::string>(tables[1].rows[0][0]) == "d0");
  CHECK(std::get<double>(tables[1].rows[0][3]) == doctest::Approx(100.0));
  CHECK(std::get<std::string>(tables[2].rows[0][0]) == "long");
  CHECK(std::get<std::int64_t>(tables[2].rows[0][2]) == 2);
  CHECK(std::get<double>(tables[2].rows[0][5]) == doctest::Approx(2e-6));
}

TEST_CASE("critical path: keeps the longest ops and counts the others") {
  Bench bench;
  for (int i = 1; i <= 5; ++i) bench.work(0, 10 * i, "op" + std::to_string(i));
  bench.build(1);
  CriticalPathObserver observer(2);
  Observer* const observers[] = {&observer};
  make_engine("native").run(bench.platform, bench.program, observers);
  REQUIRE(observer.path().ops.size() == 2);
  CHECK(observer.path().ops[0].time == SimTime(50));
  CHECK(observer.path().further_ops == 3);
}
