// Sweeps from a definition to rows in a database, in one thread, with nothing known before the first point: what
// `podsim sweep run FILE -j 1` does, but for the second look on the reference engine.

#include <benchmark/benchmark.h>

#include <cstdint>
#include <filesystem>
#include <string>

#include "bench/experiments.hpp"
#include "sim/study/sweep.hpp"
#include "tools/podsim/sweep_output.hpp"

namespace podsim {
namespace {

SweepIdentity identity_of(const SweepDefinition& sweep) {
  SweepIdentity identity;
  identity.columns = sweep_columns(sweep.space);
  identity.inputs = sweep_inputs(sweep.space);
  identity.points = sweep.space.size();
  return identity;
}

// Every `of`-th point of a file below bench/sweeps.
void sweep(benchmark::State& state, const std::string& name, std::int64_t of) {
  const ConfigFiles configs = ConfigFiles::embedded();
  Diagnostics diagnostics;
  const Experiment written = read_experiment(PODSIM_SOURCE_DIR "/bench/sweeps/" + name + ".toml", configs, diagnostics);
  const SweepDefinition definition = read_sweep(written, {}, bench::catalog(), configs);
  const SweepContext context{definition, bench::catalog(), configs, "native", "bench"};
  const std::string file = std::filesystem::temp_directory_path() / ("podsim-bench-" + name + ".sqlite");
  SweepOptions options;
  options.shard = {1, of};
  std::int64_t points = 0;
  for (auto _ : state) {
    std::filesystem::remove(file);
    SweepStore store = SweepStore::open(file, identity_of(definition));
    StoreSink sink(store);
    points += run_sweep(context, sink, options).visited;
    sink.flush();
    store.finish();
  }
  std::filesystem::remove(file);
  state.SetItemsProcessed(points);
}
BENCHMARK_CAPTURE(sweep, ipu_pipelines, "ipu-pipelines", 8)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sweep, ipu_constants, "ipu-constants", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sweep, rdu_training, "rdu-training", 1)->Unit(benchmark::kMillisecond);
BENCHMARK_CAPTURE(sweep, rdu_generation, "rdu-generation", 1)->Unit(benchmark::kMillisecond);

}  // namespace
}  // namespace podsim
