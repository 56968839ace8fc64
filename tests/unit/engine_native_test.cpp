#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/engine/native_simulator.hpp"
#include "sim/program/builder.hpp"

using namespace podsim;

namespace {

constexpr std::int64_t k_us = 1'000'000;  // picoseconds

// Links of 1 GB/s: 1 byte takes 1 ns. A route per link and one over all.
struct Bench {
  explicit Bench(std::size_t links, SimTime latency = SimTime(0)) {
    device = platform.add(Device{"d"});
    Route all{"all", {}, latency};
    for (std::size_t i = 0; i < links; ++i) {
      const LinkId link = platform.add(Link{"l" + std::to_string(i), bytes_per_second(1e9)});
      routes.push_back(platform.add(Route{"r" + std::to_string(i), {link}, latency}));
      all.links.push_back(link);
    }
    over_all = platform.add(all);
  }

  OpId send(RouteId route, std::int64_t bytes) {
    return segment.transfer(device, DeviceId::none(), route, Bytes(bytes), CostCategory::exchange, "send");
  }

  OpId work(std::int64_t time) {
    CostVector cost;
    cost[CostCategory::compute] = SimTime(time);
    return segment.local(device, cost, "work");
  }

  void run() {
    builder.add(std::move(segment));
    const Program program = std::move(builder).build({SegmentId(0)});
    verify(program, platform);
    const std::size_t ops = program.segments[0].ops.size();
    start.assign(ops, k_never);
    finish.assign(ops, k_never);
    NativeSimulator simulator;
    simulator.prepare(platform, program);
    CHECK(simulator.simulate(program.segments[0], start, finish) == static_cast<std::int64_t>(ops));
  }

  std::int64_t started(OpId op) const { return start[op.index()].picoseconds(); }
  std::int64_t finished(OpId op) const { return finish[op.index()].picoseconds(); }

  Platform platform;
  DeviceId device;
  std::vector<RouteId> routes;
  RouteId over_all;
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
  std::vector<SimTime> start;
  std::vector<SimTime> finish;
};

}  // namespace

TEST_CASE("native: a flow alone takes its bytes over the bandwidth") {
  Bench bench(1);
  const OpId op = bench.send(bench.routes[0], 1000);
  bench.run();
  CHECK(bench.finished(op) == k_us);
}

TEST_CASE("native: two flows on one link take twice as long") {
  Bench bench(1);
  const OpId a = bench.send(bench.routes[0], 1000);
  const OpId b = bench.send(bench.routes[0], 1000);
  bench.run();
  CHECK(bench.finished(a) == 2 * k_us);
  CHECK(bench.finished(b) == 2 * k_us);
}

TEST_CASE("native: flows of many hours end, though a picosecond more is no other double") {
  Bench bench(1);
  const std::int64_t bytes = 40'000'000'000'000;  // 40,000 s alone: beyond 2^53 ps
  const OpId a = bench.send(bench.routes[0], bytes);
  const OpId b = bench.send(bench.routes[0], bytes);
  bench.run();
  CHECK(bench.finished(a) == 2 * bytes * 1000);
  CHECK(bench.finished(b) == 2 * bytes * 1000);
}

TEST_CASE("native: a flow gets the whole link when the other has ended") {
  Bench bench(1);
  const OpId small = bench.send(bench.routes[0], 500);
  const OpId large = bench.send(bench.routes[0], 1500);
  bench.run();
  CHECK(bench.finished(small) == 2 * 500 * 1000);           // half the link until the end
  CHECK(bench.finished(large) == (2 * 500 + 1000) * 1000);  // 500 moved by then, 1000 left on the whole link
}

