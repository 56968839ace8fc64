#include <doctest/doctest.h>

#include <string>

#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim::test;

namespace {

CommandResult call(const TemporaryFolder& folder, const std::string& arguments) {
  return run_command(shell_quoted(program()) + " " + arguments, folder.path());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string k_rows =
    "series,ipu.gradient_accumulation_steps,metric,value\n"
    "a,16,step_s,0.25\n"
    "a,32,step_s,0.36\n"
    "b,64,step_s,0.6\n"
    "b,128,step_s,1.05\n";
const std::string k_fit =
    "calibrate runs.csv --experiment bert-large-bow-pod16 --constants software.framework_factor,system.ring.bandwidth";

}  // namespace

TEST_CASE("calibrate verb: writes an overlay only where asked, and runs show it as fitted") {
  const TemporaryFolder folder;
  folder.write("runs.csv", k_rows);
  const CommandResult shown = call(folder, k_fit);
  CHECK_MESSAGE(shown.exit_code == 0, shown.err);
  CHECK(shown.out.starts_with("2 constants fitted to 4 rows\n"));
  CHECK(has(shown.out, "2 series, left out in 2 turns"));
  CHECK(call(folder, "run bert-large-bow-pod16 --engine native --overlay fit.toml").exit_code == 2);

  CHECK(call(folder, k_fit + " --out fit.toml").exit_code == 0);
  const CommandResult again = call(folder, k_fit + " --out fit.toml");
  CHECK(again.exit_code == 2);
  CHECK(has(again.err, "fit.toml exists; give --force to replace it"));
  CHECK(call(folder, k_fit + " --out fit.toml --force").exit_code == 0);

  const CommandResult run =
      call(folder, "run bert-large-bow-pod16 --engine native --format json --overlay fit.toml --quiet");
  CHECK(run.exit_code == 0);
  CHECK(has(run.out,
            "\"source\": \"fitted on runs.csv:2, runs.csv:3, runs.csv:4, runs.csv:5 (runs.csv, was 1); fit.toml\",\n"
            "      \"confidence\": \"fitted\""));
}

TEST_CASE("calibrate verb: its overlay is no input, and inputs are not replaced") {
  const TemporaryFolder folder;
  folder.write("runs.csv", k_rows);
  const CommandResult result = call(folder, k_fit + " --out runs.csv --force");
  CHECK(result.exit_code == 2);
  CHECK(has(result.err, "runs.csv is an input of this run; name another file"));
}

TEST_CASE("calibrate verb: a table of published runs is read as validate reads it") {
  const TemporaryFolder folder;
  folder.write("runs.csv",
               "id,hardware,system,model_config,head,software,sequence_length_or_image,micro_batch,replication,"
               "gradient_accumulation,layers_per_ipu,optimizer,metric,value\n"
               "mine,gc200,pod4,gpt2,causal-lm,poplar-pytorch,1024,1,1,1024,\"[0, 4, 4, 4]\",AdamW,samples_per_s,150\n"
               "yours,gc200,pod4,gpt2,causal-lm,poplar-pytorch,1024,1,1,64,\"[0, 4, 4, 4]\",AdamW,samples_per_s,110\n");
  const CommandResult result = call(folder, "calibrate runs.csv --constants software.framework_factor --format json");
  CHECK_MESSAGE(result.exit_code == 0, result.err);
  CHECK(has(result.out, "\"constant\": \"software.framework_factor\""));
  CHECK(has(result.out, "\"id\": \"mine\""));
  CHECK(has(result.out, "\"converged\": true"));
  const CommandResult idle =
      call(folder, "calibrate runs.csv --experiment bert-large-bow-pod16 --constants software.framework_factor");
  CHECK(idle.exit_code == 0);
  CHECK(has(idle.err, "--experiment: has no effect: the rows say themselves what ran"));
}

TEST_CASE("calibrate verb: misuse is told") {
  const TemporaryFolder folder;
  folder.write("runs.csv", k_rows);
  const auto told = [&](const std::string& arguments) {
    const CommandResult result = call(folder, arguments);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  CHECK(has(told("calibrate runs.csv"), "no constants: give --constants with names, commas between"));
  CHECK(has(told("calibrate --constants cost.pass"), "no measurements: give a CSV file"));
  CHECK(told("calibrate none.csv --constants cost.pass") == "command line: cannot read \"none.csv\": no such file\n");
  CHECK(has(told("calibrate runs.csv --constants cost.pass"),
            "runs.csv:1:1: the header is of no known table of measurements; expected the columns that `podsim "
            "validate` reads; or metric, value and keys, with --experiment\n"));
  CHECK(has(told("calibrate runs.csv --constants cost.pass --set workload.micro_batch_size=2"),
            "option --set changes an experiment: give --experiment or --system too"));
}
