#include <doctest/doctest.h>

#include <algorithm>

#include "models/catalog.hpp"
#include "sim/plan/plan.hpp"
#include "sim/study/search.hpp"

using namespace podsim;

namespace {

struct Scene {
  SearchTask task(const std::string& name, const std::vector<std::string>& overrides = {}) const {
    Diagnostics diagnostics;
    SearchTask task;
    task.experiment = read_experiment(name, configs, diagnostics);
    for (const std::string& assignment : overrides) apply_override(task.experiment, assignment, diagnostics);
    REQUIRE(!diagnostics.has_errors());
    task.audit = false;
    return task;
  }
  // Of little else than replicas and micro-batches.
  SearchTask small() const {
    SearchTask task = this->task("gpt2-caraml-pod4");
    task.fixed = {"workload.recompute", "ipu.recompute_checkpoint_every_layer", "ipu.embedding_serialization_factor",
                  "ipu.optimizer_state_offchip", "ipu.replicated_tensor_sharding"};
    return task;
  }
  SearchResult run(const SearchTask& task) const { return search(task, catalog, configs); }
  std::string refused(const SearchTask& task) const {
    try {
      run(task);
    } catch (const ConfigError& error) {
      return error.diagnostics().to_text();
    }
    return "";
  }
  Catalog catalog = make_catalog();
  ConfigFiles configs = ConfigFiles::embedded();
};

bool contains(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

CapacityCosts costs_of(const std::string& toml) {
  Diagnostics diagnostics;
  const auto document = parse_toml(toml, "c.toml", diagnostics);
  REQUIRE(document.has_value());
  CapacityCosts costs = read_capacity_costs(*document, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.to_text());
  return costs;
}

}  // namespace

TEST_CASE("search: at least as good as the published settings on a Pod16, with the same batch") {
  const Scene scene;
  for (const char* name : {"bert-large-bow-pod16", "bert-large-mlperf-v1.1-pod16"}) {
    CAPTURE(name);
    const SearchResult result = scene.run(scene.task(name));
    REQUIRE(result.winner.has_value());
    const SearchPoint& best = result.tree.best.front();
    REQUIRE(result.scenarios.front().written.has_value());
    const SearchPoint& written = *result.scenarios.front().written;
    CHECK(best.samples_per_s >= written.samples_per_s);
    CHECK(best.global_batch == written.global_batch);
    CHECK(best.devices <= 16);
    CHECK_FALSE(result.tree.stopped);
  }
}

TEST_CASE("search: GPT-2 on a Pod16 is at least as fast as with the published settings there") {
  const Scene scene;
  // The settings of the machine's own series, four pipelines side by side.
  SearchTask task = scene.task("gpt2-caraml-pod4", {"system=pod16", "ipu.replication_factor=4"});
  const SearchResult result = scene.run(task);
  REQUIRE(result.winner.has_value());
  REQUIRE(result.scenarios.front().written.has_value());
  CHECK(result.tree.best.front().samples_per_s >= result.scenarios.front().written->samples_per_s);
  CHECK(result.tree.best.front().global_batch == 1024);
}

TEST_CASE("search: the batch of the experiment is kept unless another is asked for, and a change is told") {
  const Scene scene;
  SearchTask task = scene.small();
  const SearchResult kept = scene.run(task);
  CHECK(kept.batch_kept);
  for (const SearchPoint& point : kept.tree.best) CHECK(point.global_batch == 256);
  CHECK_FALSE(contains(to_text(kept), "the global batch changes"));
  task.limits.batch = BatchRange{100, 512};
  const SearchResult wider = scene.run(task);
  CHECK(wider.tree.best.front().global_batch <= 512);
  CHECK(wider.tree.best.front().samples_per_s >= kept.tree.best.front().samples_per_s);
  CHECK(contains(to_text(wider), "the global batch changes from 256 to " +
                                     std::to_string(wider.tree.best.front().global_batch) + ": accuracy may change"));
}

TEST_CASE("search: headroom leaves so much of every memory free") {
  const Scene scene;
  SearchTask task = scene.small();
  task.limits.memory_headroom = 0.2;
  const SearchResult result = scene.run(task);
  REQUIRE(result.winner.has_value());
  for (const SearchPoint& point : result.tree.best) CHECK(point.headroom_pct >= 20);
  task.limits.memory_headroom = 0.99;
  const SearchResult none = scene.run(task);
  CHECK_FALSE(none.winner.has_value());
  CHECK(contains(to_text(none), "No configuration fits and keeps the limits"));
}

TEST_CASE("search: the smallest system that is fast enough") {
  const Scene scene;
  SearchTask task = scene.small();
  task.objective = SearchObjective::smallest_system;
  const SearchResult smallest = scene.run(task);
  REQUIRE(smallest.winner.has_value());
  CHECK(smallest.tree.best.front().devices == 1);
  task.limits.least_samples_per_s = 1.5 * smallest.tree.best.front().samples_per_s;
  const SearchResult faster = scene.run(task);
  REQUIRE(faster.winner.has_value());
  CHECK(faster.tree.best.front().devices == 2);
  CHECK(std::ranges::any_of(faster.tree.rejections,
                            [](const SearchRejection& rejection) { return rejection.limit == "throughput"; }));
}

TEST_CASE("search: by samples per joule and by cost the machine with more of them for a watt or an hour wins") {
  const Scene scene;
  SearchTask task = scene.small();
  task.systems = {"pod4", "bow-pod4"};
  task.objective = SearchObjective::samples_per_joule;
  task.costs = costs_of("[systems.pod4]\npower = \"100 W\"\n[systems.bow-pod4]\npower = \"1 MW\"\n");
  const SearchResult frugal = scene.run(task);
  REQUIRE(frugal.winner.has_value());
  const SearchPoint& best = frugal.tree.best.front();
  CHECK(frugal.scenarios[best.scenario].system == "pod4");
  CHECK(best.joules_per_sample.value() == doctest::Approx(100 / best.samples_per_s));
  task.objective = SearchObjective::cost_per_sample;
  task.costs =
      costs_of("currency = \"EUR\"\n[systems.pod4]\nprice_per_hour = 36\n[systems.bow-pod4]\nprice_per_hour = 1\n");
  const SearchResult cheap = scene.run(task);
  const SearchPoint& cheapest = cheap.tree.best.front();
  CHECK(cheap.scenarios[cheapest.scenario].system == "bow-pod4");
  CHECK(cheapest.cost_per_sample.value() == doctest::Approx(1 / (3600 * cheapest.samples_per_s)));
}

TEST_CASE("search: an objective without its costs is refused") {
  const Scene scene;
  SearchTask task = scene.small();
  task.objective = SearchObjective::cost_per_sample;
  CHECK(scene.refused(task) ==
        "command line: --objective: what an hour of pod4 costs is not known; expected price_per_hour in "
        "[systems.pod4] of --costs, and its power where electricity has a price\n");
  SearchTask rdu = scene.task("gpt2-xl-two-sn30");
  rdu.objective = SearchObjective::samples_per_joule;
  CHECK(scene.refused(rdu) ==
        "command line: --objective: the power of sn30 is not known; expected power in [systems.sn30] of --costs\n");
}

TEST_CASE("search: a batch that nobody said is asked for") {
  const Scene scene;
  SearchTask task;
  Diagnostics diagnostics;
  task.experiment.document =
      *parse_toml("name = \"x\"\nsystem = \"pod4\"\n[model]\nconfig = \"gpt2\"\n", "x.toml", diagnostics);
  CHECK(scene.refused(task) ==
        "command line: --global-batch: is needed: the experiment says nothing of its batch, which is 1 by default; "
        "expected --global-batch N, or 1 to keep it\n");
}

TEST_CASE("search: an experiment that does not run as written is searched all the same") {
  const Scene scene;
  SearchTask task = scene.small();
  Diagnostics diagnostics;
  apply_override(task.experiment, "ipu.layers_per_ipu=[1,2,3,4]", diagnostics);
  task.limits.batch = BatchRange{256, 256};
  const SearchResult result = scene.run(task);
  REQUIRE(result.winner.has_value());
  CHECK_FALSE(result.scenarios.front().written.has_value());
  CHECK(contains(result.scenarios.front().written_problem, "ipu.layers_per_ipu"));
}

TEST_CASE("search: fixed keys stay, and what nobody varies is told") {
  const Scene scene;
  SearchTask task = scene.small();
  task.fixed.insert("ipu.ipus_per_replica");
  task.fixed.insert("ipu.no_such_key");
  const SearchResult result = scene.run(task);
  for (const SearchPoint& point : result.tree.best) {
    for (const SearchSetting& setting : point.settings) CHECK(setting.key != "ipu.ipus_per_replica");
  }
  REQUIRE(result.winner.has_value());
  CHECK(result.winner->report.schedule.forward_stages == 5);
  CHECK(contains(to_text(result), "--fix ipu.no_such_key has no effect: the search does not vary it"));
}

TEST_CASE("search: varied keys take the values that are given") {
  const Scene scene;
  SearchTask task = scene.small();
  Diagnostics diagnostics;
  task.varied = parse_axes({"workload.sequence_length=256,512"}, diagnostics);
  const SearchResult result = scene.run(task);
  REQUIRE(result.scenarios.size() == 2);
  CHECK(result.scenarios[1].label == "workload.sequence_length = 512");
  REQUIRE(result.winner.has_value());
  CHECK(result.scenarios[result.tree.best.front().scenario].label == "workload.sequence_length = 256");
}

TEST_CASE("search: what an inference can be told is tried, and a request that takes too long is rejected") {
  const Scene scene;
  SearchTask task = scene.task("vit-base-bow-pod16", {"workload.mode=inference", "workload.optimizer=\"sgd\""});
  const SearchResult result = scene.run(task);
  REQUIRE(result.winner.has_value());
  const double latency = result.tree.best.front().latency_s.value();
  task.limits.latency = seconds(latency / 2);
  const SearchResult quicker = scene.run(task);
  REQUIRE(quicker.winner.has_value());
  CHECK(quicker.tree.best.front().latency_s.value() <= latency / 2);
  CHECK(std::ranges::any_of(quicker.tree.rejections,
                            [](const SearchRejection& rejection) { return rejection.limit == "latency"; }));
}

TEST_CASE("search: twice the same result") {
  const Scene scene;
  const SearchTask task = scene.small();
  CHECK(to_json(scene.run(task)) == to_json(scene.run(task)));
}

TEST_CASE("search: on RDUs it hands back a compile command that says what was found") {
  const Scene scene;
  SearchTask task = scene.task("llama-2-70b-sn30-tensor-parallel");
  task.limits.batch = BatchRange{8, 8};
  const SearchResult result = scene.run(task);
  REQUIRE(result.winner.has_value());
  const std::vector<Deployment>& files = result.winner->deployment;
  REQUIRE(files.size() == 1);
  CHECK(files.front().name == "compile.sh");
  // The command alone, in an experiment of its own, is as fast.
  Experiment alone = task.experiment;
  Diagnostics diagnostics;
  apply_value(alone, "rdu.compile", Value::string(files.front().text, {"test", 0, 0}), diagnostics);
  for (const SearchSetting& setting : result.tree.best.front().settings) {
    if (setting.key == "rdu.replicas") apply_value(alone, setting.key, setting.value, diagnostics);
  }
  const PlanResult made = make_plan(alone, scene.catalog, scene.configs);
  REQUIRE_MESSAGE(made.plan.has_value(), made.diagnostics.to_text());
  SearchTask again = task;
  again.experiment = alone;
  again.fixed = {"rdu.compile", "rdu.replicas", "workload.micro_batch_size"};
  const SearchResult same = scene.run(again);
  REQUIRE(same.winner.has_value());
  CHECK(same.tree.best.front().samples_per_s == result.tree.best.front().samples_per_s);
}
