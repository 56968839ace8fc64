// Which machine does a job by a deadline, as a planner asks.
#include <doctest/doctest.h>

#include <string>

#include "sim/config/value.hpp"
#include "tests/support/experiment_folder.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

const std::string k_job = "capacity bert-large-bow-pod16 --target-samples 1000000000 --systems bow-pod16,bow-pod64";

}  // namespace

TEST_CASE(
    "capacity: a thousand million samples in a day want a Bow Pod64, and the report says why it is not four times "
    "faster") {
  const ExperimentFolder folder;
  const CommandResult result = folder.podsim(k_job + " --deadline 24h");
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with(
      "1,000,000,000 samples, within 24.0 h\nbert-large-uncased, training, global batch 65,536"));
  CHECK(contains(result.out, "\n  bow-pod16        1       16     0      1"));
  CHECK(contains(result.out, "too slow: 54.6 h\n"));
  CHECK(contains(result.out, "  CHOSEN\n"));
  CHECK(contains(result.out, "\nWhy\n  bow-pod64 has 4 times the devices of bow-pod16 and 3."));
  CHECK(
      contains(result.out, "\n  bow-pod64: ipu.replication_factor = 16, ipu.gradient_accumulation_steps = 512, for "));
  CHECK(contains(result.out, "\nNot counted\n  evaluation, data loading\n  compiling where it is not modelled\n"));
}

TEST_CASE("capacity: without a row that meets the goals the exit code is three") {
  const ExperimentFolder folder;
  const CommandResult result = folder.podsim(k_job + " --deadline 1h");
  CHECK(result.exit_code == 3);
  CHECK(contains(result.out, "\nnone meets the goals\n"));
}

TEST_CASE("capacity: JSON has the rows in base units") {
  const ExperimentFolder folder;
  Diagnostics diagnostics;
  const auto json = parse_json(folder.podsim(k_job + " --deadline 24h --format json").out, "j", diagnostics);
  REQUIRE_MESSAGE(json.has_value(), diagnostics.to_text());
  const Value& rows = *json->find("rows");
  REQUIRE(rows.elements().size() == 2);
  CHECK(rows.elements()[0].find("status")->as_string() == "misses");
  CHECK(rows.elements()[1].find("chosen")->as_boolean());
  CHECK(rows.elements()[1].find("devices")->as_integer() == 64);
  CHECK(rows.elements()[1].find("cost")->is(Value::Kind::null));
}

TEST_CASE("capacity: wrong goals and costs are told") {
  const ExperimentFolder folder;
  CHECK(contains(folder.refused(k_job + " --deadline 24"), "podsim: option --deadline: "));
  CHECK(contains(folder.refused(k_job + " --budget -1"), "option --budget: \"-1\" is no number above 0"));
  CHECK(contains(folder.refused(k_job + " --nodes 1,x"), "option --nodes: \"x\" is no number above 0"));
  CHECK(contains(folder.refused(k_job + " --epochs 2"), "give one of --target-samples, --target-tokens, --epochs"));
  folder.write("costs.toml", "[systems.bow-pod16]\nprice = 3\n");
  CHECK(
      contains(folder.refused(k_job + " --costs costs.toml"), "costs.toml:2:1: systems.bow-pod16.price: unknown key"));
  CHECK(
      contains(folder.refused(k_job + " --costs missing.toml"), "--costs: cannot read \"missing.toml\": no such file"));
}
