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
