// A search finds what looking at every configuration finds, because its bounds hold; and a bound that does not hold is
// found out here.

#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "models/catalog.hpp"
#include "sim/core/random.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/report/report.hpp"
#include "sim/study/evaluate.hpp"
#include "sim/study/search_tree.hpp"

using namespace podsim;

namespace {

struct Space {
  std::string experiment;
  std::vector<std::string> settings;
  BatchRange batch;
  std::set<std::string> fixed;
};

template <class T>
const T& drawn(const std::vector<T>& values, SplitMix64& random) {
  return values[static_cast<std::size_t>(random.next() % values.size())];
}

// Small models in little memory, so that some of what is tried does not fit.
Space random_space(std::uint64_t seed) {
  SplitMix64 random(seed);
  Space space;
  const std::string model = drawn<std::string>({"bert-base-uncased", "gpt2", "vit-base-patch16-224"}, random);
  const std::string system = drawn<std::string>({"pod4", "bow-pod4", "pod8"}, random);
  space.experiment = "name = \"space\"\nsystem = \"" + system + "\"\n[model]\nconfig = \"" + model +
                     "\"\nnum_hidden_layers = " + std::to_string(2 + random.next() % 4) +
                     "\n[workload]\noptimizer = \"" + drawn<std::string>({"adamw", "lamb", "sgd"}, random) + "\"\n";
  if (model != "vit-base-patch16-224") {
    space.experiment += "sequence_length = " + drawn<std::string>({"128", "384"}, random) + "\n";
  }
  space.experiment += "[memory]\nusable_fraction = " + drawn<std::string>({"0.2", "0.3", "0.45", "0.9"}, random) + "\n";
  const std::int64_t batch = drawn<std::int64_t>({16, 24, 36, 96, 128}, random);
  space.batch = {random.next() % 2 == 0 ? batch : batch / 2, batch};
  for (const char* key : {"workload.recompute", "ipu.recompute_checkpoint_every_layer", "ipu.optimizer_state_offchip",
                          "ipu.replicated_tensor_sharding", "ipu.ipus_per_replica"}) {
    if (random.next() % 3 == 0) space.fixed.insert(key);
  }
  space.fixed.insert("ipu.embedding_serialization_factor");
  return space;
}

// Plans, judges and simulates by itself.
class Scene {
 public:
  explicit Scene(const Space& space) {
    Diagnostics diagnostics;
    const auto document = parse_toml(space.experiment, "space.toml", diagnostics);
    REQUIRE_MESSAGE(document.has_value(), diagnostics.to_text());
    experiment_.document = *document;
    PlanResult made = make_plan(experiment_, catalog_, configs_);
    REQUIRE_MESSAGE(made.plan.has_value(), made.diagnostics.to_text());
    plan_ = std::make_shared<const Plan>(std::move(*made.plan));
    SearchRequest request{space.batch, space.fixed, 1};
    branches_ = plan_->family->search_space(plan_, request)->branches;
  }

  // With bounds times `factor`.
  SearchTree explored(bool prune, double factor = 1) {
    SearchForest forest;
    forest.scenarios = {scaled(branches_, factor)};
    forest.value = [](std::size_t, double rate, std::int64_t) { return SearchValue{rate, 0}; };
    forest.judge = [this](std::size_t, const std::vector<SearchSetting>& settings) { return judged(settings); };
    return explore(forest, {.keep = 3, .prune = prune});
  }

 private:
  static std::vector<SearchBranch> scaled(std::vector<SearchBranch> branches, double factor) {
    for (SearchBranch& branch : branches) {
      branch.most_samples_per_s *= factor;
      if (!branch.open) continue;
      branch.open = [open = branch.open, factor] { return scaled(open(), factor); };
    }
    return branches;
  }

  SearchJudgement judged(const std::vector<SearchSetting>& settings) {
    Experiment experiment = experiment_;
    Diagnostics diagnostics;
    for (const SearchSetting& setting : settings) apply_value(experiment, setting.key, setting.value, diagnostics);
    PlanResult made = make_plan(experiment, catalog_, configs_, cache_);
    SearchJudgement judgement;
    if (!made.plan) {
      judgement.invalid = made.diagnostics.to_text();
      return judgement;
    }
    const Report report = evaluate_point(*made.plan, engine_, storage_);
    if (!report.verdict.fits()) {
      judgement.broken = report.verdict.broken.front();
      return judgement;
    }
    judgement.point.emplace();
    judgement.point->samples_per_s = report.throughput->samples_per_s;
    judgement.point->devices = report.batch.devices;
    return judgement;
  }

  Catalog catalog_ = make_catalog();
  ConfigFiles configs_ = ConfigFiles::embedded();
  Experiment experiment_;
  std::shared_ptr<const Plan> plan_;
  std::vector<SearchBranch> branches_;
  PlanCache cache_;
  Engine engine_ = make_engine("native");
  PointStorage storage_;
};

std::vector<std::pair<double, std::int64_t>> told(const std::vector<SearchPoint>& points) {
  std::vector<std::pair<double, std::int64_t>> values;
  for (const SearchPoint& point : points) values.emplace_back(point.samples_per_s, point.devices);
  return values;
}

bool same(const SearchTree& a, const SearchTree& b) {
  return told(a.best) == told(b.best) && told(a.front) == told(b.front);
}

constexpr std::uint64_t k_spaces = 50;

}  // namespace

