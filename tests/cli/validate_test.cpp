#include <doctest/doctest.h>

#include <string>

#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim::test;

namespace {

CommandResult podsim_validate(const TemporaryFolder& folder, const std::string& arguments) {
  return run_command(shell_quoted(program()) + " validate " + arguments, folder.path());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

const std::string k_header =
    "id,hardware,system,model_config,head,software,sequence_length_or_image,micro_batch,replication,"
    "gradient_accumulation,layers_per_ipu,optimizer,metric,value\n";

// A run whose rate is about 200 sequences a second, with what was "measured".
std::string row(const std::string& id, const std::string& value) {
  return id + ",gc200,pod4,gpt2,causal-lm,poplar-pytorch,1024,1,1,1024,\"[0, 4, 4, 4]\",AdamW,samples_per_s," + value +
         "\n";
}

}  // namespace

TEST_CASE("validate verb: the shipped tables pass a tolerance of 6 %") {
  const TemporaryFolder folder;
  const CommandResult result = podsim_validate(folder, "--configs " + shell_quoted(source_dir() + "/configs"));
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "  perf-a-bertL-ph1-popart-pod16 "));
  CHECK(has(result.out, "\n  memory points "));
  CHECK(result.err.empty());
}

TEST_CASE("validate verb: a rate beyond the tolerance ends with 1, without a tolerance any is shown") {
  const TemporaryFolder folder;
  folder.write("t.csv", k_header + row("mine", "1"));
  CHECK(podsim_validate(folder, "--references t.csv").exit_code == 0);
  const CommandResult strict = podsim_validate(folder, "t.csv --tolerance 6%");
  CHECK(strict.exit_code == 1);
  CHECK(has(strict.out, "  mine "));
  CHECK(podsim_validate(folder, "t.csv --tolerance 100000%").exit_code == 0);
}

TEST_CASE("validate verb: a memory point that is judged wrong ends with 1") {
  const TemporaryFolder folder;
  std::string text = k_header;
  text.replace(text.find("metric,value"), 12, "expected");
  text.replace(text.find("replication,gradient_accumulation"), 33, "replication_factor,gradient_accumulation_steps");
  // The stashes of 64 sequences of 512 tokens alone are many times the memory of the chip.
  folder.write("t.csv", text +
                            "point,gc200,pod4,bert-large-uncased,pretraining,poplar-pytorch,512,64,1,1024,"
                            "\"[3, 7, 7, 7]\",AdamW,fits\n");
  const CommandResult result = podsim_validate(folder, "t.csv --format csv");
  CHECK(result.exit_code == 1);
  CHECK(has(result.out, "\npoint,fits,fits,does_not_fit,"));
}

TEST_CASE("validate verb: several tables, as JSON with their defaults") {
  const TemporaryFolder folder;
  folder.write("a.csv", k_header + row("one", "190"));
  folder.write("b.csv", k_header + row("two", "190"));
  const CommandResult result = podsim_validate(folder, "--references a.csv --references b.csv --format json");
  CHECK(result.exit_code == 0);
  CHECK(result.out.find("\"id\": \"one\"") < result.out.find("\"id\": \"two\""));
  CHECK(has(result.out, "\"matmul_proportion = 0.6\""));
  CHECK(has(result.out, "\"held_out\": true"));
}

TEST_CASE("validate verb: the evidence of other tables is written where asked") {
  const TemporaryFolder folder;
  folder.write("a.csv", k_header + row("one", "190"));
  CHECK(podsim_validate(folder, "a.csv --evidence e.csv").exit_code == 0);
  CHECK(podsim_validate(folder, "a.csv --evidence e.csv").err ==
        "podsim: e.csv exists; give --force to replace it (see `podsim validate --help`)\n");
  CHECK(podsim_validate(folder, "a.csv --evidence e.csv --force").exit_code == 0);
  CHECK(podsim_validate(folder, "a.csv --evidence a.csv --force").err ==
        "podsim: a.csv is an input of this run; name another file (see `podsim validate --help`)\n");
  const CommandResult shown = run_command("cat e.csv", folder.path());
  CHECK(has(shown.out, "id,measured,predicted,model,"));
  CHECK(has(shown.out, "\none,190,"));
}

TEST_CASE("validate verb: files that are missing or no tables are bad input") {
  const TemporaryFolder folder;
  const CommandResult missing = podsim_validate(folder, "none.csv");
  CHECK(missing.exit_code == 2);
  CHECK(missing.out.empty());
  CHECK(has(missing.err, "none.csv"));
  folder.write("t.csv", "a,b\n1,2\n");
  const CommandResult other = podsim_validate(folder, "t.csv");
  CHECK(other.exit_code == 2);
  CHECK(has(other.err, "t.csv:1:1: the header is of no known table of measurements"));
  const CommandResult tolerance = podsim_validate(folder, "--tolerance lots");
  CHECK(tolerance.exit_code == 2);
  CHECK(has(tolerance.err, "option --tolerance: \"lots\" is neither like 5% nor like 0.05"));
}

TEST_CASE("validate verb: where no case ran nothing was compared") {
  const TemporaryFolder folder;
  folder.write("t.csv", k_header + row("mine", "0"));
  const CommandResult result = podsim_validate(folder, "t.csv");
  CHECK(result.exit_code == 1);
  CHECK(result.err == "podsim: no case ran: nothing was compared\n");
}

TEST_CASE("validate verb: a bare number above one is no tolerance") {
  const TemporaryFolder folder;
  const CommandResult result = podsim_validate(folder, "--tolerance 5");
  CHECK(result.exit_code == 2);
  CHECK(has(result.err, "option --tolerance: \"5\" is neither like 5% nor like 0.05"));
}

TEST_CASE("validate verb: operators are listed and judged where nothing else is compared") {
  const TemporaryFolder folder;
  const std::string operators =
      "target,name,kind,m,k,n,reference_cycles\n"
      "gc200,half,dense,384,1024,4096,110000\n";
  folder.write("ops.csv", operators);
  const CommandResult alone = podsim_validate(folder, "ops.csv --tolerance 6%");
  CHECK(alone.exit_code == 1);
  CHECK(has(alone.out, "  gc200-half "));
  CHECK(has(alone.out, "  cycles, gc200 dense, large "));
  folder.write("runs.csv", k_header + row("mine", "200"));
  const CommandResult both = podsim_validate(folder, "ops.csv runs.csv --tolerance 60%");
  CHECK(both.exit_code == 0);
  CHECK_FALSE(has(both.out, "gc200-half "));
  CHECK(has(both.out, "\nand 1 single operators, in groups below; --format json lists them\n"));
  CHECK(has(podsim_validate(folder, "ops.csv --format json").out, "\"operation\": \"dense 384x1024x4096 training\""));
}