TEST_CASE("native: a late flow halves the share of the early one") {
  Bench bench(1);
  const OpId early = bench.send(bench.routes[0], 1000);
  const OpId work = bench.work(k_us / 2);
  const OpId late = bench.send(bench.routes[0], 1000);
  bench.segment.depend(work, late);
  bench.run();
  CHECK(bench.started(late) == k_us / 2);
  CHECK(bench.finished(early) == k_us / 2 + 2 * k_us / 2);  // half done alone, half at half speed
  CHECK(bench.finished(late) == 2 * k_us);                  // the link was never idle: 2000 bytes
}

TEST_CASE("native: a flow over two links leaves each the rest") {
  Bench bench(2);
  const OpId both = bench.send(bench.over_all, 1000);
  const OpId a = bench.send(bench.routes[0], 1000);
  const OpId b = bench.send(bench.routes[1], 3000);
  bench.run();
  // Half of each link for everyone; `both` and `a` end at 2 us, when `b` has 2000 bytes left and its link alone.
  CHECK(bench.finished(both) == 2 * k_us);
  CHECK(bench.finished(a) == 2 * k_us);
  CHECK(bench.finished(b) == 4 * k_us);
}

TEST_CASE("native: what a bottleneck keeps a flow from using goes to the others") {
  Bench bench(2);
  // Three flows share link 0, a third each; link 1 has one of them and one flow of its own, which gets two thirds.
  const OpId crossing = bench.send(bench.over_all, 1000);
  bench.send(bench.routes[0], 1000);
  bench.send(bench.routes[0], 1000);
  const OpId own = bench.send(bench.routes[1], 1000);
  bench.run();
  CHECK(bench.finished(own) == k_us * 3 / 2);
  CHECK(bench.finished(crossing) == 3 * k_us);
}

TEST_CASE("native: the latency passes before the flow takes its share") {
  Bench bench(1, SimTime(k_us));
  const OpId a = bench.send(bench.routes[0], 1000);
  const OpId work = bench.work(k_us / 2);
  const OpId b = bench.send(bench.routes[0], 1000);
  bench.segment.depend(work, b);
  bench.run();
  // On the link a from 1 us, b from 1.5 us: a has 500 bytes left, at half speed to 2.5 us; all 2000 by 3 us.
  CHECK(bench.finished(a) == k_us * 5 / 2);
  CHECK(bench.finished(b) == 3 * k_us);
}

TEST_CASE("native: an empty transfer takes the latency only, however busy the link") {
  Bench bench(1, SimTime(7));
  bench.send(bench.routes[0], 1000);
  bench.send(bench.routes[0], 1000);
  const OpId empty = bench.send(bench.routes[0], 0);
  bench.run();
  CHECK(bench.finished(empty) == 7);
}

TEST_CASE("native: joins and empty locals take no time") {
  Bench bench(1);
  const OpId work = bench.work(5);
  const OpId join = bench.segment.join("join");
  const OpId empty = bench.work(0);
  bench.segment.depend(work, join);
  bench.segment.depend(join, empty);
  const OpId after = bench.send(bench.routes[0], 1);
  bench.segment.depend(empty, after);
  bench.run();
  CHECK(bench.started(join) == 5);
  CHECK(bench.finished(empty) == 5);
  CHECK(bench.finished(after) == 5 + 1000);
}

TEST_CASE("native: simultaneous ends leave no rest to finish") {
  Bench bench(1);
  // 7 equal flows of 3 bytes: shares of a seventh are not exact in binary, the end is: 21 bytes.
  std::vector<OpId> ops;
  for (int i = 0; i < 7; ++i) ops.push_back(bench.send(bench.routes[0], 3));
  bench.run();
  for (const OpId op : ops) CHECK(bench.finished(op) == 21 * 1000);
}

TEST_CASE("native: edges may go to earlier ops") {
  Bench bench(2);
  const OpId second = bench.send(bench.routes[0], 10);
  const OpId first = bench.send(bench.routes[1], 20);
  bench.segment.depend(first, second);
  bench.run();
  CHECK(bench.started(second) == 20 * 1000);
  CHECK(bench.finished(second) == 30 * 1000);
}
