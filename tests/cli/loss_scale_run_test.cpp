// Does a run say whether its loss scale holds, and does [loss_scaling] act on it?
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "sim/config/value.hpp"
#include "tests/support/experiment_folder.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

Value json_of(const std::string& text) {
  Diagnostics diagnostics;
  const std::optional<Value> value = parse_json(text, "report.json", diagnostics);
  REQUIRE_MESSAGE(value.has_value(), diagnostics.to_text());
  return *value;
}

Value run(const ExperimentFolder& folder, const std::string& arguments) {
  const CommandResult result = folder.podsim("run " + arguments + " --engine native --format json --quiet");
  REQUIRE_MESSAGE(result.exit_code == 0, result.err);
  return json_of(result.out);
}

double number(const Value& report, const std::string& path) {
  const Value* value = report.find(path);
  REQUIRE_MESSAGE(value != nullptr, path);
  return value->as_number();
}

std::string text(const Value& report, const std::string& path) {
  const Value* value = report.find(path);
  REQUIRE_MESSAGE(value != nullptr, path);
  return value->as_string();
}

std::string errors(const ExperimentFolder& folder, const std::string& arguments) {
  return folder.podsim("run " + arguments + " --engine native --format json").err;
}

std::int64_t always_live(const Value& report, std::size_t device) {
  return report.find("devices")
      ->elements()[device]
      .find("memories")
      ->elements()[0]
      .find("always_live_bytes")
      ->as_integer();
}

std::vector<std::string> cells_of(const std::string& line) {
  std::vector<std::string> cells(1);
  for (const char c : line) {
    if (c == ',') {
      cells.emplace_back();
    } else {
      cells.back() += c;
    }
  }
  return cells;
}

const std::string k_automatic = "bert-large-bow-pod16 --set ipu.auto_loss_scaling=true";

}  // namespace

TEST_CASE("loss scale of a run: a constant that nobody states is the middle of its window and holds") {
  const ExperimentFolder folder;
  const Value report = run(folder, "experiment.toml");
  CHECK(text(report, "loss_scaling.scheme") == "constant");
  CHECK(text(report, "loss_scaling.verdict") == "holds");
  CHECK(text(report, "loss_scaling.number_format") == "float16");
  CHECK_FALSE(report.find("loss_scaling.experimental")->as_boolean());
  const double low = number(report, "loss_scaling.recommended_window.low_log2");
  const double high = number(report, "loss_scaling.recommended_window.high_log2");
  CHECK(number(report, "loss_scaling.initial_scale") == std::exp2(std::floor((low + high) / 2)));
  CHECK(number(report, "loss_scaling.reached_scale") == number(report, "loss_scaling.initial_scale"));
  CHECK(number(report, "throughput.effective_samples_per_s") == number(report, "throughput.samples_per_s"));
  CHECK(contains(folder.podsim("run experiment.toml --engine native").out, "  Loss scale   constant, not stated: 2^"));
  // A check says the same without a rate.
  const Value check = json_of(folder.podsim("check experiment.toml --format json --quiet").out);
  CHECK(text(check, "loss_scaling.verdict") == "holds");
  CHECK(check.find("throughput")->is(Value::Kind::null));
}

TEST_CASE("loss scale of a run: the analysis is that of podsim loss-scale") {
  const ExperimentFolder folder;
  for (const std::string mode : {"", " --set ipu.auto_loss_scaling=true", " --set loss_scaling.initial=64"}) {
    CAPTURE(mode);
    const Value report = run(folder, "experiment.toml" + mode);
    const Value analysis = json_of(folder.podsim("loss-scale experiment.toml --format json --quiet" + mode).out);
    CHECK(text(report, "loss_scaling.scheme") == text(analysis, "mode"));
    CHECK(number(report, "loss_scaling.updates") == number(analysis, "updates"));
    CHECK(number(report, "loss_scaling.ramp_updates") == number(analysis, "ramp_updates"));
    CHECK(number(report, "loss_scaling.reached_scale") == number(analysis, "final_scale"));
    for (const char* key : {"low_log2", "high_log2"}) {
      CHECK(number(report, std::string("loss_scaling.recommended_window.") + key) ==
            number(analysis, std::string("recommended_window.") + key));
    }
    CHECK(text(report, "loss_scaling.limiting_tensor") == text(analysis, "limiting_tensor"));
  }
}

