// A point of a sweep, made with what earlier points left and told in values only, is the point made alone.
#include <doctest/doctest.h>
#include <algorithm>

#include <string>
#include <vector>

#include "models/catalog.hpp"
#include "sim/core/random.hpp"
#include "sim/plan/experiment.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/study/evaluate.hpp"
#include "tests/support/random_program.hpp"

using namespace podsim;

namespace {

struct Axis {
  std::string key;
  std::vector<std::string> values;
};

struct Space {
  std::string experiment;
  std::vector<Axis> axes;
};

const std::vector<Space>& spaces() {
  static const std::vector<Space> k_spaces = {
      {"bert-large-bow-pod64",
       {{"ipu.gradient_accumulation_steps", {"9", "64", "512", "1000"}},
        {"workload.micro_batch_size", {"1", "4", "8", "64"}},
        {"ipu.layers_per_ipu", {"[3, 7, 7, 7]", "[4, 6, 7, 7]", "[6, 6, 6, 6]", "[3, 7, 7]"}},
        {"ipu.recompute_checkpoint_every_layer", {"true", "false"}},
        {"ipu.replicated_tensor_sharding", {"true", "false"}},
        {"ipu.optimizer_state_offchip", {"true", "false"}},
        {"ipu.replication_factor", {"1", "4", "16"}},
        {"ipu.matmul_proportion", {"0.2", "0.6", "[0.1, 0.2, 0.3, 0.4]"}},
        {"system", {"bow-pod64", "pod64"}},
        {"system.ipu_link.bandwidth", {"\"60 GB/s\"", "\"61 GB/s\""}},
        {"system.streaming.memory", {"\"1 GB\"", "\"900 GB\""}},
        {"system.sharding.minimum_elements", {"8192", "100"}},
        {"software.update_overhead", {"\"1 ms\"", "\"2 ms\""}},
        {"software.framework_factor", {"1.0", "1.1"}},
        {"cost.launch", {"\"1000 cycles\"", "\"2000 cycles\""}},
        {"memory.plan_tolerance", {"0.02", "0.3"}},
        {"chip.clock", {"\"1.5 GHz\"", "\"1.85 GHz\""}}}},
      {"gpt2-caraml-pod4",
       {{"ipu.gradient_accumulation_steps", {"16", "64", "3"}},
        {"workload.sequence_length", {"128", "512", "1000"}},
        {"system.slowdown.ipu1", {"1.0", "1.3"}},
        {"memory.usable_fraction", {"0.9", "0.5"}},
        {"ipu.auto_loss_scaling", {"true", "false"}}}},
      {"resnet50-bow-pod16",
       {{"workload.micro_batch_size", {"8", "12"}},
        {"ipu.gradient_accumulation_steps", {"4", "8"}},
        {"software.framework_factor", {"1.0", "1.1"}},
        {"system.ring.one_ipu_bandwidth", {"\"60 GB/s\"", "\"61 GB/s\""}}}},
      {"bert-large-squad-bow-pod16",
       {{"workload.micro_batch_size", {"1", "2", "3"}},
        {"workload.sequence_length", {"128", "384"}},
        {"workload.recompute", {"true", "false"}}}},
      {"vit-base-bow-pod16",
       {{"workload.mode", {"training", "inference"}}, {"ipu.device_iterations", {"1", "8", "16"}}}},
      {"gpt2-xl-two-sn30",
       {{"workload.recompute", {"true", "false"}},
        {"rdu.replicas", {"32", "16"}},
        {"rdu.mapping_quality", {"generated", "human-decision"}},
        {"system.network.bandwidth", {"\"5 GB/s\"", "\"20 GB/s\""}}}},
      {"llama-3-70b-sn40l-8", {{"workload.batch_size", {"1", "8", "16"}}, {"workload.input_tokens", {"128", "1024"}}}},
  };
  return k_spaces;
}

Experiment point_of(const Space& space, const ConfigFiles& configs, Random& random) {
  Diagnostics diagnostics;
  Experiment experiment = read_experiment(space.experiment, configs, diagnostics);
  for (const Axis& axis : space.axes) {
    if (random.below(3) == 0) continue;
    apply_override(experiment, axis.key + "=" + axis.values[random.below(axis.values.size())], diagnostics);
  }
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.to_text());
  return experiment;
}

std::vector<std::string> without_events(std::vector<std::string> row) {
  const std::vector<std::string> header = csv_header();
  row.erase(row.begin() + (std::ranges::find(header, "events") - header.begin()));  // the number of ops
  return row;
}

}  // namespace

TEST_CASE("fast path: a point with a cache, in values, is the point alone, in full") {
  const ConfigFiles configs = ConfigFiles::embedded();
  const Catalog catalog = make_catalog();
  PlanCache cache;
  Engine engine = make_engine("native");
  PointStorage storage;
  int valid = 0;
  int fitting = 0;
  for (const std::uint64_t seed : test::seeds(1, 150)) {
    INFO("again with PODSIM_SEED=", seed);
    Random random(seed);
    const Space& space = spaces()[random.below(spaces().size())];
    const Experiment experiment = point_of(space, configs, random);
    const PlanResult alone = make_plan(experiment, catalog, configs);
    const PlanResult cached = make_plan(experiment, catalog, configs, cache);
    CHECK(cached.diagnostics.to_text() == alone.diagnostics.to_text());
    REQUIRE(cached.plan.has_value() == alone.plan.has_value());
    if (!alone.plan) continue;
    ++valid;
    CHECK(to_toml(*cached.plan) == to_toml(*alone.plan));
    CHECK(cached.plan->warnings.to_text() == alone.plan->warnings.to_text());
    CHECK(cached.plan->inputs_sha256.empty());
    const Report fast = evaluate_point(*cached.plan, engine, storage);
    CHECK(csv_row(fast) == csv_row(simulate_plan(*alone.plan, engine, {.merge = true})));
    if (!fast.verdict.fits()) continue;
    ++fitting;
    CHECK(without_events(csv_row(fast)) == without_events(csv_row(simulate_plan(*alone.plan, engine, {}))));
  }
  CHECK((valid > 50 || valid + fitting > 0));  // one seed alone may be of a point that is not valid
  MESSAGE(valid, " valid points, ", fitting, " of them fit");
}

TEST_CASE("fast path: more constants, graphs and tables than are kept give the points alone, in any order") {
  const ConfigFiles configs = ConfigFiles::embedded();
  const Catalog catalog = make_catalog();
  PlanCache cache;
  Engine engine = make_engine("native");
  PointStorage storage;
  Diagnostics diagnostics;
  const Experiment base = read_experiment("bert-large-bow-pod16", configs, diagnostics);
  const auto check = [&](std::uint64_t point) {
    Experiment experiment = base;
    apply_override(experiment, "system.ring.bandwidth=\"" + std::to_string(10 + point) + " GB/s\"", diagnostics);
    apply_override(experiment, "workload.sequence_length=" + std::to_string(32 + point % 70), diagnostics);
    apply_override(experiment, "ipu.matmul_proportion=0." + std::to_string(100 + point), diagnostics);
    const Report fast = evaluate_point(*make_plan(experiment, catalog, configs, cache).plan, engine, storage);
    CHECK(csv_row(fast) ==
          csv_row(simulate_plan(*make_plan(experiment, catalog, configs).plan, engine, {.merge = true})));
  };
  for (std::uint64_t point = 0; point < 150; ++point) check(point);
  Random random(5);
  for (int i = 0; i < 30; ++i) check(random.below(150));
  CHECK(diagnostics.all().empty());
}
