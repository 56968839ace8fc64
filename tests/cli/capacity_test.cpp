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

TEST_CASE("capacity: where several rows meet the goals, the report says what decided between them") {
  const ExperimentFolder folder;
  const CommandResult by_devices = folder.podsim(k_job + " --deadline 100h");
  CHECK(contains(by_devices.out, "  CHOSEN, fewest devices\n"));
  CHECK(contains(by_devices.out, "  meets the goals\n"));
  folder.write("costs.toml", "[systems.bow-pod16]\nprice_per_hour = 100\n[systems.bow-pod64]\nprice_per_hour = 10\n");
  const CommandResult by_cost = folder.podsim(k_job + " --deadline 100h --costs costs.toml");
  CHECK(contains(by_cost.out, "  CHOSEN, cheapest\n"));
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
  CHECK(contains(folder.refused(k_job + " --deadline 0h"), "option --deadline: \"0h\" is not above 0"));
  CHECK(contains(folder.refused("capacity bert-large-bow-pod16 --target-samples -5"),
                 "option --target-samples: -5 is not above 0"));
  CHECK(contains(folder.refused(k_job + " --budget -1"), "option --budget: \"-1\" is no number above 0"));
  CHECK(contains(folder.refused(k_job + " --nodes 1,x"), "option --nodes: \"x\" is no number above 0"));
  CHECK(contains(folder.refused(k_job + " --epochs 2"), "give one of --target-samples, --target-tokens, --epochs"));
  folder.write("costs.toml", "[systems.bow-pod16]\nprice = 3\n");
  CHECK(
      contains(folder.refused(k_job + " --costs costs.toml"), "costs.toml:2:1: systems.bow-pod16.price: unknown key"));
  CHECK(
      contains(folder.refused(k_job + " --costs missing.toml"), "--costs: cannot read \"missing.toml\": no such file"));
}

TEST_CASE("capacity: a goal of other work, a slip in a name and costs of no row are told") {
  const ExperimentFolder folder;
  CHECK(folder.refused("capacity bert-large-bow-pod16 --users 5 --tokens-per-s 3") ==
        "command line: --users: is no goal of training; expected an experiment in mode generation\n"
        "command line: --tokens-per-s: is no goal of training; expected an experiment in mode generation\n");
  CHECK(folder.refused("capacity llama-3-70b-sn40l-8 --target-samples 100 --deadline 1h") ==
        "command line: --deadline: is no goal of generation; expected an experiment in mode training\n"
        "command line: workload.target_samples: is no goal of generation; expected an experiment in mode training\n");
  const std::string job = "capacity bert-large-bow-pod16 --target-samples 1000 ";
  CHECK(contains(folder.refused(job + "--systems bow-pod16,bow-pod61"),
                 "command line: system: no system is called \"bow-pod61\""));
  CHECK(contains(folder.refused(job + "--systems bow-pod16,,pod16"),
                 "option --systems: \"bow-pod16,,pod16\" has an empty name"));
  CHECK(contains(folder.refused(job + "--systems pod16,pod16"), "option --systems: \"pod16\" stands twice"));
  CHECK(contains(folder.refused(job + "--nodes 1000000"), "command line: system.nodes: "));
  CHECK(folder.refused("capacity bert-large-bow-pod16 --deadline 24h") ==
        "command line: --deadline: there is no target that is to be reached by then; expected --target-samples, "
        "--target-tokens or --epochs\n");
  CHECK(contains(folder.podsim("capacity gpt2-bow-pod16 gpt2-sn30 --target-tokens 1000000000 --mixed").out,
                 "the choice is by the number of devices, which are of different kinds"));
  CHECK(contains(folder.refused(job + "--budget 5"), "option --budget: no price is known; give --costs FILE.toml"));
  folder.write("costs.toml", "[systems.pod64]\nprice_per_hour = 3\n");
  CHECK(contains(folder.podsim(job + "--costs costs.toml").out,
                 "\nWarnings\n  systems.pod64 of --costs has no effect: no row is of it\n"));
  folder.write("dear.toml", "[systems.bow-pod16]\nprice_per_hour = 1e308\n");
  CHECK(contains(folder.refused(job + "--costs dear.toml"), "dear.toml:2:18: systems.bow-pod16.price_per_hour: "));
}