// Published settings: graphcore/examples, nlp/bert/pytorch/configs_pretraining.yml, with automatic loss scaling.
TEST_CASE("loss scale of a run: automatic scaling of BERT-Large doubles from 1 into a cycle and skips nothing") {
  const ExperimentFolder folder;
  const Value analysis = json_of(folder.podsim("loss-scale " + k_automatic + " --format json --quiet").out);
  const auto& changes = analysis.find("trajectory")->elements();
  for (std::size_t i = 0; i < 18; ++i) {
    CHECK(changes[i].find("update")->as_integer() == static_cast<std::int64_t>(i) + 1);
    CHECK(changes[i].find("scale")->as_number() == std::exp2(i));
  }
  const Value with = run(folder, k_automatic);
  CHECK(text(with, "loss_scaling.scheme") == "popart_als");
  CHECK(with.find("loss_scaling.experimental")->as_boolean());
  CHECK(text(with, "loss_scaling.verdict") == "holds");
  const double low = number(with, "loss_scaling.limit_cycle.low_scale");
  CHECK(number(with, "loss_scaling.limit_cycle.high_scale") == 2 * low);
  CHECK(low > 0x1p15);
  CHECK(number(with, "loss_scaling.skipped_updates_pct") == 0);
  const double clipped = number(with, "loss_scaling.saturated_updates_pct");
  CHECK(clipped > 0);
  CHECK(number(with, "throughput.effective_samples_per_s") ==
        doctest::Approx(number(with, "throughput.samples_per_s") * (1 - clipped / 100)));
  // It costs time and memory, and fits.
  const Value without = run(folder, "bert-large-bow-pod16");
  const double slower = number(with, "step.time_s") / number(without, "step.time_s");
  CHECK(slower > 1.03);
  CHECK(slower < 1.10);
  CHECK(always_live(with, 0) - always_live(without, 0) == 100'000'000);
  CHECK(always_live(with, 1) - always_live(without, 1) == 60'000'000);
  const std::string published = k_automatic +
                                " --set ipu.matmul_proportion=[0.05,0.13,0.13,0.13] "
                                "--set ipu.embedding_serialization_factor=6 --set model.vocab_size=30402";
  CHECK(run(folder, published).find("verdict.fits")->as_boolean());
  const CommandResult shown = folder.podsim("run " + k_automatic + " --engine native");
  CHECK(contains(shown.out, "  Loss scale   popart_als (experimental) from 2^0 to a cycle of 2^"));
  CHECK(contains(shown.out, "ipu.auto_loss_scaling: experimental, says PopART"));
}

TEST_CASE("loss scale of a run: verdicts of scales that flush, overflow, break or run away") {
  const ExperimentFolder folder;
  struct Case {
    std::string settings;
    const char* verdict;
  };
  for (const Case& row :
       {Case{"--set loss_scaling.initial=0.0009765625", "flushes"},
        Case{"--set loss_scaling.initial=16777216", "overflows"},
        Case{"--set loss_scaling.initial=16777216 --set loss_scaling.limits.lost_updates=1", "holds"},
        Case{"--set loss_scaling.initial=16777216 --set loss_scaling.numerics.overflow=nan", "overflows"},
        Case{"--set ipu.auto_loss_scaling=true --set loss_scaling.threshold_upper_count_proportion=1", "runaway"}}) {
    CAPTURE(row.settings);
    CHECK(text(run(folder, "experiment.toml " + row.settings), "loss_scaling.verdict") == row.verdict);
  }
  const Value broken =
      run(folder, "experiment.toml --set loss_scaling.initial=16777216 --set loss_scaling.numerics.overflow=infinity");
  CHECK(number(broken, "loss_scaling.ended_update") == 1);
  CHECK(number(broken, "throughput.effective_samples_per_s") == 0);
  CHECK(broken.find("loss_scaling.notes")->elements().back().as_string() ==
        "an infinity or NaN reaches the weights in update 1: nothing skips it");
}

