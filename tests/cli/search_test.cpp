#include <doctest/doctest.h>

#include <regex>
#include <string>

#include "sim/config/value.hpp"
#include "tests/support/experiment_folder.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

Value json_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto value = parse_json(text, "output", diagnostics);
  REQUIRE_MESSAGE(value.has_value(), diagnostics.to_text());
  return *value;
}

// The folder's experiment, of little else than replicas and micro-batches.
const std::string k_small =
    "search experiment.toml --fix workload.recompute --fix ipu.recompute_checkpoint_every_layer --fix "
    "ipu.embedding_serialization_factor --fix ipu.optimizer_state_offchip --fix ipu.replicated_tensor_sharding";

}  // namespace

TEST_CASE("search: the ipu_config.json that it writes runs as fast as it says") {
  const ExperimentFolder folder;
  const CommandResult found = folder.podsim(k_small + " --format json --out best --quiet");
  REQUIRE_MESSAGE(found.exit_code == 0, found.err);
  CHECK(found.err.empty());
  CHECK(found.out == folder.read("best/search.json"));
  const Value result = json_of(found.out);
  const double rate = result.find("winner.point.samples_per_s")->as_number();
  CHECK(rate >= result.find("scenarios")->elements()[0].find("as_written.samples_per_s")->as_number());
  const std::int64_t micro_batch = result.find("winner.point.micro_batch")->as_integer();
  const CommandResult file = folder.podsim(
      "run experiment.toml --ipu-config best/ipu_config.json --engine native --format json --set "
      "workload.micro_batch_size=" +
      std::to_string(micro_batch));
  REQUIRE_MESSAGE(file.exit_code == 0, file.err);
  CHECK(json_of(file.out).find("throughput.samples_per_s")->as_number() == rate);
  const CommandResult plan = folder.podsim("run best/plan.toml --engine native --format json");
  REQUIRE_MESSAGE(plan.exit_code == 0, plan.err);
  CHECK(json_of(plan.out).find("throughput.samples_per_s")->as_number() == rate);
}

TEST_CASE("search: the reference engine runs the best one, too, and the difference is told") {
  const ExperimentFolder folder;
  const CommandResult found = folder.podsim(k_small + " --runners-up 2");
  REQUIRE_MESSAGE(found.exit_code == 0, found.err);
  CHECK(contains(found.out, "simgrid agrees within "));
  CHECK(contains(found.out, "global batch 512 kept"));
  CHECK(contains(found.out, "Rejected, of those judged\n"));
  CHECK(contains(found.out, "ipu_config.json\n{\n"));
  CHECK(std::regex_search(found.err, std::regex("[0-9,]+ of [0-9,]+ configurations looked at in [0-9.]+ s\n")));
}

TEST_CASE("search: files are only replaced with --force") {
  const ExperimentFolder folder;
  folder.write("best/search.txt", "mine");
  const CommandResult refused = folder.podsim(k_small + " --out best");
  CHECK(refused.exit_code == 2);
  CHECK(refused.err == "podsim: best/search.txt exists; give --force to replace it (see `podsim search --help`)\n");
  CHECK(folder.read("best/search.txt") == "mine");
  CHECK(folder.podsim(k_small + " --out best --force --quiet").exit_code == 0);
  CHECK(folder.read("best/search.txt") != "mine");
}

TEST_CASE("search: what cannot be is told before anything is searched") {
  const ExperimentFolder folder;
  CHECK(folder.refused("search experiment.toml --objective speed") ==
        "podsim: option --objective: unknown objective \"speed\"; expected throughput, samples-per-joule, "
        "cost-per-sample, smallest-system (see `podsim search --help`)\n");
  CHECK(folder.refused("search experiment.toml --global-batch many") ==
        "podsim: option --global-batch: \"many\" is no batch; expected keep, N or A..B, from 1 to 1,000,000,000 (see "
        "`podsim search --help`)\n");
  CHECK(folder.refused("search experiment.toml --global-batch 9..3") ==
        "podsim: option --global-batch: \"9..3\" is no batch; expected keep, N or A..B, from 1 to 1,000,000,000 (see "
        "`podsim search --help`)\n");
  CHECK(folder.refused("search experiment.toml --memory-headroom 120%") ==
        "podsim: option --memory-headroom: \"120%\" is no share; expected 5% or 0.05 (see `podsim search --help`)\n");
  CHECK(folder.refused("search experiment.toml --least-throughput fast") ==
        "podsim: option --least-throughput: \"fast\" is no number above 0 (see `podsim search --help`)\n");
  CHECK(folder.refused("search experiment.toml --runners-up -1") ==
        "podsim: option --runners-up: -1 is not from 0 to 1000 (see `podsim search --help`)\n");
  CHECK(folder.refused("search experiment.toml --fix ipu.layers_per_ipu --vary ipu.layers_per_ipu=[24],[12,12]") ==
        "command line: --vary: ipu.layers_per_ipu is fixed, too; expected --fix or --vary\n");
  CHECK(folder.refused("search experiment.toml --vary nonsense") ==
        "command line: --vary: \"nonsense\" is no axis; expected KEY=VALUE,VALUE,…\n");
  CHECK(contains(folder.refused("search experiment.toml --vary system.nonsense=1,2"),
                 "command line: system.nonsense: unknown constant"));
  const std::string fixed = folder.refused("search experiment.toml --fix workload.micro_batch_size=0");
  CHECK(contains(fixed, "command line: workload.micro_batch_size: 0 is out of range"));
  CHECK_FALSE(contains(fixed, "--global-batch"));
  CHECK(folder.refused("search experiment.toml --systems pod16,pod17") ==
        "command line: system: no system is called \"pod17\"; expected one of bow-pod128, bow-pod16, bow-pod256, "
        "bow-pod32, bow-pod4, bow-pod64, bow-pod8, c600, gc2-c2, pod128, pod16, pod256, pod32, pod4, pod64, pod8, "
        "sn10, sn20, sn30, sn40l-16, sn40l-8, or the path of a .toml file; did you mean \"pod16\"?\n");
}

TEST_CASE("search: nothing that fits is exit code 3") {
  const ExperimentFolder folder;
  const CommandResult none = folder.podsim(k_small + " --memory-headroom 99% --quiet");
  CHECK(none.exit_code == 3);
  CHECK(contains(none.out, "No configuration fits and keeps the limits"));
}

TEST_CASE("search: it ends after so many points and says that there may be better ones") {
  const ExperimentFolder folder;
  const CommandResult some = folder.podsim("search experiment.toml --max-points 3 --quiet --format json");
  REQUIRE_MESSAGE(some.exit_code == 0, some.err);
  CHECK(json_of(some.out).find("counts.judged")->as_integer() == 3);
  CHECK_FALSE(json_of(some.out).find("counts.complete")->as_boolean());
}
