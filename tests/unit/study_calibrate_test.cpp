// Constants planted in measurements that podsim makes itself must be found again; what cannot be found must be said.

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/catalog.hpp"
#include "sim/numerics/sampling.hpp"
#include "sim/study/calibrate.hpp"
#include "sim/study/varied_runs.hpp"

using namespace podsim;

namespace {

struct Planted {
  std::string name;
  double base_value;
};

const Catalog& catalog() {
  static const Catalog k_catalog = make_catalog();
  return k_catalog;
}

const ConfigFiles& configs() {
  static const ConfigFiles k_configs = ConfigFiles::embedded();
  return k_configs;
}

Experiment shipped(const std::string& name) {
  Diagnostics diagnostics;
  Experiment experiment = read_experiment(name, configs(), diagnostics);
  REQUIRE_FALSE(diagnostics.has_errors());
  return experiment;
}

// Pre-training steps of one, two and four replicas, with few and many micro-batches: short enough that links and
// overheads show. A single replica has no ring.
std::string measured_table(const std::vector<Planted>& planted, double noise, std::uint64_t seed) {
  VariedRuns runs(catalog(), configs(), true);
  std::string text = "series,ipu.replication_factor,ipu.gradient_accumulation_steps,metric,value\n";
  std::uint64_t row = 0;
  for (const std::int64_t replicas : {1, 2, 4}) {
    for (const std::int64_t accumulation : {16, 24, 48, 256}) {
      Experiment experiment = shipped("bert-large-bow-pod16");
      Diagnostics diagnostics;
      const Place place{"test", 0, 0};
      apply_value(experiment, "ipu.gradient_accumulation_steps", Value::integer(accumulation, place), diagnostics);
      apply_value(experiment, "ipu.replication_factor", Value::integer(replicas, place), diagnostics);
      for (const Planted& one : planted) experiment.varied.push_back({one.name, one.base_value});
      const VariedRun run = runs.run(experiment);
      REQUIRE_MESSAGE(run.report.has_value(), run.problem);
      Random random = keyed_random(seed, {row++});
      const double measured = *measured_value(*run.report, "step_s") * std::exp(noise * draw_normal(random));
      text += fmt::format("{} replicas,{},{},step_s,{}\n", replicas, replicas, accumulation, measured);
    }
  }
  return text;
}

std::optional<Calibration> calibrated(const std::string& table, const std::vector<std::string>& constants,
                                      Diagnostics& diagnostics, bool leave_out = false) {
  const Measurements measurements =
      read_measurements({{"runs.csv", table}}, shipped("bert-large-bow-pod16"), {}, catalog(), configs(), diagnostics);
  if (diagnostics.has_errors()) return std::nullopt;
  return calibrate(measurements, constants, {leave_out}, catalog(), configs(), diagnostics);
}

std::string refused(const std::string& table, const std::vector<std::string>& constants) {
  Diagnostics diagnostics;
  CHECK_FALSE(calibrated(table, constants, diagnostics).has_value());
  return diagnostics.to_text();
}

const std::string k_two_rows =
    "ipu.gradient_accumulation_steps,metric,value\n"
    "16,step_s,0.2\n"
    "32,step_s,0.3\n";

}  // namespace

TEST_CASE("calibrate: planted constants lie within two standard errors in 85 % of twenty noisy series and more") {
  const std::vector<Planted> planted = {
      {"software.framework_factor", 1.08}, {"system.ring.bandwidth", 7.5e9}, {"software.update_overhead", 8e-3}};
  std::vector<std::string> names;
  for (const Planted& one : planted) names.push_back(one.name);
  int within = 0;
  int tried = 0;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    Diagnostics diagnostics;
    const auto result = calibrated(measured_table(planted, 0.01, seed), names, diagnostics);
    REQUIRE_MESSAGE(result.has_value(), diagnostics.to_text());
    for (std::size_t c = 0; c < planted.size(); ++c) {
      ++tried;
      const CalibratedConstant& found = result->constants[c];
      if (!found.standard_error) continue;
      const double off = std::abs(std::log(found.fitted / planted[c].base_value));
      if (off <= 2 * *found.standard_error) ++within;
    }
  }
  CHECK(tried == 60);
  CHECK_MESSAGE(within >= 51, within);
}

TEST_CASE("calibrate: without noise the planted constants come back, and left-out rows are as good as the others") {
  const std::vector<Planted> planted = {{"software.framework_factor", 1.3}, {"system.ring.bandwidth", 6e9}};
  Diagnostics diagnostics;
  const auto result = calibrated(measured_table(planted, 0, 1), {planted[0].name, planted[1].name}, diagnostics, true);
  REQUIRE_MESSAGE(result.has_value(), diagnostics.to_text());
  for (std::size_t c = 0; c < planted.size(); ++c) {
    CHECK(result->constants[c].fitted == doctest::Approx(planted[c].base_value).epsilon(1e-3));
    CHECK(result->constants[c].rows == 12);
  }
  CHECK(result->error_before_pct > 5);
  CHECK(result->error_after_pct < 0.01);
  REQUIRE(result->error_left_out_pct.has_value());
  CHECK(*result->error_left_out_pct < 0.05);
  CHECK(result->left_out == "3 series, left out in 3 turns");
}