TEST_CASE("loss scale of a run: a scaler that skips is followed for five growth intervals") {
  const ExperimentFolder folder;
  const std::string scaler =
      "experiment.toml --set loss_scaling.mode=grad_scaler --set loss_scaling.numerics.overflow=infinity";
  const Value report = run(folder, scaler);
  CHECK(number(report, "loss_scaling.updates") == 10'000);
  const double skipped = number(report, "loss_scaling.skipped_updates_pct");
  CHECK(skipped > 0);
  CHECK(skipped < 1);
  CHECK(number(report, "throughput.effective_samples_per_s") ==
        doctest::Approx(number(report, "throughput.samples_per_s") * (1 - skipped / 100)));
  CHECK(number(run(folder, scaler + " --set loss_scaling.updates=300"), "loss_scaling.updates") == 300);
}

TEST_CASE("loss scale of a run: its section changes the scale and not the time, and is part of the input") {
  const ExperimentFolder folder;
  const Value usual = run(folder, "experiment.toml");
  folder.write("scaled.toml", folder.read("experiment.toml") + "\n[loss_scaling]\nmode = \"constant\"\ninitial = 64\n");
  const Value scaled = run(folder, "scaled.toml");
  CHECK(number(scaled, "loss_scaling.initial_scale") == 64);
  CHECK(text(scaled, "loss_scaling.initial_origin").starts_with("scaled.toml:17:"));
  CHECK(number(scaled, "step.time_ps") == number(usual, "step.time_ps"));
  CHECK(text(scaled, "inputs.sha256") != text(usual, "inputs.sha256"));
  CHECK(errors(folder, "scaled.toml").empty());
  // The plan that is written reproduces the run.
  REQUIRE(folder.podsim("run scaled.toml --engine native --out out --format json").exit_code == 0);
  CHECK(contains(folder.read("out/plan.toml"), "[loss_scaling]\nmode = \"constant\"  # scaled.toml:16:"));
  CHECK(text(run(folder, "out/plan.toml"), "inputs.sha256") == text(scaled, "inputs.sha256"));
}

TEST_CASE("loss scale of a run: keys and sections without effect are told, bad ones refused") {
  const ExperimentFolder folder;
  const auto told = [&folder](const std::string& settings) { return errors(folder, "experiment.toml " + settings); };
  CHECK(told("--set loss_scaling.initial=64 --set loss_scaling.hysteresis=2") ==
        "command line: warning: loss_scaling.hysteresis: has no effect: mode \"constant\" does not read it\n");
  CHECK(told("--set loss_scaling.statistics=expected --set loss_scaling.gradients.noise=1") ==
        "command line: warning: loss_scaling.gradients.noise: has no effect: nothing is drawn with statistics = "
        "\"expected\"\n");
  CHECK(told("--set loss_scaling.gradients.noise=0 --set loss_scaling.gradients.noise_correlation=0.5") ==
        "command line: warning: loss_scaling.gradients.noise_correlation: has no effect: there is no noise\n");
  CHECK(told("--set loss_scaling.gradients.spike_probability=0 --set loss_scaling.gradients.spike_height=3") ==
        "command line: warning: loss_scaling.gradients.spike_height: has no effect: there are no spikes\n");
  CHECK(told("--set model.head=none --set loss_scaling.initial=64") ==
        "command line: warning: loss_scaling: has no effect: a \"none\" head has no loss that is modelled\n");
  const std::string inference = "--set workload.mode=inference --set ipu.inference_device_iterations=5 ";
  CHECK(contains(told(inference + "--set loss_scaling.initial=64"),
                 "command line: warning: loss_scaling: has no effect: only training has a loss to scale\n"));
  for (const std::string value : {"nan", "inf", "-inf"}) {
    folder.write("bad.toml", folder.read("experiment.toml") + "\n[loss_scaling]\ninitial = " + value + "\n");
    CHECK(folder.refused("run bad.toml") ==
          "bad.toml:16:11: loss_scaling.initial: is not a finite number; expected a number\n");
    CHECK(contains(folder.refused("run experiment.toml --set loss_scaling.initial=" + value), "expected a number"));
  }
  CHECK(contains(folder.refused("run experiment.toml --set loss_scaling.initial=-2"), "-2 is out of range"));
  CHECK(contains(folder.refused("run experiment.toml --seed -1"), "loss_scaling.seed: -1 is out of range"));
}

TEST_CASE("loss scale of a run: what PopART refuses or a run does not count is told") {
  const ExperimentFolder folder;
  const auto told = [&folder](const std::string& settings) { return errors(folder, "experiment.toml " + settings); };
  CHECK(told("--set loss_scaling.mode=popart_als") ==
        "command line: warning: loss_scaling.mode: time and memory of this run hold no histograms: a key of the IPU's "
        "own turns them on; expected ipu.auto_loss_scaling = true\n");
  CHECK(told("--set ipu.auto_loss_scaling=true --set loss_scaling.mode=constant") ==
        "command line: warning: loss_scaling.mode: PopART controls the scale of a run with ipu.auto_loss_scaling; "
        "another mode is followed here; expected popart_als, or ipu.auto_loss_scaling = false\n");
  // 64 micro-batches in an update.
  const std::string period = "--set ipu.auto_loss_scaling=true --set loss_scaling.update_period=";
  const std::string of_every_update =
      "command line: warning: loss_scaling.update_period: acts on the scale alone: the time of this run holds the "
      "histograms of every update\n";
  CHECK(told(period + "1").empty());
  CHECK(told(period + "128") == of_every_update);
  CHECK(told(period + "3") ==
        "command line: warning: loss_scaling.update_period: PopART refuses 3, which neither divides the 64 "
        "micro-batches of an update nor is a multiple of them; expected a divisor or a multiple\n" +
            of_every_update);
  CHECK(contains(folder.refused("run experiment.toml --set ipu.auto_loss_scaling=true --set workload.precision=fp32"),
                 "ipu.auto_loss_scaling: tracks float16 gradients, and fp32 has none"));
}

TEST_CASE("loss scale of a run: bfloat16 on RDUs and single precision need none and flush next to nothing") {
  const ExperimentFolder folder;
  const Value rdu = run(folder, "gpt2-xl-two-sn30");
  CHECK(text(rdu, "loss_scaling.scheme") == "none");
  CHECK(text(rdu, "loss_scaling.number_format") == "bfloat16");
  CHECK(text(rdu, "loss_scaling.verdict") == "holds");
  CHECK(rdu.find("loss_scaling.recommended_window")->is(Value::Kind::null));
  CHECK(number(rdu, "loss_scaling.flushed_values_pct") < 1e-20);
  CHECK(number(rdu, "loss_scaling.subnormal_values_pct") < 1e-20);
  CHECK(number(rdu, "throughput.effective_samples_per_s") == number(rdu, "throughput.samples_per_s"));
  CHECK(contains(folder.podsim("run gpt2-xl-two-sn30 --engine native").out,
                 "  Loss scale   none: bfloat16 gradients need no loss scale\n"));
  // The same gradients in half precision without a scale: the difference of the formats.
  const Value half = run(folder,
                         "gpt2-xl-two-sn30 --set loss_scaling.numerics.format=float16 --set "
                         "loss_scaling.mode=none");
  CHECK(number(half, "loss_scaling.flushed_values_pct") > 10);
  CHECK(errors(folder,
               "gpt2-xl-two-sn30 --set loss_scaling.numerics.format=float16 --set "
               "loss_scaling.mode=popart_als") ==
        "command line: warning: loss_scaling.mode: PopART runs on IPUs alone; the scale is followed as if it ran here; "
        "expected none\n");
  const CommandResult single = folder.podsim("check experiment.toml --set workload.precision=fp32");
  CHECK(contains(single.out, "  Loss scale   none: float32 gradients need no loss scale\n"));
  CHECK(json_of(folder.podsim("check llama-3-70b-sn40l-8 --format json").out)
            .find("loss_scaling")
            ->is(Value::Kind::null));
}

TEST_CASE("loss scale of a run: equal seeds give equal bytes, and the seed is that of the section") {
  const ExperimentFolder folder;
  const std::string command = "check " + k_automatic + " --format json --quiet";
  CHECK(folder.podsim(command).out == folder.podsim(command).out);
  const Value first = run(folder, k_automatic);
  const Value same = run(folder, k_automatic + " --seed 7");
  const Value other = run(folder, k_automatic + " --set loss_scaling.seed=7");
  CHECK(number(same, "loss_scaling.saturated_updates_pct") == number(other, "loss_scaling.saturated_updates_pct"));
  CHECK(number(same, "loss_scaling.saturated_updates_pct") != number(first, "loss_scaling.saturated_updates_pct"));
}

TEST_CASE("loss scale of a run: a sweep over its keys has a column for each answer") {
  const ExperimentFolder folder;
  const CommandResult swept =
      folder.podsim("sweep run experiment.toml --axis loss_scaling.initial=0.0009765625,64,16777216 --quiet");
  REQUIRE(swept.exit_code == 0);
  std::vector<std::vector<std::string>> rows;
  for (std::size_t begin = 0; begin < swept.out.size();) {
    const std::size_t end = swept.out.find('\n', begin);
    rows.push_back(cells_of(swept.out.substr(begin, end - begin)));
    begin = end + 1;
  }
  REQUIRE(rows.size() == 4);
  const auto column = [&rows](const std::string& name) {
    return static_cast<std::size_t>(std::find(rows[0].begin(), rows[0].end(), name) - rows[0].begin());
  };
  const std::size_t verdict = column("loss_scale_verdict");
  CHECK(rows[1][verdict] == "flushes");
  CHECK(rows[2][verdict] == "holds");
  CHECK(rows[3][verdict] == "overflows");
  CHECK(rows[2][column("reached_loss_scale")] == "64");
  CHECK(rows[2][column("effective_samples_per_s")] == rows[2][column("samples_per_s")]);
  CHECK(rows[3][column("effective_samples_per_s")] == "0");
  const CommandResult without = folder.podsim("sweep run experiment.toml --axis workload.micro_batch_size=1 --quiet");
  CHECK(contains(without.out, ",,,,,,native,"));  // an empty cell for each answer
}

TEST_CASE("loss scale of a run: every metric is explained") {
  const ExperimentFolder folder;
  CHECK(contains(folder.podsim("explain throughput.effective_samples_per_s").out,
                 "updates that the loss scale neither\n  makes the optimizer skip nor clips"));
  CHECK(contains(folder.podsim("explain loss_scaling.limit_cycle").out, "when neither noise nor\n  spikes are drawn"));
}
