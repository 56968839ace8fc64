// Do the manual page and the completion of bash know what the help knows?
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/experiment_folder.hpp"
#include "tools/podsim/verbs.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// What bash offers behind these words, one a line.
std::string completed(const ExperimentFolder& folder, const std::vector<std::string>& words) {
  std::string script = "source <(" + shell_quoted(program()) + " help --completion bash); COMP_WORDS=(";
  for (const std::string& word : words) script += shell_quoted(word) + " ";
  script += "); COMP_CWORD=" + std::to_string(words.size() - 1) + "; _podsim; printf '%s\\n' \"${COMPREPLY[@]}\"";
  const CommandResult result = run_command("bash -c " + shell_quoted(script), folder.path());
  CHECK_MESSAGE(result.err.empty(), result.err);
  return "\n" + result.out;
}

}  // namespace

TEST_CASE("manual: the page has every verb, option and exit code") {
  const ExperimentFolder folder;
  const CommandResult result = folder.podsim("help --man");
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with(".TH PODSIM 1 "));
  for (const Verb& verb : verbs()) {
    std::string name(verb.spec().name);
    const std::string heading = "\n.SS " + (name == "loss-scale" ? std::string("loss\\-scale") : name) + "\n";
    CHECK_MESSAGE(contains(result.out, heading), heading);
  }
  CHECK(contains(result.out, "\n.BI \\-\\-system \" NAME|FILE\"\nthe machine, e.g. bow\\-pod16\n"));
  CHECK(contains(result.out, "\ntext (default), json, csv, html or markdown\n"));
  CHECK(contains(result.out, "\n.B 3\ndoes not fit\n"));
  CHECK(contains(result.out, "\n.B podsim validate [FILE.csv \\[u2026]] [options]\n"));
  CHECK(std::none_of(result.out.begin(), result.out.end(), [](char c) { return static_cast<unsigned char>(c) > 126; }));
  // Every line that begins with a point is a macro.
  std::istringstream lines(result.out);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with(".")) CHECK_MESSAGE((line.size() > 1 && line[1] >= 'A' && line[1] <= 'Z'), line);
  }
}

TEST_CASE("manual: completion offers verbs, options, choices, names and files") {
  const ExperimentFolder folder;
  const std::string podsim = program();
  CHECK(completed(folder, {podsim, "va"}) == "\nvalidate\n");
  CHECK(contains(completed(folder, {podsim, "run", "--f"}), "\n--format\n"));
  CHECK(contains(completed(folder, {podsim, "run", "--f"}), "\n--force\n"));
  CHECK(completed(folder, {podsim, "run", "--format", "h"}) == "\nhtml\n");
  CHECK(completed(folder, {podsim, "check", "--system", "bow-pod1"}) == "\nbow-pod128\nbow-pod16\n");
  CHECK(completed(folder, {podsim, "run", "--set", "workload.micro"}) == "\nworkload.micro_batch_size=\n");
  CHECK(completed(folder, {podsim, "run", "exp"}) == "\nexperiment.toml\n");
  CHECK(contains(completed(folder, {podsim, "run", "bert"}), "\nbert-large-bow-pod16\n"));
  CHECK(completed(folder, {podsim, "list", "sys"}) == "\nsystems\n");
  CHECK(contains(completed(folder, {podsim, "explain", "throughput.mfu"}), "\nthroughput.mfu_pct\n"));
  CHECK(completed(folder, {podsim, "help", "loss"}) == "\nloss-scale\n");
  CHECK(completed(folder, {podsim, "run", "--engine", ""}) == "\nsimgrid\nnative\n");
  CHECK(completed(folder, {podsim, "sweep", "s"}) == "\nshow\n");
  CHECK(completed(folder, {podsim, "sweep", "export", "--format", "c"}) == "\ncsv\n");
  CHECK(completed(folder, {podsim, "sweep", "run", "--sh"}) == "\n--shard\n");
}

TEST_CASE("manual: what cannot be combined or is no shell is refused") {
  const ExperimentFolder folder;
  CHECK(folder.refused("help --man --completion bash") ==
        "podsim: --man and --completion are two texts: ask for one (see `podsim help --help`)\n");
  CHECK(folder.refused("help run --man") ==
        "podsim: --man and --completion tell about all verbs: name none (see `podsim help --help`)\n");
  CHECK(folder.refused("help --completion fish") ==
        "podsim: option --completion: unknown completion \"fish\"; expected bash (see `podsim help --help`)\n");
}
