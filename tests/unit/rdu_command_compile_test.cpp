#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "tests/support/rdu_commands.hpp"

namespace podsim::rdu {
namespace {

using test::compile;

struct Case {
  std::string text;
  std::string report;
};

}  // namespace

TEST_CASE("rdu compile: without flags SambaFlow's documented defaults hold") {
  const test::Compile read = compile("python app.py compile");
  CHECK(read.text() == "");
  REQUIRE(read.command.has_value());
  const CompileCommand& command = *read.command;
  CHECK(command.optimization_level.value == OptimizationLevel::o3);
  CHECK(command.levels.empty());
  CHECK(command.batch_size.value == 1);
  CHECK(command.microbatch_size.value == 1);
  CHECK(command.num_spatial_batches.value == 1);
  CHECK(command.grad_accumulation_steps.value == 1);
  CHECK(command.num_tiles.value == k_tiles_by_compiler);
  CHECK(command.n_chips.value == 1);
  CHECK(command.tensor_parallel.value == TensorParallel::none);
  CHECK_FALSE(command.data_parallel.value);
  CHECK(command.world_size.value == 1);
  CHECK_FALSE(command.inference.value);
  CHECK(command.mapping.value == Mapping::section);
  CHECK(command.resources_scaling_factors.value.empty());
  CHECK(command.arch.value == "native");
  CHECK(command.use_o1_default_rules.value);
  CHECK(command.output_folder.value == "out");
  CHECK(command.shapes.empty());
  CHECK(command.model_name.value == "");
}

TEST_CASE("rdu compile: each flag reaches its field") {
  const test::Compile read = compile(
      "SN_NUM_THREADS=16 python3 train.py compile --inference -b 32 -mb 8 --num-spatial-batches 100 --mapping spatial "
      "--grad-accumulation-steps 2 --num-tiles 2 --n-chips 4 --tensor-parallel batch --data-parallel --world-size 2 "
      "--enable-hypersection --optimization-rules r.yaml --o1-experimental-opts --mac-human-decision hd.json "
      "--compiler-mode nlp --arch sn20 --graphamp-preset mp1 --enable-stochastic-rounding --mac-v1 "
      "--target-sambaflow-version 1.18.7 --model_name_or_path gpt2 --config_name c.json --pef-name gpt "
      "--output-folder pefs/ -o1");
  REQUIRE(read.command.has_value());
  CHECK_FALSE(read.diagnostics.has_errors());
  const CompileCommand& command = *read.command;
  CHECK(command.line.environment.front().name == "SN_NUM_THREADS");
  CHECK(command.line.environment.front().value.text == "16");
  CHECK(command.line.program.text == "train.py");
  CHECK(command.inference.value);
  CHECK(command.microbatch_size.value == 8);
  CHECK(command.num_spatial_batches.value == 100);
  CHECK(command.mapping.value == Mapping::spatial);
  CHECK(command.grad_accumulation_steps.value == 2);
  CHECK(command.num_tiles.value == 2);
  CHECK(command.n_chips.value == 4);
  CHECK(command.tensor_parallel.value == TensorParallel::batch);
  CHECK(command.data_parallel.value);
  CHECK(command.world_size.value == 2);
  CHECK(command.enable_hypersection.value);
  CHECK(command.optimization_rules.value == "r.yaml");
  CHECK_FALSE(command.use_o1_default_rules.value);
  CHECK(command.o1_experimental_opts.value);
  CHECK(command.human_decision.value == "hd.json");
  CHECK(command.compiler_mode.value == "nlp");
  CHECK(command.arch.value == "sn20");
  CHECK(command.graphamp_preset.value == "mp1");
  CHECK(command.stochastic_rounding.value);
  CHECK(command.mac_v1.value);
  CHECK(command.target_version.value == "1.18.7");
  CHECK(command.model_name.value == "gpt2");
  CHECK(command.config_name.value == "c.json");
  CHECK(command.optimization_level.value == OptimizationLevel::o1);
  CHECK(to_text(command.optimization_level.value) == "o1");
  CHECK(to_text(command.tensor_parallel.value) == "batch");
}

TEST_CASE("rdu compile: the place of the program follows from name and folder") {
  struct Path {
    std::string flags;
    std::string expected;
  };
  const std::vector<Path> paths{
      {"--pef-name=gpt", "out/gpt/gpt.pef"},
      {"--pef-name=\"gpt\" --output-folder=\"pef\"", "pef/gpt/gpt.pef"},
      {"--pef-name gpt --output-folder=/scratch/run/", "/scratch/run/gpt/gpt.pef"},
      {"--pef-name gpt --output-folder .", "./gpt/gpt.pef"},
      {"--pef-name gpt_${BS} --output-folder $OUT", "$OUT/gpt_${BS}/gpt_${BS}.pef"},
      {"", "out/<time and process id>/<time and process id>.pef"},
  };
  for (const Path& path : paths) {
    CAPTURE(path.flags);
    CHECK(expected_pef(*compile("python a.py compile " + path.flags).command).text() == path.expected);
  }
  CHECK(expected_pef(*compile("python a.py compile").command).name_is_default);
  CHECK(expected_pef(*compile("python a.py compile --pef-name $N").command).unset);
}

TEST_CASE("rdu compile: interpreters, launchers and variables stand before the program") {
  for (const std::string& start : std::vector<std::string>{
           "python", "python3.8 -u", "/opt/venv/bin/python -W ignore -X dev", "srun python", "time srun -n 1 python",
           "A=1 B='x y' python", "$ python", "env A=1 python", "srun --exclusive env A=1 python"}) {
    CAPTURE(start);
    const test::Compile read = compile(start + " dir/hook.py compile -b 4");
    REQUIRE(read.command.has_value());
    CHECK_FALSE(read.diagnostics.has_errors());
    CHECK(read.command->line.program.text == "dir/hook.py");
    CHECK(read.command->line.program_name() == "hook.py");
    CHECK(read.command->batch_size.value == 4);
  }
  CHECK(compile("./app compile -b 4").command->batch_size.value == 4);
  CHECK(compile("python -m pkg.app compile -b 4").command->line.program.text == "pkg.app");
}

TEST_CASE("rdu compile: one compile command is wanted") {
  const std::vector<Case> cases{
      {"", "c:1:1: command: there is no command; expected a compile command: python app.py compile …\n"},
      {"# nothing", "c:1:1: command: there is no command; expected a compile command: python app.py compile …\n"},
      {"python a.py", "c:1:1: command: has no sub-command; expected a compile command: python app.py compile …\n"},
      {"python a.py run --pef x.pef",
       "c:1:13: command: is a run command; expected a compile command: python app.py compile …\n"},
      {"python a.py compile\npython b.py compile", "c:2:1: command: is the second of its kind; expected one\n"},
      {"python a.py complie -b 4",
       "c:1:13: command: unknown sub-command \"complie\"; expected compile, run, test or measure-performance; did you "
       "mean \"compile\"?\n"
       "c:1:1: command: has no sub-command; expected a compile command: python app.py compile …\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    const test::Compile read = compile(c.text);
    CHECK(read.text() == c.report);
    CHECK_FALSE(read.command.has_value());
  }
}

TEST_CASE("rdu compile: what else stands in a script is passed over, and said to be") {
  const test::Compile read = compile(
      "#!/bin/bash\nexport OUT=out BS=8\ncd apps\nsource venv/bin/activate\npython a.py compile -b $BS\n"
      "python a.py run --pef $OUT/x.pef\n");
  REQUIRE(read.command.has_value());
  CHECK(read.command->batch_size.value == 8);
  CHECK(read.text() ==
        "c:3:1: warning: command: cd is passed over\n"
        "c:4:1: warning: command: source is passed over\n"
        "c:6:1: warning: command: a.py is passed over\n");
}

TEST_CASE("rdu compile: ranks of a launcher do not belong to a compile") {
  CHECK(compile("srun -n 1 python a.py compile").text() == "");
  CHECK(compile("mpirun -np 8 python a.py compile").text() ==
        "c:1:12: warning: -np: a compile runs once; ranks belong to the launch command\n");
}

TEST_CASE("rdu compile: what changes nothing is named once") {
  CHECK(compile("SN_NUM_THREADS=8 FOO=1 python a.py compile --debug --log-level=error --do_train --x 1 --x 2").text() ==
        "c:1:1: warning: command: without effect on what is simulated: SN_NUM_THREADS, FOO, --debug, --log-level, "
        "--do_train, --x\n");
}

TEST_CASE("rdu compile: a continued command in a file keeps its lines") {
  const test::Compile read = compile("python a.py compile \\\n  -b 16 \\\n  --num-tiles nine\n");
  CHECK(read.text() == "c:3:15: --num-tiles: \"nine\" is no whole number; expected a whole number\n");
}

}  // namespace podsim::rdu
