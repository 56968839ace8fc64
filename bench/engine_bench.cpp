#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "sim/engine/engine.hpp"
#include "sim/program/builder.hpp"

// Ops per second of the engines, measures included: locals in chains, and flows that share links.
namespace podsim {
namespace {

CostVector compute(std::int64_t time) {
  CostVector cost;
  cost[CostCategory::compute] = SimTime(time);
  return cost;
}

Platform make_platform(std::uint32_t devices, std::uint32_t links) {
  Platform platform;
  for (std::uint32_t i = 0; i < devices; ++i) platform.add(Device{"device " + std::to_string(i)});
  for (std::uint32_t i = 0; i < links; ++i) platform.add(Link{"link " + std::to_string(i), bytes_per_second(64e9)});
  for (std::uint32_t i = 0; i < links; ++i) {
    const std::string name = "route " + std::to_string(i);
    platform.add(Route{name, {LinkId(i), LinkId((i + 1) % links), LinkId((i + 2) % links)}, SimTime(150'000)});
  }
  return platform;
}

Engine engine_of(const benchmark::State& state) {
  return make_engine(state.range(0) == 0 ? "native" : "simgrid", PODSIM_BUILD_DIR);
}

void run(benchmark::State& state, const Platform& platform, const Program& program) {
  verify(program, platform);
  Engine engine = engine_of(state);
  RunResult result;
  std::int64_t ops = 0;
  for (auto _ : state) {
    engine.run_into(result, platform, program);
    ops += result.events;
  }
  state.SetItemsProcessed(ops);
  state.SetLabel(engine.name());
}

void local_chains(benchmark::State& state) {
  const auto devices = static_cast<std::uint32_t>(state.range(1));
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("chains");
  for (std::uint32_t i = 0; i < 6400; ++i) segment.local(DeviceId(i % devices), compute(1000 + i % 7), "work");
  const SegmentId id = builder.add(std::move(segment));
  run(state, make_platform(devices, 3), std::move(builder).build({id}));
}
BENCHMARK(local_chains)->ArgNames({"engine", "devices"})->ArgsProduct({{0, 1}, {4, 64}});

// 64 senders, each with a chain of transfers over three links of a ring of `links`.
void contended_flows(benchmark::State& state) {
  const auto links = static_cast<std::uint32_t>(state.range(1));
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("flows");
  for (std::uint32_t i = 0; i < 64 * 20; ++i) {
    const OpId send = segment.transfer(DeviceId(i % 64), DeviceId::none(), RouteId((i * 7) % links),
                                       Bytes(100'000 + 1000 * (i % 13)), CostCategory::inter_device, "send");
    segment.chain(send);
  }
  const SegmentId id = builder.add(std::move(segment));
  run(state, make_platform(64, links), std::move(builder).build({id}));
}
BENCHMARK(contended_flows)->ArgNames({"engine", "links"})->ArgsProduct({{0, 1}, {8, 64}});

// The same locals while one pair of transfers shares a link, so that the event heap is needed.
void local_chains_beside_flows(benchmark::State& state) {
  const auto devices = static_cast<std::uint32_t>(state.range(1));
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("chains");
  for (std::uint32_t i = 0; i < 2; ++i) {
    segment.transfer(DeviceId(0), DeviceId::none(), RouteId(i), Bytes(1000), CostCategory::host_io, "send");
  }
  for (std::uint32_t i = 0; i < 6400; ++i) segment.local(DeviceId(i % devices), compute(1000 + i % 7), "work");
  const SegmentId id = builder.add(std::move(segment));
  run(state, make_platform(devices, 3), std::move(builder).build({id}));
}
BENCHMARK(local_chains_beside_flows)->ArgNames({"engine", "devices"})->ArgsProduct({{0, 1}, {4, 64}});

// All at once over a few links, each of them for many: what a bound on simultaneous activities would be about.
void simultaneous_flows(benchmark::State& state) {
  const auto flows = static_cast<std::uint32_t>(state.range(1));
  const std::uint32_t links = flows / 4;
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("flows");
  for (std::uint32_t i = 0; i < flows; ++i) {
    segment.transfer(DeviceId(i % 64), DeviceId::none(), RouteId(i % links), Bytes(100'000 + 1000 * (i % 13)),
                     CostCategory::inter_device, "send");
  }
  const SegmentId id = builder.add(std::move(segment));
  run(state, make_platform(64, links), std::move(builder).build({id}));
}
BENCHMARK(simultaneous_flows)->ArgNames({"engine", "flows"})->ArgsProduct({{0, 1}, {64, 256, 1024}});

// The same flows in pairs that share a link with nobody else.
void simultaneous_pairs(benchmark::State& state) {
  const auto flows = static_cast<std::uint32_t>(state.range(1));
  Platform platform;
  for (std::uint32_t i = 0; i < flows; ++i) platform.add(Device{"device " + std::to_string(i)});
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("pairs");
  for (std::uint32_t i = 0; i < flows / 2; ++i) {
    const LinkId link = platform.add(Link{"link " + std::to_string(i), bytes_per_second(64e9)});
    const RouteId route = platform.add(Route{"route " + std::to_string(i), {link}, SimTime(150'000)});
    for (std::uint32_t k = 0; k < 2; ++k) {
      segment.transfer(DeviceId(2 * i + k), DeviceId::none(), route, Bytes(100'000 + 1000 * (i % 13)),
                       CostCategory::inter_device, "send");
    }
  }
  const SegmentId id = builder.add(std::move(segment));
  run(state, platform, std::move(builder).build({id}));
}
BENCHMARK(simultaneous_pairs)->ArgNames({"engine", "flows"})->ArgsProduct({{0, 1}, {64, 1024}});

// Without measures: what a search that only needs the time pays.
void time_only(benchmark::State& state) {
  const auto devices = static_cast<std::uint32_t>(state.range(1));
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("chains");
  for (std::uint32_t i = 0; i < 6400; ++i) segment.local(DeviceId(i % devices), compute(1000 + i % 7), "work");
  const SegmentId id = builder.add(std::move(segment));
  const Program program = std::move(builder).build({id});
  const Platform platform = make_platform(devices, 3);
  Engine engine = engine_of(state);
  std::int64_t ops = 0;
  for (auto _ : state) ops += engine.time(platform, program).events;
  state.SetItemsProcessed(ops);
  state.SetLabel(engine.name());
}
BENCHMARK(time_only)->ArgNames({"engine", "devices"})->ArgsProduct({{0, 1}, {64}});

// One update of a pipeline of four devices as sweeps see it: 18 small segments, some of them repeated.
void small_segments(benchmark::State& state) {
  ProgramBuilder builder;
  std::vector<ProgramBlock> blocks;
  for (std::uint32_t s = 0; s < 18; ++s) {
    SegmentBuilder segment = builder.segment("cycle");
    for (std::uint32_t i = 0; i < 18; ++i) {
      if (i % 6 != 5) {
        segment.local(DeviceId(i % 4), compute(1000 + i), "work");
      } else {
        segment.chain(segment.transfer(DeviceId(i % 4), DeviceId((i + 1) % 4), RouteId(i % 3), Bytes(1000),
                                       CostCategory::inter_device, "send"));
      }
    }
    const SegmentId id = builder.add(std::move(segment));
    blocks.emplace_back(Repeat{1 + s % 3, "cycles", {id}});
  }
  run(state, make_platform(4, 9), std::move(builder).build(std::move(blocks)));
}
BENCHMARK(small_segments)->ArgNames({"engine"})->Arg(0)->Arg(1);

}  // namespace
}  // namespace podsim
