// Options as Python's argparse reads them.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/rdu_commands.hpp"

namespace podsim::rdu {
namespace {

using test::compile;
using test::launch;

// A text behind "python a.py compile " and what is reported of it.
struct Case {
  std::string text;
  std::string report;
};

void check_cases(const std::vector<Case>& cases) {
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(compile("python a.py compile " + c.text).text() == c.report);
  }
}

}  // namespace

TEST_CASE("rdu options: a batch is read in each spelling of argparse") {
  for (const std::string& spelling :
       std::vector<std::string>{"-b 16", "-b=16", "-b16", "--batch-size 16", "--batch-size=16", "--batch-size '16'"}) {
    CAPTURE(spelling);
    const test::Compile read = compile("python a.py compile " + spelling);
    CHECK(read.text() == "");
    REQUIRE(read.command.has_value());
    CHECK(read.command->batch_size.value == 16);
    CHECK(read.command->batch_size.given);
  }
}

TEST_CASE("rdu options: words behind one dash take the next word") {
  const test::Compile read = compile("python a.py compile -b 16 -mb 4 --data-parallel -ws 2 -o0");
  CHECK(read.text() == "");
  CHECK(read.command->microbatch_size.value == 4);
  CHECK(read.command->world_size.value == 2);
  CHECK(read.command->optimization_level.value == OptimizationLevel::o0);
}

TEST_CASE("rdu options: every value knows its place and origin, every default says so") {
  const test::Compile read = compile("python a.py compile \\\n  --num-tiles=4 --batch-size 8");
  CHECK(read.command->num_tiles.place == Place{"c", 2, 15});
  CHECK(read.command->num_tiles.origin == "c:2:15");
  CHECK(read.command->batch_size.origin == "c:2:30");
  CHECK(read.command->n_chips.origin == "default: documented (1)");
  CHECK_FALSE(read.command->n_chips.given);
  CHECK(read.command->human_decision.origin == "default: none");
  CHECK(read.command->optimization_level.origin == "default: documented (o3)");
}

TEST_CASE("rdu options: the beginning of one long option stands for it, and that is said") {
  const test::Compile read = compile("python a.py compile --compiler-conf c.json --tensor-p batch");
  CHECK(read.command->compiler_configs_file.value == "c.json");
  CHECK(read.command->tensor_parallel.value == TensorParallel::batch);
  CHECK(read.text() ==
        "c:1:21: warning: --compiler-conf: is read as --compiler-configs-file, the only flag that begins so\n"
        "c:1:44: warning: --tensor-p: is read as --tensor-parallel, the only flag that begins so\n"
        "c:1:1: warning: command: without effect on what is simulated: --compiler-conf\n");
}

TEST_CASE("rdu options: a beginning that fits several, or whose value does not fit, is the application's") {
  check_cases({
      {"--num 4",
       "c:1:21: warning: --num: is read as the application's own flag; as a beginning it fits --num-spatial-batches or "
       "--num-tiles or --n-chips\n"
       "c:1:1: warning: command: without effect on what is simulated: --num\n"},
      {"--model gpt2", "c:1:1: warning: command: without effect on what is simulated: --model\n"},
      {"--data /d", "c:1:1: warning: command: without effect on what is simulated: --data\n"},
  });
  CHECK_FALSE(compile("python a.py compile --model gpt2").command->model_parallel.value);
  CHECK_FALSE(compile("python a.py compile --data /d").command->data_parallel.value);
}

TEST_CASE("rdu options: flags of the application keep their order, names and values") {
  const test::Compile read =
      compile("python a.py compile --lr 0.1 --do_train --betas 0.9 -0.5 --x=1 --max_seq_length 128 -z");
  const std::vector<FlagOccurrence>& flags = read.command->line.application;
  REQUIRE(flags.size() == 5);
  CHECK(flags[0].name == "--do_train");
  CHECK(flags[0].values.empty());
  CHECK(flags[1].name == "--betas");
  REQUIRE(flags[1].values.size() == 2);
  CHECK(flags[1].values[1].text == "-0.5");
  CHECK(flags[2].values[0].text == "1");
  CHECK(flags[3].name == "--max_seq_length");
  CHECK(flags[4].name == "-z");
  CHECK(read.command->application_flag("--x") != nullptr);
  CHECK(read.command->application_flag("--y") == nullptr);
  REQUIRE(read.command->shape("max-seq-length") != nullptr);
  CHECK(read.command->shape("max-seq-length")->value == 128);
  CHECK(read.command->shape("in-width") == nullptr);
}