TEST_CASE("calibrate: a constant that the rows do not show is kept, and said") {
  // All replicas are in one pod: the factor of links between pods scales nothing.
  const std::vector<Planted> planted = {{"system.ring.bandwidth", 7e9}};
  Diagnostics diagnostics;
  const auto result =
      calibrated(measured_table(planted, 0.005, 3), {"system.ring.bandwidth", "system.gateway.factor"}, diagnostics);
  REQUIRE_MESSAGE(result.has_value(), diagnostics.to_text());
  CHECK_FALSE(result->constants[0].kept);
  CHECK(result->constants[1].kept);
  CHECK(result->constants[1].fitted == result->constants[1].before.base_value);
  REQUIRE(result->unknown.size() == 1);
  CHECK(result->unknown[0] == "system.gateway.factor +10 % changes no prediction");
  CHECK(to_overlay(*result, "runs.csv").find("[system.gateway.factor]") == std::string::npos);
}

TEST_CASE("calibrate: a small time that a large one hides is kept, and the large one is told") {
  // With as many replicas in every row, ring and overhead are both a time per update, the ring by far the longer.
  const std::string all = measured_table({{"system.ring.bandwidth", 7e9}}, 0.002, 5);
  std::string rows = all.substr(0, all.find('\n') + 1);
  rows += all.substr(all.find("4 replicas"));
  Diagnostics diagnostics;
  const auto result = calibrated(rows, {"system.ring.bandwidth", "software.update_overhead"}, diagnostics);
  REQUIRE_MESSAGE(result.has_value(), diagnostics.to_text());
  CHECK_FALSE(result->constants[0].kept);
  CHECK(result->constants[0].fitted == doctest::Approx(7e9).epsilon(0.02));
  CHECK(result->constants[1].kept);
  REQUIRE(result->unknown.size() == 1);
  CHECK(result->unknown[0].find("software.update_overhead") == 0);
}

TEST_CASE("calibrate: what cannot be fitted is refused with the reason") {
  CHECK(refused(k_two_rows, {"system.ring.bandwith"}) ==
        "command line: system.ring.bandwith: unknown constant; did you mean \"system.ring.bandwidth\"?\n");
  CHECK(refused(k_two_rows, {"cost.launch", "cost.pass", "software.framework_factor"}) ==
        "command line: --constants: 3 constants cannot be fitted to 2 rows; expected at least as many rows as "
        "constants\n");
  CHECK(refused(k_two_rows, {"chip.tiles"}) ==
        "command line: chip.tiles: 1472 is a whole number and cannot be fitted; expected a constant that may take any "
        "value\n");
  CHECK(refused(k_two_rows, {"software.optimizer_state"}) ==
        "command line: software.optimizer_state: \"off-chip\" is a text and cannot be fitted\n");
  CHECK(refused(k_two_rows, {"cost.network.optimizer.passes"}) ==
        "command line: cost.network.optimizer.passes: no row reads this constant: measurements cannot tell its "
        "value\n");
  CHECK(refused(k_two_rows, {"cost.pass", "cost.pass"}) == "command line: cost.pass: stands twice in --constants\n");
}

TEST_CASE("calibrate: problems of a small table are told at their cells") {
  const std::vector<std::string> constants = {"cost.pass"};
  CHECK(refused("ipu.gradient_accumulation_steps,metric,value\n16,step_s,fast\n", constants) ==
        "runs.csv:2:11: value: \"fast\" is no measurement; expected a positive number in the unit of the metric\n");
  CHECK(refused("ipu.gradient_accumulation_steps,metrik,value\n16,step_s,1\n", constants) ==
        "runs.csv:1:1: metric: there is no such column; expected metric, value and keys of the experiment; did you "
        "mean \"metrik\"?\n");
  CHECK(refused("ipu.gradient_accumulation_steps,metric,value\n16,steps_s,1\n", constants) ==
        "runs.csv:2:12: value: the run has no steps_s; expected a metric of the run, and settings that are legal\n");
  CHECK(refused("metric,value\nstep_s\n", constants) == "runs.csv:2:1: the row has 1 cells, the header 2\n");
  CHECK(refused("metric,ipu.gradient_accumulation_step,value\nstep_s,16,1\n", constants)
            .find("runs.csv:2:11: value: ipu.gradient_accumulation_step: unknown key") == 0);
}

TEST_CASE("calibrate: its overlay makes the fitted run, marked as fitted with its rows") {
  const std::vector<Planted> planted = {{"software.framework_factor", 1.2}};
  Diagnostics diagnostics;
  const auto result = calibrated(measured_table(planted, 0.01, 7), {planted[0].name}, diagnostics);
  REQUIRE(result.has_value());
  const std::string overlay = to_overlay(*result, "runs.csv");
  ConstantSet set;
  Diagnostics problems;
  const auto document = parse_toml(overlay, "overlay.toml", problems);
  REQUIRE_MESSAGE(document.has_value(), problems.to_text());
  const Value* entry = document->find("software.framework_factor");
  REQUIRE(entry != nullptr);
  CHECK(entry->find("value")->as_number() == doctest::Approx(result->constants[0].fitted).epsilon(1e-5));
  CHECK(entry->find("confidence")->as_string() == "fitted");
  CHECK(entry->find("source")->as_string().find("fitted on runs.csv:2, runs.csv:3, ") == 0);
  CHECK(entry->find("spread")->as_string().find(" to ") != std::string::npos);
}
