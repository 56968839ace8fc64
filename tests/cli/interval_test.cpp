// Intervals and levers from the command line.

#include <doctest/doctest.h>

#include <string>

#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim::test;

namespace {

CommandResult call(const std::string& arguments) {
  const TemporaryFolder folder;
  return run_command(shell_quoted(program()) + " " + arguments, folder.path());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("interval verb options: run tells P10, P50 and P90 beside the rate, and where they come from") {
  const CommandResult result = call("run bert-large-bow-pod16 --engine native --interval --draws 32");
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "\n  Interval     "));
  CHECK(has(result.out, " sequences/s in eight cases of ten (P10 to P90, P50 "));
  CHECK(has(result.out, "\nInterval\n  32 runs, each under "));
  CHECK(has(result.out, "drawn from their spreads, seed 1"));
  const std::string json = "run bert-large-bow-pod16 --engine native --interval --draws 32 --format json --seed ";
  CHECK(has(call(json + "1").out, "\"interval\": {\n    \"seed\": 1,\n    \"draws\": 32,\n"));
  CHECK(has(call(json + "9").out, "\"seed\": 9,"));
}

TEST_CASE("interval verb options: check tells the verdict's") {
  const CommandResult result = call("check bert-large-bow-pod16 --interval --draws 32");
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, " of 32 draws"));
  CHECK(has(call("check bert-large-bow-pod16 --format json").out, "\"interval\": null"));
}

TEST_CASE("interval verb options: validate tells how many measurements lie within") {
  const TemporaryFolder folder;
  folder.write("t.csv",
               "id,hardware,system,model_config,head,software,sequence_length_or_image,micro_batch,replication,"
               "gradient_accumulation,layers_per_ipu,optimizer,metric,value\n"
               "mine,gc200,pod4,gpt2,causal-lm,poplar-pytorch,1024,1,1,1024,\"[0, 4, 4, 4]\",AdamW,samples_per_s,1\n");
  const std::string verb = shell_quoted(program()) + " validate t.csv --interval --draws 20";
  const CommandResult text = run_command(verb, folder.path());
  CHECK(has(text.out, "\nIntervals: 80 % of the measurements should lie within P10 to P90\n"));
  const CommandResult json = run_command(verb + " --format json", folder.path());
  CHECK(has(json.out,
            "\"name\": \"rates\",\n      \"cases\": 1,\n      \"inside_p10_to_p90\": 0,\n      \"inside_pct\": 0,\n"
            "      \"below_p10\": 1,\n      \"above_p90\": 0"));
}

TEST_CASE("interval verb options: misuse is told") {
  const auto told = [](const std::string& arguments) {
    const CommandResult result = call("run bert-large-bow-pod16 --engine native " + arguments);
    CHECK(result.exit_code == 2);
    return result.err;
  };
  CHECK(has(told("--draws 50"), "option --draws has no effect without --interval"));
  CHECK(has(call("run bert-large-bow-pod16 --engine native --set software.framework_factor=2").out,
            "  Replaced     software.framework_factor = 2 (user); the evidence is without it\n"));
  CHECK(has(told("--interval --format csv"), "option --interval: csv has no columns for it; use another --format"));
  CHECK(has(told("--interval --view stages"), "option --interval has no effect with --view, which prints one table"));
  CHECK(has(told("--interval --draws 5"), "option --draws: 5 is out of range; expected 20 to 100000"));
  CHECK(has(told("--interval --seed -1"), "option --seed: a seed is at least 0"));
}

TEST_CASE("levers: three stand in the text, all in their view and in JSON") {
  const CommandResult text = call("run bert-large-bow-pod16 --engine native");
  CHECK(has(text.out, "\nWhat would make it faster (all: --view sensitivity)\n  +"));
  CHECK(has(text.out, " %  arithmetic +10 %\n"));
  const CommandResult view = call("run bert-large-bow-pod16 --engine native --view sensitivity");
  CHECK(view.exit_code == 0);
  CHECK(view.out.starts_with("sensitivity\n"));
  for (const char* part : {"arithmetic", "chip.clock", "workload.micro_batch_size", "ipu.replicated_tensor_sharding",
                           "then does not fit"}) {
    CHECK_MESSAGE(has(view.out, part), part);
  }
  const CommandResult json = call("run bert-large-bow-pod16 --engine native --format json");
  CHECK(has(json.out, "\"levers\": [\n    {\n      \"name\": "));
}