TEST_CASE("search laws: best ones and front of 50 random spaces are those of all their configurations") {
  std::int64_t ruled_out = 0;
  std::int64_t rejected = 0;
  std::int64_t mutants_found = 0;
  for (std::uint64_t seed = 1; seed <= k_spaces; ++seed) {
    CAPTURE(seed);
    Scene scene(random_space(seed));
    const SearchTree all = scene.explored(false);
    const SearchTree found = scene.explored(true);
    CHECK(told(found.best) == told(all.best));
    CHECK(told(found.front) == told(all.front));
    CHECK(found.counts.closed == found.counts.configurations);
    CHECK(all.counts.closed == all.counts.configurations);
    ruled_out += found.counts.ruled_out;
    for (const SearchRejection& rejection : all.rejections) {
      rejected += rejection.configurations;
      CHECK_MESSAGE(rejection.nearest.has_value(), rejection.limit);
    }
    // Bounds a fifth too low.
    if (!same(scene.explored(true, 0.8), all)) ++mutants_found;
  }
  CHECK(ruled_out > 1000);
  CHECK(rejected > 1000);
  CHECK(mutants_found > 0);
}

TEST_CASE("search laws: the placement of a partition has the shortest fullest cycle of all that fit") {
  const Catalog catalog = make_catalog();
  const ConfigFiles configs = ConfigFiles::embedded();
  for (const char* usable : {"0.9", "0.35", "0.3"}) {
    for (const char* model : {"bert-base-uncased", "vit-base-patch16-224"}) {
      CAPTURE(usable);
      CAPTURE(model);
      Experiment experiment;
      Diagnostics diagnostics;
      experiment.document =
          *parse_toml("name = \"cut\"\nsystem = \"pod4\"\n[model]\nconfig = \"" + std::string(model) +
                          "\"\nnum_hidden_layers = 7\n[ipu]\nipus_per_replica = 4\nlayers_per_ipu = "
                          "[-1]\ngradient_accumulation_steps = 32\nmatmul_proportion = 0.2\n[memory]\n"
                          "usable_fraction = " +
                          usable + "\n",
                      "cut.toml", diagnostics);
      PlanResult made = make_plan(experiment, catalog, configs);
      REQUIRE_MESSAGE(made.plan.has_value(), made.diagnostics.to_text());
      const auto plan = std::make_shared<const Plan>(std::move(*made.plan));
      Engine engine = make_engine("native");
      PointStorage run;
      const auto cycle_of = [&](const std::vector<SearchSetting>& settings) -> std::optional<SimTime> {
        Experiment changed = experiment;
        for (const SearchSetting& setting : settings) apply_value(changed, setting.key, setting.value, diagnostics);
        PlanResult own = make_plan(changed, catalog, configs);
        REQUIRE_MESSAGE(own.plan.has_value(), own.diagnostics.to_text());
        const Report report = evaluate_point(*own.plan, engine, run);
        return report.verdict.fits() ? report.cycle_time : std::nullopt;
      };
      std::optional<SimTime> shortest;
      const auto keep = [](std::optional<SimTime>& best, const std::optional<SimTime>& own) {
        if (own && (!best || *own < *best)) best = own;
      };
      const auto list = [](std::vector<std::int64_t> counts) {
        std::vector<Value> elements;
        for (const std::int64_t count : counts) elements.push_back(Value::integer(count, {"test", 0, 0}));
        return Value::array(elements, {"test", 0, 0});
      };
      for (std::int64_t a = 0; a <= 7; ++a) {
        for (std::int64_t b = 1; a + b <= 7; ++b) {
          for (std::int64_t c = 1; a + b + c <= 7; ++c) {
            keep(shortest, cycle_of({{"ipu.layers_per_ipu", list({a, b, c, 7 - a - b - c})}}));
          }
        }
      }
      const SearchRequest request{
          BatchRange{32, 32},
          {"workload.micro_batch_size", "workload.recompute", "ipu.ipus_per_replica", "ipu.replication_factor",
           "ipu.recompute_checkpoint_every_layer", "ipu.matmul_proportion", "ipu.embedding_serialization_factor",
           "ipu.optimizer_state_offchip", "ipu.replicated_tensor_sharding"},
          1};
      std::optional<SimTime> found;
      std::vector<SearchBranch> branches = plan->family->search_space(plan, request)->branches;
      while (!branches.empty()) {
        const SearchBranch branch = branches.back();
        branches.pop_back();
        if (branch.open) {
          for (SearchBranch& own : branch.open()) branches.push_back(std::move(own));
        } else {
          keep(found, cycle_of(branch.settings));
        }
      }
      REQUIRE(found.has_value() == shortest.has_value());
      // The first IPU also waits for the micro-batch's token ids, which no placement changes.
      if (found) CHECK(found->duration().in_base() <= 1.001 * shortest->duration().in_base());
    }
  }
}
