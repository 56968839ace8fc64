#include <doctest/doctest.h>

#include <string>

#include "sim/engine/engine.hpp"
#include "sim/program/builder.hpp"

using namespace podsim;

namespace {

CostVector cost_of(CostCategory category, std::int64_t time) {
  CostVector cost;
  cost[category] = SimTime(time);
  return cost;
}

// `count` devices, each with a memory and a link of 1 byte per nanosecond with a route over it.
struct Bench {
  explicit Bench(std::uint32_t count, SimTime latency = SimTime(0)) {
    for (std::uint32_t i = 0; i < count; ++i) {
      platform.add(Device{"d" + std::to_string(i)});
      platform.add(Memory{"m" + std::to_string(i), DeviceId(i), Bytes(1000), Bytes(1000)});
      const LinkId link = platform.add(Link{"l" + std::to_string(i), bytes_per_second(1e9)});
      platform.add(Route{"r" + std::to_string(i), {link}, latency});
    }
  }

  OpId work(std::uint32_t device, CostCategory category, std::int64_t time) {
    return segment.local(DeviceId(device), cost_of(category, time), "work");
  }

  OpId send(std::uint32_t from, DeviceId to, std::int64_t bytes, CostCategory category) {
    return segment.transfer(DeviceId(from), to, RouteId(from), Bytes(bytes), category, "send");
  }

  RunResult run(std::int64_t times = 1) {
    const SegmentId id = builder.add(std::move(segment));
    const Program program = std::move(builder).build({Repeat{times, "times", {id}}});
    verify(program, platform);
    return make_engine("native").run(platform, program);
  }

  Platform platform;
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
};

std::int64_t part(const RunResult& result, std::size_t device, CostCategory category) {
  return result.devices[device].breakdown[category].picoseconds();
}

}  // namespace

TEST_CASE("measure: a local is split by its costs") {
  Bench bench(1);
  CostVector cost = cost_of(CostCategory::compute, 30);
  cost[CostCategory::sync] = SimTime(12);
  bench.segment.local(DeviceId(0), cost, "work");
  const RunResult result = bench.run(5);
  CHECK(result.total == SimTime(5 * 42));
  CHECK(part(result, 0, CostCategory::compute) == 5 * 30);
  CHECK(part(result, 0, CostCategory::sync) == 5 * 12);
  CHECK(result.devices[0].busy == SimTime(5 * 42));
}

TEST_CASE("measure: waiting for another device's work is a bubble") {
  Bench bench(2);
  const OpId first = bench.work(0, CostCategory::compute, 100);
  const OpId join = bench.segment.join("join");
  bench.segment.depend(first, join);
  const OpId second = bench.work(1, CostCategory::compute, 40);
  bench.segment.depend(join, second);
  const RunResult result = bench.run();
  CHECK(part(result, 1, CostCategory::bubble) == 100);
  CHECK(part(result, 1, CostCategory::compute) == 40);
  CHECK(part(result, 0, CostCategory::bubble) == 40);  // the end of the segment
  CHECK(result.devices[0].busy == SimTime(100));
}

TEST_CASE("measure: waiting for a transfer is charged to what it is for") {
  Bench bench(2);
  const OpId host = bench.send(0, DeviceId::none(), 2, CostCategory::host_io);
  const OpId join = bench.segment.join("join");
  bench.segment.depend(host, join);
  const OpId work = bench.work(1, CostCategory::compute, 500);
  bench.segment.depend(join, work);
  const RunResult result = bench.run();
  CHECK(part(result, 0, CostCategory::host_io) == 2000);  // its own
  CHECK(part(result, 1, CostCategory::host_io) == 2000);  // waited for
  CHECK(result.devices[1].busy == SimTime(500));
}

TEST_CASE("measure: of two predecessors that end together a transfer is charged before a local") {
  Bench bench(3);
  const OpId local = bench.work(0, CostCategory::compute, 1000);
  const OpId sent = bench.send(1, DeviceId::none(), 1, CostCategory::collective);
  const OpId work = bench.work(2, CostCategory::compute, 1);
  bench.segment.depend(local, work);
  bench.segment.depend(sent, work);
  const RunResult result = bench.run();
  CHECK(part(result, 2, CostCategory::collective) == 1000);
}

