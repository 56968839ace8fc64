// What does `podsim loss-scale` print, and what does it refuse?
#include <doctest/doctest.h>

#include <string>

#include "sim/config/value.hpp"
#include "tests/support/experiment_folder.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

Value json_of(const std::string& text) {
  Diagnostics diagnostics;
  const std::optional<Value> value = parse_json(text, "output.json", diagnostics);
  REQUIRE_MESSAGE(value.has_value(), diagnostics.to_text());
  return *value;
}

}  // namespace

TEST_CASE("loss-scale: text heads with mode, recommended window and scales") {
  const ExperimentFolder folder;
  const CommandResult result =
      folder.podsim("loss-scale experiment.toml --set loss_scaling.mode=popart_als --set loss_scaling.updates=100");
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(
      result.out.starts_with("case\n  mode                 popart_als\n  verdict              holds, outside the "
                             "recommended window (2^"));
  for (const char* part : {"  recommended          2^", "  scale                2^0 from update 1, 2^1 from update 2",
                           "gradient, worst layer", "vocabulary_weight_gradient"}) {
    CAPTURE(part);
    CHECK(contains(result.out, part));
  }
}

TEST_CASE("loss-scale: JSON repeats byte for byte and its seed matters") {
  const ExperimentFolder folder;
  const std::string command =
      "loss-scale experiment.toml --format json --set loss_scaling.mode=grad_scaler --set "
      "loss_scaling.numerics.overflow=infinity --set loss_scaling.growth_interval=5";
  const CommandResult first = folder.podsim(command);
  REQUIRE(first.exit_code == 0);
  CHECK(folder.podsim(command).out == first.out);
  const CommandResult other = folder.podsim(command + " --seed 2");
  CHECK(other.out != first.out);
  const Value json = json_of(first.out);
  CHECK(json.find("mode")->as_string() == "grad_scaler");
  CHECK(json.find("seed")->as_integer() == 1);
  CHECK(json.find("updates")->as_integer() == 1000);
  CHECK(json.find("skipped_updates")->as_integer() > 0);
  CHECK(json.find("recommended_window.feasible")->as_boolean());
  CHECK(json.find("recommended_window.low_log2")->as_integer() <
        json.find("recommended_window.high_log2")->as_integer());
  CHECK(json.find("trajectory")->elements().front().find("scale")->as_number() == 65536);
  CHECK(json.find("tensors")->elements().size() > 100);
}

TEST_CASE("loss-scale: a scale that runs away is told and is no number of JSON") {
  const ExperimentFolder folder;
  const std::string command =
      "loss-scale experiment.toml --set loss_scaling.mode=popart_als --set "
      "loss_scaling.threshold_upper_count_proportion=1";
  const Value json = json_of(folder.podsim(command + " --format json").out);
  CHECK(json.find("runaway")->as_boolean());
  CHECK(json.find("final_scale")->is(Value::Kind::null));
  CHECK(json.find("verdict")->as_string() == "runaway");
  CHECK(contains(folder.podsim(command).out, "the scale grows without end"));
}

TEST_CASE("loss-scale: JSON has trajectory, shares of each tensor, events, cycle, window and loss of updates") {
  const ExperimentFolder folder;
  const Value json =
      json_of(folder
                  .podsim("loss-scale experiment.toml --set ipu.auto_loss_scaling=true --format json --set "
                          "loss_scaling.updates=300")
                  .out);
  for (const char* key : {"mode",
                          "verdict",
                          "format",
                          "overflow",
                          "seed",
                          "statistics",
                          "recommended_window.low_log2",
                          "recommended_window.high_log2",
                          "recommended_window.low_tensor",
                          "recommended_window.high_tensor",
                          "balance_log2",
                          "trajectory",
                          "updates",
                          "final_scale",
                          "first_overflow_update",
                          "overflowed_updates",
                          "expected_overflows",
                          "skipped_updates",
                          "saturated_updates",
                          "ramp_updates",
                          "rises",
                          "falls",
                          "limit_cycle.low",
                          "limit_cycle.high",
                          "runaway",
                          "failure",
                          "limiting_tensor",
                          "update_loss",
                          "tensors",
                          "notes",
                          "settings"}) {
    CHECK_MESSAGE(json.find(key) != nullptr, key);
  }
  const Value& tensor = json.find("tensors")->elements().front();
  for (const char* share : {"flushed", "subnormal", "at_edge", "overflowed"}) {
    for (const char* point : {"min", "median", "max"}) {
      const Value* value = tensor.find(std::string(share) + "." + point);
      REQUIRE_MESSAGE(value != nullptr, share);
      CHECK(value->as_number() >= 0);
      CHECK(value->as_number() <= 1);
    }
  }
  CHECK(json.find("limit_cycle.high")->as_number() == 2 * json.find("limit_cycle.low")->as_number());
  CHECK(json.find("skipped_updates")->as_integer() == 0);
}

TEST_CASE("loss-scale: a million updates in expectation end in the cycle") {
  const ExperimentFolder folder;
  const CommandResult result = folder.podsim(
      "loss-scale experiment.toml --set ipu.auto_loss_scaling=true --set loss_scaling.updates=1000000 --set "
      "loss_scaling.statistics=expected");
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "\n  limit cycle          2^"));
  CHECK(contains(result.out, "in none of 1000000 updates"));
  CHECK(contains(folder.refused("loss-scale experiment.toml --set loss_scaling.updates=1000001"), "is out of range"));
}

