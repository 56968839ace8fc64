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
  CHECK(has(kind.err, "unknown kind \"kee\"; expected key, metric or constant; did you mean \"key\"?"));
  CHECK(has(explain("").err, "nothing to explain: name a key, a metric or a constant"));
}
