// Inputs at the edge of sense: each ends at once in a message, a warning or a verdict.

#include <doctest/doctest.h>

#include <string>

#include "tests/support/experiment_folder.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim::test;

namespace {

CommandResult call(const std::string& arguments) {
  return run_command(shell_quoted(program()) + " " + arguments, source_dir());
}

const std::string k_experiment = " bert-large-bow-pod16 --engine native ";

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

// The single line on standard error of a run that is refused.
std::string told(const std::string& options) {
  const CommandResult result = call("run" + k_experiment + options);
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  return result.err;
}

}  // namespace

TEST_CASE("extremes: constants that contradict each other are refused at their place") {
  CHECK(told("--set memory.usable_fraction=1.5") ==
        "command line: memory.usable_fraction: is no part of the memory; expected more than 0 and at most 1\n");
  CHECK(told("--set \"cost.launch_sync=900 cycles\"") ==
        "command line: cost.launch_sync: is a part of cost.launch, and more than it; expected at most cost.launch\n");
  CHECK(told("--set \"cost.pass_exchange=5 cycles\"") ==
        "command line: cost.pass_exchange: is a part of cost.pass, and more than it; expected at most cost.pass\n");
  CHECK(told("--set software.optimizer_state=abc") ==
        "command line: software.optimizer_state: is no place for optimizer state; expected off-chip or on-chip\n");
  CHECK(told("--set system.machines=9") ==
        "configs/systems/bow-pod16.toml:7:8: system.ipus: is not system.machines times system.ipus_per_machine; "
        "expected 36\n");
}

TEST_CASE("extremes: a constant that is an empty table is no value") {
  CHECK(told("--set chip.clock={}") ==
        "command line: chip.clock: is an empty table; expected a value, or constants below it\n");
}

TEST_CASE("extremes: an overlay may be copied from a shipped file") {
  const TemporaryFolder folder;
  const std::string overlay = folder.write(
      "o.toml", "[system.ring]\nbandwidth = { value = \"5 GB/s\", source = \"mine\", confidence = \"assumed\" }\n");
  const CommandResult result = call("run" + k_experiment + "--format json --overlay " + shell_quoted(overlay));
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "\"written\": \"5 GB/s\""));
}

TEST_CASE("extremes: keys without end are refused") {
  const TemporaryFolder folder;
  std::string key = "a";
  for (int i = 0; i < 1000; ++i) key += ".a";
  const CommandResult file = call("run " + shell_quoted(folder.write("d.toml", key + " = 1\n")));
  CHECK(file.exit_code == 2);
  CHECK(has(file.err, "d.toml:1:1: a key of more than 256 parts\n"));
  CHECK(has(told("--set " + key + "=1"), "is not a key"));
}

TEST_CASE("extremes: an option without a value is refused") {
  CHECK(has(told("--out ''"), "option --out needs a value: DIR"));
  CHECK(has(told("--trace ''"), "option --trace needs a value: FILE"));
}

TEST_CASE("extremes: an input is not overwritten, whatever the force") {
  const ExperimentFolder folder;
  const CommandResult result = folder.podsim("run experiment.toml --engine native --trace experiment.toml --force");
  CHECK(result.exit_code == 2);
  CHECK(has(result.err, "experiment.toml is an input of this run; name another file"));
  CHECK(folder.podsim("run experiment.toml --engine native --out o").exit_code == 0);
  CHECK(has(folder.refused("run o/plan.toml --engine native --out o --force"),
            "o/plan.toml is an input of this run; name another file"));
}

TEST_CASE("extremes: an exact run without end is refused") {
  CHECK(has(told("--exact --set ipu.gradient_accumulation_steps=100000000"), "command line: --exact: would execute "));
}

TEST_CASE("extremes: what does not fit is judged and not simulated") {
  const CommandResult result = call("run" + k_experiment + "--set workload.micro_batch_size=4096");
  CHECK(result.exit_code == 3);
  CHECK(has(result.out, "DOES NOT FIT"));
  CHECK_FALSE(has(result.out, "Throughput"));
  CHECK(has(result.err, "does not fit: nothing was simulated\n"));
}

TEST_CASE("extremes: control characters of a name do not reach the terminal") {
  const CommandResult result = call("run" + k_experiment + "--set 'name=\"\\u001b[31mred\\u0007\"'");
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with("?[31mred?\n"));
}

TEST_CASE("extremes: a pack holds at most a sequence per token") {
  CHECK(told("--set workload.packing_factor=129") ==
        "command line: workload.packing_factor: 129 sequences in a pack of 128 tokens; expected at most a sequence per "
        "token\n");
}

TEST_CASE("extremes: more FLOP per second than the peak is told") {
  const CommandResult result = call("run" + k_experiment + "--set \"chip.clock=1000 GHz\"");
  CHECK(has(result.out, "more FLOP/s than the chip's peak: the constants of cost and chip do not belong together"));
}

TEST_CASE("extremes: an unknown class of a known type is told") {
  const TemporaryFolder folder;
  const std::string model = folder.write("m.json",
                                         "{\"model_type\": \"bert\", \"architectures\": "
                                         "[\"BertForFoo\"], \"num_hidden_layers\": 24}");
  const CommandResult result = call("check --format json --system bow-pod16 --model " + shell_quoted(model) +
                                    " --set ipu.layers_per_ipu=[3,7,7,7] --set ipu.gradient_accumulation_steps=16");
  CHECK(has(result.err, "m.json:1:41: warning: architectures: \"BertForFoo\" is not known: the head is taken as \""));
}

TEST_CASE("extremes: axes of a sweep are a set of known keys") {
  const CommandResult twice = call("sweep run gpt2-caraml-pod4 --axis ipu.seed=1 --axis ipu.seed=2");
  CHECK(twice.exit_code == 2);
  CHECK(twice.err == "command line: --axis: \"ipu.seed\" is an axis twice; expected all its values in one\n");
  const CommandResult unknown = call("sweep run gpt2-caraml-pod4 --axis workload.micro_batch_sise=1,2");
  CHECK(unknown.exit_code == 2);
  CHECK(has(unknown.err, "command line: workload.micro_batch_sise: unknown key"));
  CHECK(has(unknown.err, "did you mean \"micro_batch_size\"?"));
}

TEST_CASE("extremes: single-precision parameters take four bytes") {
  const CommandResult half = call("check" + std::string(" bert-large-bow-pod16 --format json"));
  const CommandResult single = call("check bert-large-bow-pod16 --format json --set workload.precision=fp32");
  CHECK(has(half.out, "176347136"));
  CHECK(has(single.out, "352694272"));
}