TEST_CASE("measure: a transfer occupies its peer as well") {
  Bench bench(2);
  bench.send(0, DeviceId(1), 3, CostCategory::inter_device);
  const RunResult result = bench.run();
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(part(result, i, CostCategory::inter_device) == 3000);
    CHECK(result.devices[i].busy == SimTime(3000));
  }
}

TEST_CASE("measure: of overlapping transfers the first to start is charged") {
  Bench bench(2);
  bench.send(0, DeviceId::none(), 4, CostCategory::host_io);  // 0 to 4000
  const OpId work = bench.work(1, CostCategory::compute, 1000);
  const OpId late = bench.send(1, DeviceId(0), 5, CostCategory::inter_device);  // 1000 to 6000
  bench.segment.depend(work, late);
  const RunResult result = bench.run();
  CHECK(part(result, 0, CostCategory::host_io) == 4000);
  CHECK(part(result, 0, CostCategory::inter_device) == 6000 - 4000);
}

TEST_CASE("measure: a local hides the transfers behind it") {
  Bench bench(1);
  bench.send(0, DeviceId::none(), 5, CostCategory::host_io);  // 0 to 5000
  bench.work(0, CostCategory::compute, 2000);
  const RunResult result = bench.run();
  CHECK(part(result, 0, CostCategory::compute) == 2000);
  CHECK(part(result, 0, CostCategory::host_io) == 3000);
}

TEST_CASE("measure: a device without ops waits for what ends last") {
  Bench bench(3);
  bench.work(0, CostCategory::compute, 700);
  bench.send(1, DeviceId::none(), 1, CostCategory::off_chip_memory);  // ends last, at 1000
  const RunResult result = bench.run();
  CHECK(part(result, 2, CostCategory::off_chip_memory) == 1000);
  CHECK(part(result, 0, CostCategory::off_chip_memory) == 300);
  CHECK(result.devices[2].busy == SimTime(0));
}

TEST_CASE("measure: links carry bytes and are busy while a flow is on them") {
  Bench bench(1, SimTime(50));
  const OpId a = bench.send(0, DeviceId::none(), 2, CostCategory::host_io);
  const OpId b = bench.send(0, DeviceId::none(), 2, CostCategory::host_io);
  const OpId c = bench.send(0, DeviceId::none(), 1, CostCategory::host_io);
  bench.segment.depend(a, c);
  bench.segment.depend(b, c);
  bench.send(0, DeviceId::none(), 0, CostCategory::host_io);
  const RunResult result = bench.run(10);
  CHECK(result.links[0].bytes == Bytes(10 * 5));
  CHECK(result.links[0].busy == SimTime(10 * 5 * 1000));  // the latencies not
  CHECK(result.total == SimTime(10 * (50 + 4000 + 50 + 1000)));
}

TEST_CASE("measure: a peak of memory has its first instant and its categories") {
  Bench bench(1);
  const MemoryCategory weights = bench.builder.memory_category("weights");
  const MemoryCategory stash = bench.builder.memory_category("stash");
  bench.builder.always_live(MemoryId(0), weights, Bytes(100));
  const OpId a = bench.work(0, CostCategory::compute, 10);
  const OpId b = bench.work(0, CostCategory::compute, 10);
  bench.segment.memory_at_start(a, MemoryId(0), stash, Bytes(30));
  bench.segment.memory_at_finish(a, MemoryId(0), stash, Bytes(-30));
  bench.segment.memory_at_start(b, MemoryId(0), stash, Bytes(40));
  bench.segment.memory_at_finish(b, MemoryId(0), stash, Bytes(-40));
  const RunResult result = bench.run(3);
  const MemoryUse& use = result.memories[0];
  CHECK(use.always_live == Bytes(100));
  CHECK(use.peak == Bytes(100 + 40));  // 30 are released at the instant at which 40 are taken
  CHECK(use.peak_time == SimTime(10));
  CHECK(use.categories_at_peak == std::vector{Bytes(100), Bytes(40)});
}

