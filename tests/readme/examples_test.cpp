// The worked examples of models/README.md: they compile, and they do what the text says of them.
#include <doctest/doctest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <utility>

#include "models/catalog.hpp"
#include "sim/engine/engine.hpp"
#include "sim/study/evaluate.hpp"
#include "tests/readme/examples/perceptron.hpp"
#include "tests/readme/examples/two_stages.hpp"
#include "tests/support/paths.hpp"

using namespace podsim;

namespace {

std::string example(const std::string& name) {
  return test::source_dir() + "/tests/readme/examples/" + name;
}

// A catalog of one's own: what is shipped, and one more.
Catalog catalog_with_perceptron() {
  Catalog catalog = make_catalog();
  catalog.model_kinds.push_back(std::make_unique<examples::Perceptron>());
  return catalog;
}

Plan perceptron_plan(const Catalog& catalog) {
  Diagnostics diagnostics;
  const Experiment experiment = read_experiment(example("perceptron.toml"), ConfigFiles::embedded(), diagnostics);
  PlanResult made = make_plan(experiment, catalog, ConfigFiles::embedded());
  REQUIRE_MESSAGE(made.plan.has_value(), made.diagnostics.to_text());
  return std::move(*made.plan);
}

}  // namespace

TEST_CASE("examples: a new kind of model is counted as its formulas say, and runs") {
  const Catalog catalog = catalog_with_perceptron();
  const Plan plan = perceptron_plan(catalog);
  constexpr std::int64_t k_width = 2048;
  constexpr std::int64_t k_layers = 8;
  constexpr std::int64_t k_rows = 256;
  CHECK(plan.graph.parameter_count() == k_layers * (k_width * k_width + k_width));
  CHECK(plan.graph.forward_flop().in_base() == 2.0 * k_layers * k_rows * k_width * k_width);
  CHECK(plan.graph.backward_flop().in_base() == 2 * plan.graph.forward_flop().in_base());
  Engine engine = make_engine("native");
  const Report report = simulate_plan(plan, engine, {});
  CHECK(report.verdict.fits());
  CHECK(report.schedule.forward_stages == 4);
  CHECK(report.step_time.picoseconds() > 0);
  const auto is_note = [](const std::string& warning) {
    return warning.find("compared with no measurement") != std::string::npos;
  };
  CHECK(std::ranges::any_of(report.warnings, is_note));
}

TEST_CASE("examples: a new schedule takes as long as its formula says, on either engine") {
  constexpr std::int64_t k_updates = 3;
  constexpr int k_micro_batches = 5;
  const examples::StageTimes times{SimTime(1'000'000), Bytes(500)};
  const Lowered lowered = examples::two_stages(k_updates, k_micro_batches, times, bytes_per_second(1e9));
  verify(lowered.program, lowered.platform);
  // The second device begins when one micro-batch is made and sent, 500 bytes at 1 byte/ns, and never waits again.
  const SimTime sent(500'000);
  const SimTime expected = k_updates * (times.compute + sent + k_micro_batches * times.compute);
  for (const char* name : {"native", "simgrid"}) {
    Engine engine = make_engine(name, test::build_dir());
    CHECK(engine.run(lowered.platform, lowered.program).total == expected);
  }
}

TEST_CASE("examples: a chip in a file of its own counts the same cycles at its own clock") {
  const Catalog catalog = make_catalog();
  const auto compute_s = [&](const std::string& system) {
    Diagnostics diagnostics;
    Experiment experiment = read_experiment("gpt2-caraml-pod4", ConfigFiles::embedded(), diagnostics);
    apply_override(experiment, "system=" + system, diagnostics);
    const PlanResult made = make_plan(experiment, catalog, ConfigFiles::embedded());
    REQUIRE_MESSAGE(made.plan.has_value(), made.diagnostics.to_text());
    Engine engine = make_engine("native");
    const Report report = simulate_plan(*made.plan, engine, {});
    return report.breakdown[CostCategory::compute].duration().in_base();
  };
  constexpr double k_shipped_clock = 1.325e9;
  constexpr double k_faster_clock = 2e9;
  CHECK(compute_s(example("faster-pod4.toml")) * k_faster_clock ==
        doctest::Approx(compute_s("pod4") * k_shipped_clock).epsilon(1e-6));
}
