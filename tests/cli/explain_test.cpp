#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "sim/config/value.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"

using namespace podsim;
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
  CHECK(has(kind.err, "unknown kind \"kee\"; expected key, flag, metric or constant; did you mean \"key\"?"));
  CHECK(has(explain("").err, "nothing to explain: name a key, a flag, a metric or a constant"));
}

TEST_CASE("explain: a flag of a command is found by each of its spellings") {
  for (const char* word : {"--num-tiles", "flag --num-tiles", "samba_compile.num_tiles", "num-tiles"}) {
    CAPTURE(word);
    const CommandResult result = explain(word);
    CHECK(result.exit_code == 0);
    CHECK(has(result.out, "--num-tiles: "));
    CHECK(has(result.out, "  written      --num-tiles, samba_compile.num_tiles\n"));
  }
  CHECK(has(explain("--batch-size").out, "-b, --batch-size, training.batch_size, generation.batch_size"));
  CHECK(has(explain("-ws").out, "--world-size"));
  const CommandResult wrong = explain("--num-tile");
  CHECK(wrong.exit_code == 2);
  CHECK(has(wrong.err, "no key, flag, metric or constant is called \"--num-tile\"; did you mean \"--num-tiles\"?"));
}

TEST_CASE("explain: every value and every column of a table that an RDU run reports is explained") {
  const char* const runs[] = {
      "gpt2-xl-two-sn30 --view sections", "llama-3-70b-sn40l-8", "llama-2-70b-sn30-tensor-parallel",
      "--system sn40l-8 --model llama-2-7b --compile 'python a.py compile -b 8 -o1 --num-tiles 8 --pef-name=p' --view "
      "sections",
      "--system sn30 --model gpt2 --compile 'python a.py compile -b 8 --num-tiles 4 --inference --pef-name=p'"};
  for (const char* run : runs) {
    CAPTURE(run);
    const CommandResult report =
        run_command(shell_quoted(program()) + " run " + run + " --engine native --format json --quiet", source_dir());
    REQUIRE(report.exit_code == 0);
    Diagnostics diagnostics;
    const auto json = parse_json(report.out, "report.json", diagnostics);
    REQUIRE(json.has_value());
    for (const Value::Member& value : json->find("values")->members()) {
      CAPTURE(value.key);
      CHECK(explain("metric values." + value.key).exit_code == 0);
    }
    for (const Value& table : json->find("tables")->elements()) {
      std::string name = table.find("name")->as_string();
      std::ranges::replace(name, ' ', '_');
      CHECK(explain("metric tables." + name).exit_code == 0);
      for (const Value& column : table.find("columns")->elements()) {
        CAPTURE(column.find("name")->as_string());
        CHECK(explain("metric tables." + name + "." + column.find("name")->as_string()).exit_code == 0);
      }
    }
  }
}