TEST_CASE("measure: a memory that never changes peaks at what is always live from the start") {
  Bench bench(1);
  bench.builder.always_live(MemoryId(0), bench.builder.memory_category("weights"), Bytes(100));
  bench.work(0, CostCategory::compute, 10);
  const RunResult result = bench.run();
  CHECK(result.memories[0].peak == Bytes(100));
  CHECK(result.memories[0].peak_time == SimTime(0));
}

TEST_CASE("measure: memory taken in one segment counts in the next") {
  Bench bench(1);
  const MemoryCategory stash = bench.builder.memory_category("stash");
  const OpId take = bench.work(0, CostCategory::compute, 10);
  bench.segment.memory_at_start(take, MemoryId(0), stash, Bytes(60));
  bench.builder.add(std::move(bench.segment));
  SegmentBuilder second = bench.builder.segment("second");
  const OpId more = second.local(DeviceId(0), cost_of(CostCategory::compute, 10), "more");
  second.memory_at_start(more, MemoryId(0), stash, Bytes(5));
  second.memory_at_finish(more, MemoryId(0), stash, Bytes(-65));
  bench.builder.add(std::move(second));
  const Program program = std::move(bench.builder).build({SegmentId(0), SegmentId(1)});
  verify(program, bench.platform);
  const RunResult result = make_engine("native").run(bench.platform, program);
  CHECK(result.memories[0].peak == Bytes(65));
  CHECK(result.memories[0].peak_time == SimTime(10));
}

TEST_CASE("measure: folded and full programs measure the same") {
  // Two devices compute the same with a buffer each; then an unfolded exchange where memory 1 alone grows.
  const auto run = [](bool folded) {
    Bench bench(2);
    const MemoryCategory stash = bench.builder.memory_category("stash");
    bench.builder.always_live(MemoryId(1), stash, Bytes(9));
    for (std::uint32_t i = 0; i < (folded ? 1U : 2U); ++i) {
      const OpId work = bench.work(i, CostCategory::compute, 1000);
      const OpId send = bench.send(i, DeviceId::none(), 1, CostCategory::host_io);
      bench.segment.depend(work, send);
      bench.segment.memory_at_start(work, MemoryId(i), stash, Bytes(50));
      bench.segment.memory_at_finish(work, MemoryId(i), stash, Bytes(-50));
    }
    if (folded) {
      bench.segment.fold(
          bench.builder.fold({{DeviceId(0), DeviceId(0)}, {LinkId(0), LinkId(0)}, {MemoryId(0), MemoryId(0)}}));
    }
    const SegmentId compute = bench.builder.add(std::move(bench.segment));
    SegmentBuilder exchange = bench.builder.segment("exchange");
    const OpId send =
        exchange.transfer(DeviceId(0), DeviceId(1), RouteId(0), Bytes(3), CostCategory::collective, "send");
    exchange.memory_at_start(send, MemoryId(1), stash, Bytes(70));
    exchange.memory_at_finish(send, MemoryId(1), stash, Bytes(-70));
    const SegmentId id = bench.builder.add(std::move(exchange));
    const Program program =
        std::move(bench.builder).build({Repeat{4, "updates", {Repeat{3, "cycles", {compute}}, id}}});
    verify(program, bench.platform);
    return make_engine("native").run(bench.platform, program);
  };
  const RunResult folded = run(true);
  const RunResult full = run(false);
  CHECK(folded.folded);
  CHECK_FALSE(full.folded);
  CHECK(folded.total == full.total);
  CHECK(folded.memories[0].peak == Bytes(50));
  CHECK(folded.memories[1].peak == Bytes(9 + 70));
  for (std::size_t i = 0; i < 2; ++i) {
    CHECK(folded.devices[i].breakdown == full.devices[i].breakdown);
    CHECK(folded.devices[i].busy == full.devices[i].busy);
    CHECK(folded.links[i].bytes == full.links[i].bytes);
    CHECK(folded.links[i].busy == full.links[i].busy);
    CHECK(folded.memories[i].peak == full.memories[i].peak);
    CHECK(folded.memories[i].peak_time == full.memories[i].peak_time);
    CHECK(folded.memories[i].categories_at_peak == full.memories[i].categories_at_peak);
  }
}