TEST_CASE("rdu options: case 14, a stray blank behind the sign loses the name and is refused") {
  check_cases({
      {"--pef-name= gpt15 -o1",
       "c:1:21: --pef-name: has an empty value, and \"gpt15\" stands alone behind a blank; expected "
       "--pef-name=gpt15\n"},
      {"--pef-name=", "c:1:21: --pef-name: has an empty value; expected --pef-name=value\n"},
      {"--batch-size= 16",
       "c:1:21: --batch-size: has an empty value, and \"16\" stands alone behind a blank; expected --batch-size=16\n"},
      {"--cache= x",
       "c:1:21: warning: --cache: has an empty value, and \"x\" stands alone behind a blank; expected --cache=x\n"
       "c:1:1: warning: command: without effect on what is simulated: --cache\n"},
  });
  CHECK_FALSE(compile("python a.py compile --pef-name= gpt15").command->pef_name.valid);
}

TEST_CASE("rdu options: values that cannot be are refused, all at once") {
  check_cases({
      {"-b x --num-tiles 3 --n-chips 0 --arch sn31 --mapping",
       "c:1:64: --mapping: has no value; expected section or spatial\n"
       "c:1:24: -b: \"x\" is no whole number; expected a whole number\n"
       "c:1:50: --n-chips: 0 is out of range; expected at least 1\n"
       "c:1:59: --arch: unknown value \"sn31\"; expected native, sn10, sn20, sn30 or sn40; did you mean \"sn30\"?\n"
       "c:1:38: --num-tiles: 3 is no number of tiles; expected 1, 2, 4 or 8\n"},
  });
}

TEST_CASE("rdu options: the form of a flag is checked") {
  check_cases({
      {"-b", "c:1:21: -b: has no value; expected a value behind it\n"},
      {"--batch-size --verbose --output-folder x",
       "c:1:21: --batch-size: has no value; expected a value behind it\n"
       "c:1:1: warning: command: without effect on what is simulated: --verbose\n"},
      {"--tensor-parallel", "c:1:21: --tensor-parallel: has no value; expected none, batch or weight\n"},
      {"--tensor-parallel --n-chips 2", "c:1:21: --tensor-parallel: has no value; expected none, batch or weight\n"},
      {"--tensor-parallel data", "c:1:39: --tensor-parallel: unknown value \"data\"; expected none, batch or weight\n"},
      {"--arch sn31",
       "c:1:28: --arch: unknown value \"sn31\"; expected native, sn10, sn20, sn30 or sn40; did you mean \"sn30\"?\n"},
      {"--inference=True", "c:1:33: --inference: takes no value; expected --inference alone\n"},
      {"-ws2", "c:1:21: -ws2: is not read as a flag with a value; expected -ws 2\n"},
      {"-mb4", "c:1:21: -mb4: is not read as a flag with a value; expected -mb 4\n"},
      {"-o2", "c:1:21: -o2: is no optimisation level; expected -o0, -o1 or -o3\n"},
      {"-o 3", "c:1:21: -o 3: is no optimisation level; expected -o0, -o1 or -o3; did you mean \"-o3\"?\n"},
      {"-O1", "c:1:21: -O1: is no optimisation level; expected -o0, -o1 or -o3; did you mean \"-o1\"?\n"},
      {"-b 8 stray", "c:1:26: warning: stray: stands alone: no flag takes it\n"},
      {"-b 8 -- y", "c:1:29: warning: y: stands alone: no flag takes it\n"},
      {"-b 8 -b 16", "c:1:26: warning: -b: is given again; the first is -b and the last one counts\n"},
      {"--reduce-on-rdu", "c:1:21: warning: --reduce-on-rdu: has no effect on a compile\n"},
      {"--data-paralel",
       "c:1:21: warning: --data-paralel: is read as the application's own flag; did you mean \"--data-parallel\"?\n"
       "c:1:1: warning: command: without effect on what is simulated: --data-paralel\n"},
      {"--max_seq_length", "c:1:21: warning: --max_seq_length: has no value\n"},
      {"> log 2>&1", "c:1:21: warning: command: pipes and redirections have no effect and are not looked at\n"},
  });
  CHECK(compile("python a.py compile -b 8 -b 16").command->batch_size.value == 16);
}

