#include <doctest/doctest.h>

#include <string>

#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"

using namespace podsim::test;

namespace {

CommandResult explain(const std::string& arguments) {
  return run_command(shell_quoted(program()) + " explain " + arguments, source_dir());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("explain: a key by its last part tells type, range, effect and source") {
  const CommandResult result = explain("gradient_accumulation_steps");
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with("ipu.gradient_accumulation_steps: "));
  CHECK(has(result.out, "  type         an integer\n"));
  CHECK(has(result.out, "  range        at least 1\n"));
  CHECK(has(result.out, "optimum-graphcore"));
}

TEST_CASE("explain: a constant tells value, confidence and source") {
  const CommandResult result = explain("constant system.host_link.bandwidth");
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with("system.host_link.bandwidth = 12.5 GB/s\n"));
  CHECK(has(result.out, "  confidence   datasheet\n"));
}

TEST_CASE("explain: a metric tells unit and formula") {
  const CommandResult result = explain("metric schedule.cycles_per_update");
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "  formula      gradient accumulation + stages - 1\n"));
}

TEST_CASE("explain: words of the report are found as they are printed") {
  for (const char* word :
       {"bottleneck", "verdict", "evidence", "MFU", "\"host io\"", "slowdown", "latency.request_s"}) {
    CAPTURE(word);
    CHECK(explain(word).exit_code == 0);
  }
  CHECK(has(explain("\"host io\"").out, "step.breakdown_s.host_io: "));
  CHECK(has(explain("request_s").out, "The host sees the results at the end of the host call"));
}

TEST_CASE("explain: an unknown name suggests a near one, an unknown kind names the kinds") {
  const CommandResult name = explain("key ipu.gradient_acumulation_steps");
  CHECK(name.exit_code == 2);
  CHECK(name.out.empty());
  CHECK(has(name.err,
            "no key is called \"ipu.gradient_acumulation_steps\"; did you mean \"ipu.gradient_accumulation_steps\"?"));
  const CommandResult kind = explain("kee x");
  CHECK(kind.exit_code == 2);
  CHECK(has(kind.err, "unknown kind \"kee\"; expected key, metric, constant or op; did you mean \"key\"?"));
  CHECK(has(explain("").err, "nothing to explain: name a key, a metric, a constant or an operator"));
}

TEST_CASE("explain: an operator is shown with its machine, time, cycles by part and plan") {
  const CommandResult result =
      explain("op 'conv 4x64x56x56 -> 64 k3 s1' --system gc2-c2 --set workload.precision=fp16.32");
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(result.out.starts_with("conv 4x64x56x56 -> 64 k3x3 s1 p1x1:1x1 training\n"));
  CHECK(has(result.out, "  on           one gc2 of gc2-c2 at 1.6 GHz, fp16.32, matmul_proportion 0.6\n"));
  for (const char* part : {"vertex", "exchange", "reduction", "serial", "sync", "layout", "launch", "input gradient",
                           "weight gradient", "around the passes", "Parts each axis is cut into",
                           "What the fullest tile holds at a time", "temporary bytes a tile", "% of its FLOP/s"}) {
    CAPTURE(part);
    CHECK(has(result.out, part));
  }
}

TEST_CASE("explain: an operator may be several words, on the usual system") {
  const CommandResult result = explain("op dense 384x1024x4096 inference --set ipu.matmul_proportion=0.2");
  CHECK(result.exit_code == 0);
  CHECK(has(result.out, "one gc200 of pod4 at 1.325 GHz, fp16.16, matmul_proportion 0.2\n"));
  CHECK_FALSE(has(result.out, "gradient"));
}

TEST_CASE("explain: an operator whose temporaries exceed the proportion is told with a note") {
  CHECK(has(explain("op matmul 1x100000000x1").out,
            "no plan of the product keeps its temporaries within the proportion (374.4 KiB of a tile)"));
}

TEST_CASE("explain: problems of an operator are told at once and end with 2") {
  const CommandResult result = explain(
      "op 'conv 4x64x56x56 -> 64 s0 k99 p0' --set workload.precision=bf16 --set ipu.matmul_proportion='[0.1, 0.2]'"
      " --set workload.micro_batch_size=2 --set workload.micro_batc=2");
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  CHECK(has(result.err, "operator:1:23: stride: \"0\" is no whole number from 1\n"));
  CHECK(has(result.err,
            "operator:1:26: kernel: reaches over 99 of a padded height of 56; expected a smaller kernel or "
            "more padding\n"));
  CHECK(has(result.err,
            "command line: workload.precision: \"bf16\" is not a multiply mode of this chip for a single operator; "
            "expected fp16.16, fp16.32 or fp32\n"));
  CHECK(has(result.err,
            "command line: ipu.matmul_proportion: is not the one proportion of a single operator; expected "
            "a number above 0 and up to 1\n"));
  CHECK(has(result.err, "command line: warning: workload.micro_batch_size: has no effect on a single operator\n"));
  CHECK(has(result.err, "workload.micro_batc: unknown key"));
  CHECK(
      has(explain("op").err, "no operator is named, such as \"conv 4x64x56x56 -> 64 k3\" or \"dense 384x1024x4096\""));
  CHECK(has(
      explain("op dense 8x8x8 --system sn30").err,
      "operator:1:1: single operators are not estimated on systems like sn30; expected a system of another family"));
  CHECK(has(explain("op dense 8x8x8 --system gc2-c2").out, "fp16.32"));
  CHECK(has(explain("op dense 8x8x8 --system gc2-c2 --set workload.precision=fp16.16").err,
            "is not a multiply mode of this chip for a single operator; expected fp16.32 or fp32"));
  CHECK(has(explain("op dense 8x8x8 tiles9999").err,
            "operator:1:1: tiles: is 9999, more than the chip has; expected up to 1472"));
  CHECK(has(explain("key precision --system pod4").err, "option --system belongs to `explain op`"));
}