TEST_CASE("capacity: what fails more often than it can be saved never ends") {
  const ExperimentFolder folder;
  folder.write("costs.toml",
               "[systems.bow-pod16]\nmtbf = \"1 h\"\n[checkpoint]\nsize = \"1000 TB\"\nbandwidth = \"1 B/s\"\n");
  const CommandResult result = folder.podsim("capacity bert-large-bow-pod16 --target-samples 1000 --costs costs.toml");
  CHECK(result.exit_code == 3);
  CHECK(contains(result.out, "never ends: failures come faster than checkpoints are written"));
  CHECK(
      folder.podsim("capacity bert-large-bow-pod16 --target-samples 1000 --costs costs.toml --format json").exit_code ==
      3);
}

TEST_CASE("capacity: another model or head is other work, and each row names its own when both are wanted") {
  const ExperimentFolder folder;
  // Parameters of the smaller: (50272 padded words + 1024 positions) · 768 + 12 · (12 · 768² + 13 · 768) + 2 · 768.
  const std::string models = "capacity gpt2-caraml-pod4 gpt2-xl-two-sn30 --target-tokens 1000000000";
  CHECK(contains(folder.refused(models),
                 "command line: sn30: is not of the same work: model of gpt2 (124,451,328 parameters) on pod4, of "));
  const CommandResult mixed = folder.podsim(models + " --mixed");
  CHECK(contains(mixed.out, "\npod4: gpt2 (124,451,328 parameters), head causal-lm, training, global batch 256, "));
  CHECK(contains(mixed.out, "\nsn30: gpt2-xl ("));
  CHECK(contains(mixed.out, "  not of the same work: model of gpt2 (124,451,328 parameters) on pod4, of gpt2-xl ("));
}

TEST_CASE("capacity: settings of one system in several numbers say which number") {
  const ExperimentFolder folder;
  const CommandResult result = folder.podsim("capacity bert-large-bow-pod16 --target-samples 10000000 --nodes 1,2");
  CHECK(
      contains(result.out, "\n  2 × bow-pod16: ipu.replication_factor = 8, ipu.gradient_accumulation_steps = 1024, "));
}

TEST_CASE("capacity: a system that cannot run or hold the experiment says why, and what would help") {
  const ExperimentFolder folder;
  const std::string job = "capacity bert-large-bow-pod16 --target-samples 1000000";
  CHECK(contains(one_line(folder.podsim(job + " --systems bow-pod16,sn30").out),
                 "software: \"poplar-popart\" is of family \"ipu\", system \"sn30\" is of family \"rdu\"; expected one "
                 "of sambaflow-1.17, sambaflow-1.18"));
  const CommandResult full = folder.podsim(job + " --set workload.micro_batch_size=64");
  CHECK(full.exit_code == 3);
  CHECK(contains(full.out, "does not fit: tile memory on ipu0 needs 1."));
  CHECK(contains(one_line(full.out), " GiB, has 825.2 MiB; try workload.micro_batch_size = "));
}

TEST_CASE("capacity: users that each take a system are told of larger batches") {
  const ExperimentFolder folder;
  CHECK(contains(one_line(folder.podsim("capacity llama-3-70b-sn40l-8 --users 100 --tokens-per-s 20").out),
                 " Warnings sn40l-8 serves 1 request at once, 100 users take 100 systems: a larger batch (in the "
                 "compile command, where the experiment has one) takes fewer, "));
}

TEST_CASE("capacity: a deadline may be in days, as reports print times") {
  const ExperimentFolder folder;
  CHECK(folder.podsim(k_job + " --deadline '1 day'").out == folder.podsim(k_job + " --deadline 24h").out);
}