TEST_CASE("rdu options: resource factors are three or four shares") {
  check_cases({
      {"--resources-scaling-factors 1 0.8 0.8 -b 2", ""},
      {"--resources-scaling-factors 4 4 4 4 -o3", ""},
      {"--resources-scaling-factors -1.0 -1.0 -1.0 -1.0", ""},
      {"--resources-scaling-factors 1 0.8",
       "c:1:49: --resources-scaling-factors: has 2 factors; expected 3 (forward, backward, optimizer) or 4 (forward, "
       "backward, gradient norm, optimizer)\n"},
      {"--resources-scaling-factors 1 1 1 1 1",
       "c:1:49: --resources-scaling-factors: has 5 factors; expected 3 (forward, backward, optimizer) or 4 (forward, "
       "backward, gradient norm, optimizer)\n"},
      {"--resources-scaling-factors=1",
       "c:1:49: --resources-scaling-factors: has 1 factor; expected 3 (forward, backward, optimizer) or 4 (forward, "
       "backward, gradient norm, optimizer)\n"},
      {"--resources-scaling-factors 1 0 0.8",
       "c:1:49: --resources-scaling-factors: has a factor that is not above 0; expected shares above 0, 1 for all "
       "resources; or -1 for each, to let the compiler decide\n"},
      {"--resources-scaling-factors 1 much nan",
       "c:1:51: --resources-scaling-factors: \"much\" is no number; expected a number\n"
       "c:1:56: --resources-scaling-factors: \"nan\" is no number; expected a number\n"},
  });
  const test::Compile three = compile("python a.py compile --resources-scaling-factors 1 0.8 0.6");
  CHECK(three.command->resources_scaling_factors.value == std::vector<double>{1, 0.8, 0.6});
  const test::Compile automatic = compile("python a.py compile --resources-scaling-factors -1 -1 -1");
  CHECK(automatic.command->resources_scaling_factors.value.empty());
}

TEST_CASE("rdu options: an unset variable is named where its value is needed, and once for all where it is not") {
  check_cases({
      {"-b ${BS} --num-tiles $T --pef-name=x_$BS --output-folder ${OUT} --data $2 --in-width=${2}",
       "c:1:24: -b: the variable BS has no value; expected one in rdu.define.BS\n"
       "c:1:42: --num-tiles: the variable T has no value; expected one in rdu.define.T\n"
       "c:1:106: --in-width: the variable 2 has no value; expected one in rdu.define.\"2\"\n"
       "c:1:1: warning: command: without effect on what is simulated: --data\n"
       "c:1:1: warning: command: without a value, where none is needed: OUT\n"},
      {"--arch ${ARCH}", "c:1:28: --arch: the variable ARCH has no value; expected one in rdu.define.ARCH\n"},
      {"--log-level $L",
       "c:1:1: warning: command: without effect on what is simulated: --log-level\n"
       "c:1:1: warning: command: without a value, where none is needed: L\n"},
  });
  const Defines defines{{"BS", "8"}, {"OUT", "out"}};
  const test::Compile read = compile("python a.py compile -b ${BS} --output-folder ${OUT}", defines);
  CHECK(read.text() == "");
  CHECK(read.command->batch_size.value == 8);
  CHECK_FALSE(compile("python a.py compile -b $X").command->batch_size.valid);
}

TEST_CASE("rdu options: a flag that is fixed in the program has no effect on a run") {
  CHECK(launch("python a.py run --pef=x.pef --num-tiles 4").text() ==
        "l:1:29: warning: --num-tiles: has no effect on a run: it is fixed in the PEF\n");
  CHECK(launch("python a.py run --pef=x.pef -o1").text() ==
        "l:1:29: warning: -o1: has no effect on a run: it is fixed in the PEF\n");
}

}  // namespace podsim::rdu
