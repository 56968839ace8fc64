// Is there colour on a terminal and only there, and do texts keep to its width?
#include <doctest/doctest.h>

#include <sstream>
#include <string>

#include "tests/support/experiment_folder.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// `podsim <arguments>` with a terminal as its standard output; empty where the tool that makes one is missing.
std::string on_terminal(const ExperimentFolder& folder, const std::string& environment, const std::string& arguments) {
  const std::string command = "env " + environment + " " + shell_quoted(program()) + " " + arguments;
  const CommandResult result =
      run_command("script --quiet --return --command " + shell_quoted(command) + " /dev/null", folder.path());
  if (result.exit_code == 127) {
    MESSAGE("skipped: no script(1) here");
    return "";
  }
  return result.out;
}

std::size_t width(const std::string& line) {
  std::size_t columns = 0;
  for (const char c : line) columns += (static_cast<unsigned char>(c) & 0xC0U) != 0x80U;
  return columns;
}

}  // namespace

TEST_CASE("terminal: a report is coloured on a terminal, unless NO_COLOR or TERM say no") {
  const ExperimentFolder folder;
  const std::string coloured = on_terminal(folder, "-u NO_COLOR TERM=xterm", "check experiment.toml");
  if (coloured.empty()) return;
  CHECK(contains(coloured, "\x1b[32mVerdict      fits\x1b[0m"));
  CHECK(contains(coloured, "\x1b[34m███"));
  for (const char* environment : {"NO_COLOR=1 TERM=xterm", "-u NO_COLOR TERM=dumb", "-u NO_COLOR -u TERM"}) {
    CAPTURE(environment);
    const std::string plain = on_terminal(folder, environment, "check experiment.toml");
    CHECK(contains(plain, "Verdict"));
    CHECK_FALSE(contains(plain, "\x1b["));
  }
  CHECK_FALSE(contains(on_terminal(folder, "TERM=xterm", "check experiment.toml --format json"), "\x1b["));
}

TEST_CASE("terminal: in a pipe or a file there is no colour") {
  const ExperimentFolder folder;
  CHECK_FALSE(contains(folder.podsim("check experiment.toml").out, "\x1b["));
}

TEST_CASE("terminal: reports keep to 100 columns") {
  const ExperimentFolder folder;
  for (const char* arguments :
       {"run experiment.toml --engine native", "validate", "loss-scale experiment.toml", "loss-scale --published",
        "run gpt2-xl-two-sn30 --engine native", "run llama-3-70b-sn40l-8 --engine native"}) {
    CAPTURE(arguments);
    std::istringstream lines(folder.podsim(arguments).out);
    for (std::string line; std::getline(lines, line);) CHECK_MESSAGE(width(line) <= 100, line);
  }
}

namespace {

// Whose lines are not all within 100 columns, with the first of them.
void check_width(const CommandResult& result, const std::string& command) {
  CAPTURE(command);
  CHECK_MESSAGE(result.exit_code != 2, result.err);
  CHECK_FALSE(result.out.empty());
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    CHECK_MESSAGE(width(line) <= 100, line.substr(0, 200));
    if (width(line) > 100) return;
  }
}

}  // namespace

TEST_CASE("terminal: every verb keeps to 100 columns, however long the names that it is given") {
  std::string words;
  for (int i = 0; i < 60; ++i) words += "w\xC3\xB6rds ";
  for (const std::string& name : {std::string(300, 'n'), words}) {
    const ExperimentFolder folder;
    folder.change("experiment.toml", "\"case\"", "\"" + name + "\"");
    const std::string file(180, 'f');
    folder.write("costs.toml",
                 "currency = \"" + name + "\"\n[[rows]]\nname = \"" + name + "\"\nsamples_per_s = 10.0\ndevices = 8\n");
    const std::string sweep =
        "sweep run experiment.toml --quiet --axis ipu.gradient_accumulation_steps=16,64 "
        "--axis workload.micro_batch_size=1,2,64 --axis workload.sequence_length=64,128 "
        "--axis model.config=config.json,bert-base-uncased --axis ipu.matmul_proportion=0.2,0.3 ";
    CHECK(folder.podsim(sweep + "--out a.sqlite").exit_code == 0);
    CHECK(folder.podsim(sweep + "--out b.sqlite --set system.ipu_link.bandwidth='\"9 GB/s\"'").exit_code == 0);
    folder.write(file + "a.json", folder.podsim("run experiment.toml --engine native --format json").out);
    folder.write(file + "b.json", folder
                                      .podsim("run experiment.toml --engine native --format json --set "
                                              "ipu.gradient_accumulation_steps=32 --set workload.sequence_length=64")
                                      .out);
    folder.write("v.json", folder.podsim("validate --format json").out);
    for (const std::string& command :
         {std::string("run experiment.toml --engine native"), std::string("check experiment.toml"),
          std::string("check experiment.toml --set workload.micro_batch_size=64"),
          std::string("loss-scale experiment.toml"), std::string("sweep show a.sqlite"),
          std::string("sweep show a.sqlite --pareto fullest_memory_pct,samples_per_s --best bottleneck_pct:min"),
          std::string("sweep show a.sqlite --table model.config,ipu.gradient_accumulation_steps"),
          std::string("compare a.sqlite b.sqlite"), std::string("compare a.sqlite b.sqlite --all"),
          "compare " + file + "a.json " + file + "b.json", "compare " + file + "a.json " + file + "b.json --all",
          std::string("compare v.json v.json --all"), std::string("validate"),
          std::string("capacity experiment.toml --target-samples 1000000 --deadline 1h --costs costs.toml --mixed "
                      "--systems pod16,bow-pod16,bow-pod64,sn30"),
          std::string("list")}) {
      check_width(folder.podsim(command), command);
    }
  }
}

TEST_CASE("terminal: what is explained keeps to 100 columns") {
  const ExperimentFolder folder;
  const auto all = [&](const std::string& kinds, const std::string& kind) {
    const std::string podsim = shell_quoted(program());
    return run_command(
        "for name in $(" + podsim + " list " + kinds + "); do " + podsim + " explain " + kind + " \"$name\"; done",
        folder.path());
  };
  check_width(all("metrics", "metric"), "explain metric");
  check_width(all("keys", "key"), "explain key");
  check_width(all("constants | awk 'NR % 7 == 1'", "constant"), "explain constant");
  for (const std::string op : {"'conv 4x64x56x56 -> 64 k3'", "'dense 384x1024x4096' training",
                               "'lstm 16x1024 -> 1024 t25'", "'reduce 4x3136x8 over1 add'"}) {
    check_width(folder.podsim("explain op " + op), "explain op " + op);
  }
}

TEST_CASE("terminal: what is worse and what is chosen is coloured") {
  const ExperimentFolder folder;
  folder.write("a.json", folder.podsim("run experiment.toml --engine native --format json").out);
  folder.write("b.json", folder
                             .podsim("run experiment.toml --engine native --format json --set "
                                     "ipu.gradient_accumulation_steps=32")
                             .out);
  const std::string compared = on_terminal(folder, "-u NO_COLOR TERM=xterm", "compare a.json b.json");
  if (compared.empty()) return;
  CHECK(contains(compared, "\x1b[31mWORSE\x1b[0m"));
  CHECK_FALSE(contains(on_terminal(folder, "NO_COLOR=1 TERM=xterm", "compare a.json b.json"), "\x1b["));
  const std::string plan = "capacity bert-large-bow-pod16 --target-samples 1000000";
  CHECK(contains(on_terminal(folder, "-u NO_COLOR TERM=xterm", plan), "\x1b[32mCHOSEN\x1b[0m"));
}
