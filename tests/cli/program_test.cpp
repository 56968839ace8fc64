#include <doctest/doctest.h>

#include <algorithm>
#include <filesystem>
#include <string>

#include "tests/support/paths.hpp"
#include "tests/support/run_command.hpp"

using namespace podsim::test;

namespace {

CommandResult podsim_run(const std::string& arguments) {
  return run_command(shell_quoted(program()) + " " + arguments, source_dir());
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

void check_usage_error(const CommandResult& result, const std::string& message) {
  CHECK(result.exit_code == 2);
  CHECK(result.out.empty());
  CHECK(result.err == message);
}

}  // namespace

TEST_CASE("program: the version is one line") {
  const CommandResult result = podsim_run("--version");
  CHECK(result.exit_code == 0);
  CHECK(result.out.starts_with("podsim 0."));
  CHECK(std::count(result.out.begin(), result.out.end(), '\n') == 1);
  CHECK(result.err.empty());
}

TEST_CASE("program: help lists every verb, called without arguments it is a usage error") {
  const CommandResult help = podsim_run("--help");
  CHECK(help.exit_code == 0);
  for (const char* verb : {"run", "check", "sweep", "compare", "validate", "list", "help"}) {
    CHECK_MESSAGE(has(help.out, std::string("\n  ") + verb + " "), verb);
  }
  CHECK(podsim_run("help").out == help.out);
  const CommandResult bare = podsim_run("");
  CHECK(bare.exit_code == 2);
  CHECK(bare.out.empty());
  CHECK(bare.err == help.out);
}

TEST_CASE("program: the help of each verb fits a screen and ends in two examples") {
  for (const std::string verb : {"run", "check", "sweep", "sweep run", "sweep show", "sweep export", "sweep merge",
                                 "compare", "validate", "list", "help"}) {
    CAPTURE(verb);
    const CommandResult result = podsim_run(verb + " --help");
    CHECK(result.exit_code == 0);
    CHECK(std::count(result.out.begin(), result.out.end(), '\n') <= 40);
    const std::string examples = result.out.substr(result.out.find("\nExamples:\n") + 11);
    CHECK(std::count(examples.begin(), examples.end(), '\n') == 2);
    CHECK(examples.starts_with("  podsim " + verb));
    CHECK(podsim_run("help " + verb).out == result.out);
    CHECK(podsim_run(verb + " -h").out == result.out);
  }
}

TEST_CASE("program: an unknown verb is refused with a suggestion") {
  check_usage_error(podsim_run("rnu"),
                    "podsim: unknown verb \"rnu\"; did you mean \"run\"?; `podsim help` lists the verbs\n");
  check_usage_error(podsim_run("help chek"),
                    "podsim: unknown verb \"chek\"; did you mean \"check\"? (see `podsim help --help`)\n");
  check_usage_error(podsim_run("--verison"),
                    "podsim: unknown option --verison; options stand behind a verb; did you mean \"--version\"?\n");
}

TEST_CASE("program: an unknown option is refused with a suggestion") {
  check_usage_error(podsim_run("run --sytem x"),
                    "podsim: unknown option --sytem; did you mean \"--system\"? (see `podsim run --help`)\n");
  check_usage_error(podsim_run("run --sytem=x"),
                    "podsim: unknown option --sytem; did you mean \"--system\"? (see `podsim run --help`)\n");
  check_usage_error(podsim_run("run -x"), "podsim: unknown option -x (see `podsim run --help`)\n");
}

TEST_CASE("program: options given twice, without a value or with a wrong one are refused") {
  check_usage_error(podsim_run("run --exact --exact"),
                    "podsim: option --exact is given twice (see `podsim run --help`)\n");
  check_usage_error(
      podsim_run("run --engine nativ"),
      "podsim: option --engine: unknown engine \"nativ\"; expected simgrid, native; did you mean \"native\"? "
      "(see `podsim run --help`)\n");
  check_usage_error(podsim_run("run --seed 1.5"),
                    "podsim: option --seed: \"1.5\" is no whole number (see `podsim run --help`)\n");
  check_usage_error(podsim_run("run --format"),
                    "podsim: the required argument for option '--format' is missing (see `podsim run --help`)\n");
  check_usage_error(podsim_run("run a.toml b.toml"),
                    "podsim: unexpected argument \"b.toml\" (see `podsim run --help`)\n");
}

TEST_CASE("program: without a file or a system there is no experiment") {
  for (const std::string verb : {"run", "check", "sweep run"}) {
    const CommandResult result = podsim_run(verb);
    CHECK(result.exit_code == 2);
    CHECK(has(result.err, "podsim: no experiment: give a file, or --system and --model"));
  }
}

TEST_CASE("program: an unknown bare name points to the shipped experiments") {
  check_usage_error(podsim_run("run gpt2-caraml-pod5"),
                    "command line: no experiment is called \"gpt2-caraml-pod5\", and no such file; expected a file, or "
                    "one of `podsim list experiments`; did you mean \"gpt2-caraml-pod4\"?\n");
}

TEST_CASE("program: a sweep over systems needs no system beside it") {
  const CommandResult result = podsim_run(
      "sweep run --model bert-base-uncased --axis system=pod4,pod16 --quiet --set ipu.layers_per_ipu=[12] "
      "--set workload.sequence_length=128");
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  CHECK(has(result.out, "\npod4,ok,"));
  CHECK(has(result.out, "\npod16,ok,"));
}

TEST_CASE("program: a missing file and a folder in place of a file are the user's errors") {
  check_usage_error(podsim_run("run no-such-file.toml"),
                    "command line: cannot read \"no-such-file.toml\": no such file\n");
  check_usage_error(podsim_run("check sim"), "command line: \"sim\" is a folder; expected a file\n");
  check_usage_error(podsim_run("list --configs no-such-folder"),
                    "command line: --configs: \"no-such-folder\" is not a folder\n");
}

TEST_CASE("program: list prints names one a line") {
  CHECK(podsim_run("list engines").out == "native\nsimgrid\n");
  CHECK(podsim_run("list formats").out == "csv\nhtml\njson\nmarkdown\ntext\n");
  CHECK(podsim_run("list verbs").out ==
        "run\ncheck\nsweep\nsearch\ncapacity\ncompare\nvalidate\ncalibrate\nloss-scale\nlist\nexplain\nhelp\n");
  const CommandResult models = podsim_run("list models");
  CHECK(models.exit_code == 0);
  CHECK(has("\n" + models.out, "\nbert-large-uncased\n"));
  CHECK(has(podsim_run("list").out, "\nengines\n  native\n  simgrid\n"));
}

TEST_CASE("program: list of an unknown kind names the kinds") {
  check_usage_error(podsim_run("list sytems"),
                    "podsim: nothing is listed as \"sytems\"; expected systems, chips, models, software, experiments, "
                    "families, model-types, keys, constants, metrics, engines, formats, verbs, kinds; did you mean "
                    "\"systems\"? (see `podsim list --help`)\n");
}

TEST_CASE("program: a reader that goes away is no error") {
  const CommandResult result =
      run_command("{ sleep 0.2; " + shell_quoted(program()) + " help; echo $? >&2; } | true", source_dir());
  CHECK(result.err == "0\n");
}

TEST_CASE("program: output that cannot be written is told") {
  if (!std::filesystem::exists("/dev/full")) return;
  const CommandResult result = podsim_run("help > /dev/full");
  CHECK(result.exit_code == 2);
  CHECK(has(result.err, "podsim: cannot write standard output: No space left on device"));
}

TEST_CASE("program: a sweep wants its kind and an axis") {
  check_usage_error(
      podsim_run("sweep"),
      "podsim: unknown kind of sweep \"\"; expected run, show, export or merge (see `podsim sweep --help`)\n");
  check_usage_error(podsim_run("sweep rnu"),
                    "podsim: unknown kind of sweep \"rnu\"; expected run, show, export or merge; did you mean "
                    "\"run\"? (see `podsim sweep --help`)\n");
  check_usage_error(
      podsim_run("sweep run --system x"),
      "command line: sweep.axes: there is no axis; expected --axis KEY=V1,V2,… or a [sweep.axes] table\n");
  check_usage_error(podsim_run("sweep run --system x --axis key"),
                    "command line: --axis: \"key\" is no axis; expected KEY=VALUE,VALUE,…\n");
}
