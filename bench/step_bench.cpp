// Whole steps: what a plan, its lowering and its simulation take, from 16 IPUs to 1 024 without folding, and for RDU
// programs section by section; the all-reduce of a ring with every transfer simulated.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <string>

#include "bench/experiments.hpp"
#include "sim/engine/engine.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/program/builder.hpp"
#include "sim/study/evaluate.hpp"

namespace podsim {
namespace {

constexpr const char* k_engines[] = {"native", "simgrid"};

Plan pods(std::int64_t ipus) {
  if (ipus == 16) return bench::plan_of("bert-large-bow-pod16");
  if (ipus == 64) return bench::plan_of("bert-large-bow-pod64");
  return bench::plan_of("bert-large-bow-pod64", {"system=bow-pod256", "system.nodes=" + std::to_string(ipus / 256),
                                                 "ipu.replication_factor=" + std::to_string(ipus / 4)});
}

void simulate(benchmark::State& state, const Lowered& lowered, EngineOptions options = {}) {
  verify(lowered.program, lowered.platform);
  Engine engine = make_engine(k_engines[state.range(0)], PODSIM_BUILD_DIR);
  RunResult result;
  std::int64_t ops = 0;
  for (auto _ : state) {
    engine.run_into(result, lowered.platform, lowered.program, {}, options);
    ops += result.events;
  }
  state.SetItemsProcessed(ops);
  state.counters["ops"] = static_cast<double>(result.events);
  state.counters["simulated_s"] = result.total.duration().in_base();
  state.SetLabel(engine.name());
}

// Every replica on its own: host links, Streaming Memory and rings are shared as they are.
void unfolded_step(benchmark::State& state) {
  const Plan plan = pods(state.range(1));
  simulate(state, plan.family->lower(plan, {.fold = false}));
}
BENCHMARK(unfolded_step)
    ->ArgNames({"engine", "ipus"})
    ->ArgsProduct({{0, 1}, {16, 64, 256, 1024}})
    ->Unit(benchmark::kMillisecond);

void folded_step(benchmark::State& state) {
  const Plan plan = pods(state.range(1));
  simulate(state, plan.family->lower(plan, {}));
}
BENCHMARK(folded_step)->ArgNames({"engine", "ipus"})->ArgsProduct({{0, 1}, {16, 64}})->Unit(benchmark::kMillisecond);

// o0: an operator a section; o3: what the graph compiler fuses.
void rdu_step(benchmark::State& state) {
  const std::string level = state.range(1) == 0 ? "-o0" : "-o3";
  const Plan plan = bench::plan_of("gpt2-xl-two-sn30", {"rdu.mapping_quality=generated",
                                                        "rdu.compile=python hook.py compile -b 16 " + level +
                                                            " --num-tiles 4 --data-parallel -ws 2 --pef-name=gpt15"});
  simulate(state, plan.family->lower(plan, {}));
}
BENCHMARK(rdu_step)->ArgNames({"engine", "level"})->ArgsProduct({{0, 1}, {0, 3}})->Unit(benchmark::kMicrosecond);

// 2 (n - 1) rounds of n transfers of 64 MiB / n, each round a segment; executed one by one.
void ring_all_reduce(benchmark::State& state) {
  const auto devices = static_cast<std::uint32_t>(state.range(1));
  Lowered lowered;
  for (std::uint32_t i = 0; i < devices; ++i) {
    const std::string number = std::to_string(i);
    lowered.platform.add(Device{"device " + number});
    const LinkId link = lowered.platform.add(Link{"link " + number, bytes_per_second(50e9)});
    lowered.platform.add(Route{"route " + number, {link}, SimTime(500'000)});
  }
  ProgramBuilder builder;
  SegmentBuilder round = builder.segment("round");
  for (std::uint32_t i = 0; i < devices; ++i) {
    round.transfer(DeviceId(i), DeviceId((i + 1) % devices), RouteId(i), Bytes((64 << 20) / devices),
                   CostCategory::collective, "chunk");
  }
  const SegmentId id = builder.add(std::move(round));
  lowered.program = std::move(builder).build({Repeat{2 * (devices - 1), "rounds", {id}}});
  simulate(state, lowered, {.exact = true});
}
BENCHMARK(ring_all_reduce)
    ->ArgNames({"engine", "devices"})
    ->ArgsProduct({{0, 1}, {16, 64, 256, 1024}})
    ->Unit(benchmark::kMillisecond);

void plan(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(pods(state.range(0)));
}
BENCHMARK(plan)->ArgName("ipus")->Arg(64)->Arg(1024)->Unit(benchmark::kMicrosecond);

void lower(benchmark::State& state) {
  const Plan plan = pods(state.range(0));
  const LowerOptions options{.fold = state.range(1) != 0};
  for (auto _ : state) benchmark::DoNotOptimize(plan.family->lower(plan, options));
}
BENCHMARK(lower)->ArgNames({"ipus", "fold"})->ArgsProduct({{64, 1024}, {0, 1}})->Unit(benchmark::kMicrosecond);

// Points of a grid over micro-batch, placement, checkpoints and accumulation, each with what the ones before left:
// what a sweep pays for a point before it writes it down. Caches are empty at the first.
void sweep_point(benchmark::State& state) {
  const ConfigFiles configs = ConfigFiles::embedded();
  Diagnostics diagnostics;
  const Experiment base =
      read_experiment(state.range(0) == 16 ? "bert-large-bow-pod16" : "bert-large-bow-pod64", configs, diagnostics);
  const auto value = [](const std::string& text) { return parse_override_value(text, {"command line", 0, 0}); };
  const std::vector<std::pair<std::string, std::vector<Value>>> axes = {
      {"workload.micro_batch_size", {value("1"), value("2"), value("4")}},
      {"ipu.layers_per_ipu", {value("[3, 7, 7, 7]"), value("[4, 6, 7, 7]"), value("[5, 6, 6, 7]")}},
      {"ipu.recompute_checkpoint_every_layer", {value("true"), value("false")}}};
  PlanCache cache;
  Engine engine = make_engine("native");
  PointStorage storage;
  std::size_t point = 0;
  for (auto _ : state) {
    Experiment experiment = base;
    std::size_t rest = point / 100;  // accumulation is the innermost axis
    for (const auto& [key, values] : axes) {
      apply_value(experiment, key, values[rest % values.size()], diagnostics);
      rest /= values.size();
    }
    const auto accumulation = static_cast<std::int64_t>(64 + point % 100 + rest % 1000 * 100);
    apply_value(experiment, "ipu.gradient_accumulation_steps", Value::integer(accumulation, {"command line", 0, 0}),
                diagnostics);
    const PlanResult made = make_plan(experiment, bench::catalog(), configs, cache);
    benchmark::DoNotOptimize(evaluate_point(*made.plan, engine, storage));
    ++point;
  }
  state.SetItemsProcessed(state.iterations());
}
BENCHMARK(sweep_point)->ArgName("ipus")->Arg(16)->Arg(64)->Unit(benchmark::kMicrosecond);

void merge_program(benchmark::State& state) {
  const Plan plan = pods(64);
  const Lowered lowered = plan.family->lower(plan, {});
  for (auto _ : state) benchmark::DoNotOptimize(merge(lowered.program));
}
BENCHMARK(merge_program)->Unit(benchmark::kMicrosecond);

}  // namespace
}  // namespace podsim