TEST_CASE("loss-scale: bfloat16 takes no scale, and none is recommended") {
  const ExperimentFolder folder;
  const CommandResult result = folder.podsim(
      "loss-scale experiment.toml --set loss_scaling.numerics.format=bfloat16 --set workload.micro_batch_size=64");
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "  mode                 none\n"));
  CHECK(contains(result.out, "  recommended          none needed: bfloat16 gradients\n"));
  CHECK_FALSE(contains(result.out, "2^127"));
  const std::string command = "loss-scale experiment.toml --format json --set loss_scaling.numerics.format=bfloat16";
  CHECK(json_of(folder.podsim(command).out).find("recommended_window")->is(Value::Kind::null));
}

TEST_CASE("loss-scale: a constant that holds outside of the window says so, and which limits are the narrower ones") {
  const ExperimentFolder folder;
  const std::string with = "loss-scale bert-large-bow-pod16 --set loss_scaling.initial=";
  const std::string high = folder.podsim(with + "262144").out;
  CHECK(contains(high, "  verdict              holds, outside the recommended window (2^3 to 2^15)\n"));
  CHECK(contains(high, "loss_scaling.limits.overflow=0.001"));
  CHECK(contains(high, "loss_scaling.limits.lost_updates=0.1"));
  const std::string low = folder.podsim(with + "1").out;
  CHECK(contains(low, "  verdict              holds, outside the recommended window (2^3 to 2^15)\n"));
  CHECK(contains(low, "loss_scaling.limits.flush=0.01"));
  CHECK(contains(folder.podsim(with + "4096").out, "  verdict              holds\n"));
  const std::string run = folder.podsim("check bert-large-bow-pod16 --set loss_scaling.initial=262144").out;
  CHECK(contains(run, "  Loss scale   constant 2^18; holds, outside the recommended window (constant 2^3 to 2^15)\n"));
}

TEST_CASE("loss-scale: a power of two may be written as it is printed") {
  const ExperimentFolder folder;
  const std::string with = "loss-scale experiment.toml --set loss_scaling.initial=";
  CHECK(folder.podsim(with + "2^12").out == folder.podsim(with + "4096").out);
  CHECK(contains(folder.refused(with + "2^x"),
                 "loss_scaling.initial: is a string; expected a number or a power of two such as \"2^12\""));
  CHECK(contains(folder.refused(with + "2^400"), "loss_scaling.initial: 2^400 is out of range"));
}

TEST_CASE("loss-scale: an automatic mode tells the scale it reaches, whether that is its balance, and its cost") {
  const ExperimentFolder folder;
  const std::string keras = folder.podsim("loss-scale bert-large-bow-pod16 --set loss_scaling.mode=keras_als").out;
  CHECK(contains(keras, "  reached              2^14 in update 1000, the last followed\n"));
  CHECK(contains(keras, "  balance              2^22.4, not reached: "));
  CHECK_FALSE(contains(keras, "keras_als balances"));
  CHECK(contains(keras, "  cost                 not modelled: a run's time and memory hold none\n"));
  const std::string popart = folder.podsim("loss-scale bert-large-bow-pod16 --set loss_scaling.mode=popart_als").out;
  CHECK(contains(popart, "  balance              2^18.3, where as many values are large as the mode accepts\n"));
  CHECK(contains(popart, "popart_als balances at 2^18.3"));
  CHECK(contains(popart, "< 1e-12"));
  CHECK_FALSE(contains(popart, "e-180"));
  CHECK(contains(popart,
                 "  cost                 left out of a run's time and memory; ipu.auto_loss_scaling=true adds it\n"));
  CHECK(contains(folder.podsim("loss-scale bert-large-bow-pod16 --set ipu.auto_loss_scaling=true").out,
                 "  cost                 its histograms are in the time and memory of a run"));
  const std::string head = folder
                               .podsim(
                                   "check bert-large-bow-pod16 --format markdown --quiet --set "
                                   "loss_scaling.mode=popart_als")
                               .out;
  CHECK(contains(head, "its cost is left out of a run's time and memory; ipu.auto\\_loss\\_scaling=true adds it"));
}

TEST_CASE("loss-scale: small shares of the page have digits") {
  const ExperimentFolder folder;
  const std::string page =
      folder.podsim("loss-scale bert-large-bow-pod16 --set loss_scaling.mode=popart_als --format markdown --quiet").out;
  CHECK(contains(page, "e-05 %"));
  CHECK(contains(page, "practically 0 %"));
}

TEST_CASE("loss-scale: published constants come with their verdict and source") {
  const ExperimentFolder folder;
  const CommandResult text = folder.podsim("loss-scale --published");
  CHECK(text.exit_code == 0);
  CHECK(contains(text.out, "bert-large-128"));
  CHECK(contains(text.out, "inside"));
  CHECK(contains(text.out, "outside"));
  CHECK(contains(text.out, "rank correlation"));
  const Value json = json_of(folder.podsim("loss-scale --published --format json").out);
  CHECK(json.find("cases")->elements().size() == static_cast<std::size_t>(json.find("count")->as_integer()));
}

TEST_CASE("loss-scale: bad settings are told with their place, all at once") {
  const ExperimentFolder folder;
  const std::string errors = folder.refused(
      "loss-scale experiment.toml --set loss_scaling.initial=-4 --set loss_scaling.mod=x --set "
      "loss_scaling.limits.flush=2");
  CHECK(contains(errors, "command line: loss_scaling.initial: -4 is out of range"));
  CHECK(contains(errors, "command line: loss_scaling.mod: unknown key; did you mean \"mode\"?"));
  CHECK(contains(errors, "command line: loss_scaling.limits.flush: 2 is out of range"));
  CHECK(contains(folder.refused("loss-scale experiment.toml --seed -1"), "loss_scaling.seed: -1 is out of range"));
  CHECK(contains(folder.refused("loss-scale experiment.toml --published"), "it takes no experiment"));
  CHECK(contains(folder.refused("loss-scale"), "no experiment"));
}
