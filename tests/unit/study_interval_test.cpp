#include "sim/study/interval.hpp"

#include <doctest/doctest.h>

#include "models/catalog.hpp"
#include "sim/study/coverage.hpp"

using namespace podsim;

namespace {

struct Scene {
  Catalog catalog = make_catalog();
  ConfigFiles configs = ConfigFiles::embedded();
  Spreads spreads{configs};
  VariedRuns runs{catalog, configs, false};

  Experiment experiment(const std::string& name, const std::vector<std::string>& settings = {}) {
    Diagnostics diagnostics;
    Experiment written = read_experiment(name, configs, diagnostics);
    for (const std::string& setting : settings) apply_override(written, setting, diagnostics);
    REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.to_text());
    return written;
  }

  IntervalReport interval(const Experiment& written, std::uint64_t seed, std::int64_t draws = 64) {
    std::string problem;
    const std::optional<Plan> plan = runs.plan(written, problem);
    REQUIRE_MESSAGE(plan.has_value(), problem);
    return interval_of(written, *plan, spreads, runs, {seed, draws});
  }
};

}  // namespace

TEST_CASE("interval: quantiles lie between the values by their distance") {
  const Quantiles ten = quantiles_of({5, 1, 4, 2, 3});
  CHECK(ten.p10 == doctest::Approx(1.4));
  CHECK(ten.p50 == 3);
  CHECK(ten.p90 == doctest::Approx(4.6));
  CHECK(quantiles_of({7}).p90 == 7);
}

TEST_CASE("interval: holds the run, the same for a seed, and is about as wide for another") {
  Scene scene;
  const Experiment written = scene.experiment("bert-large-mlperf-v1.1-pod16");
  const VariedRun run = scene.runs.run(written);
  REQUIRE(run.report.has_value());
  const double rate = run.report->throughput->samples_per_s;
  const IntervalReport first = scene.interval(written, 1);
  REQUIRE(first.samples_per_s.has_value());
  CHECK(first.draws == 64);
  CHECK(first.varied > 10);
  CHECK(first.samples_per_s->p10 < rate);
  CHECK(first.samples_per_s->p90 > rate);
  CHECK(first.step_s->p10 < first.step_s->p50);
  CHECK_FALSE(first.parts.empty());
  const IntervalReport again = scene.interval(written, 1);
  CHECK(again.samples_per_s->p10 == first.samples_per_s->p10);
  const IntervalReport other = scene.interval(written, 2);
  CHECK(other.samples_per_s->p10 != first.samples_per_s->p10);
  const double width = first.samples_per_s->p90 / first.samples_per_s->p10;
  CHECK(other.samples_per_s->p90 / other.samples_per_s->p10 == doctest::Approx(width).epsilon(0.1));
}

TEST_CASE("interval: a constant that decides is named, and its own range is the interval") {
  // One request of a node: nearly all of it reads weights, at a share of the bandwidth that was fitted.
  Scene scene;
  const Experiment written = scene.experiment("llama-3-70b-sn40l-8");
  const IntervalReport interval = scene.interval(written, 1, 128);
  REQUIRE_FALSE(interval.parts.empty());
  for (std::size_t p = 1; p < interval.parts.size(); ++p) {
    CHECK(interval.parts[p - 1].share_pct >= interval.parts[p].share_pct);
  }
  CHECK(interval.fits_pct == 100);
}

TEST_CASE("interval: near the limit some draws fit and some do not") {
  Scene scene;
  const auto share = [&](const std::string& micro_batch) {
    return scene.interval(scene.experiment("bert-large-bow-pod16", {"workload.micro_batch_size=" + micro_batch}), 1)
        .fits_pct;
  };
  CHECK(share("2") == 100);
  double previous = 100;
  bool between = false;
  for (const char* micro_batch : {"8", "9", "10", "11", "12", "14"}) {
    const double own = share(micro_batch);
    CHECK(own <= previous);  // the same draws: more memory fits in fewer of them
    between = between || (own > 0 && own < 100);
    previous = own;
  }
  CHECK(between);
}

TEST_CASE("interval: coverage counts what lies within, below and above") {
  const auto rate = [](double measured, bool fitted) {
    ValidatedCase one;
    one.family = "machine";
    one.measured = measured;
    one.predicted = 10;
    one.fitted = fitted;
    one.interval = Quantiles{8, 10, 12};
    return one;
  };
  ValidatedCase time = rate(9, false);
  time.quantity = "step_s";
  const std::vector<IntervalCoverage> groups = coverage_of({rate(8, true), rate(7, true), rate(13, false), time});
  REQUIRE(groups.size() == 6);  // and fitted, held out, rates of the machine
  CHECK(groups[0].group == "rates");
  CHECK(groups[0].cases == 3);
  CHECK(groups[0].inside == 1);
  CHECK(groups[0].below == 1);
  CHECK(groups[0].above == 1);
  CHECK(groups[1].inside_pct() == 50);
  CHECK(groups[5].group == "times, machine");
  CHECK(groups[5].inside == 1);
}
