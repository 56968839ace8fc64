// Model Zoo's commands, spelled for Hydra.

#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/rdu/command/model_zoo.hpp"
#include "tests/support/rdu_commands.hpp"

namespace podsim::rdu {
namespace {

using test::compile;
using test::launch;

struct Case {
  std::string text;
  std::string report;
};

}  // namespace

TEST_CASE("rdu overrides: keys of each section are the flags they stand for") {
  const test::Compile read = compile(
      "python3 rdu_train_llm.py command=compile checkpoint.config_name=/m/config.json model.max_seq_length=2048 "
      "training.batch_size=4 samba_compile.arch=sn40 +samba_compile.target_sambaflow_version=1.19.1 "
      "samba_compile.tensor_parallel=weight samba_compile.n_chips=2 samba_compile.num_tiles=8 "
      "'samba_compile.resources_scaling_factors=[1, \"0.8\", 0.8]' samba_compile.pef_name=llama "
      "samba_compile.output_folder=/out ++samba_compile.optim_level=o3 samba_compile.data_parallel=True");
  CHECK(read.text() == "");
  REQUIRE(read.command.has_value());
  const CompileCommand& command = *read.command;
  CHECK(command.line.spelling == Spelling::overrides);
  CHECK(command.batch_size.value == 4);
  CHECK(command.batch_size.place == Place{"c", 1, 126});
  CHECK(command.arch.value == "sn40");
  CHECK(command.target_version.value == "1.19.1");
  CHECK(command.tensor_parallel.value == TensorParallel::weight);
  CHECK(command.n_chips.value == 2);
  CHECK(command.num_tiles.value == 8);
  CHECK(command.resources_scaling_factors.value == std::vector<double>{1, 0.8, 0.8});
  CHECK(command.optimization_level.value == OptimizationLevel::o3);
  CHECK(command.data_parallel.value);
  CHECK(command.config_name.value == "/m/config.json");
  CHECK(command.shape("max-seq-length")->value == 2048);
  CHECK(expected_pef(command).text() == "/out/llama/llama.pef");
}

TEST_CASE("rdu overrides: what the shipped YAML file sets holds where the command is silent") {
  const test::Compile text = compile("python rdu_generate_text.py command=compile");
  CHECK(text.text() == "");
  CHECK(text.command->optimization_level.value == OptimizationLevel::o1);
  CHECK(text.command->optimization_level.origin == "default: Model Zoo, text_generation/config/base_config_rdu.yaml");
  CHECK_FALSE(text.command->optimization_level.given);
  CHECK(text.command->inference.value);
  CHECK(text.command->o1_experimental_opts.value);
  CHECK(text.command->shape("max-seq-length")->value == 4096);
  CHECK(text.command->num_tiles.value == 4);
  CHECK(text.command->num_tiles.origin == "default: Model Zoo, libs/nlp/args/nlp_default_args.yaml");
  CHECK(text.command->tiling_accum.value == "bf16sr");
  CHECK(expected_pef(*text.command).text() == "./<time and process id>/<time and process id>.pef");
  CHECK(text.command->output_folder.origin == "default: Model Zoo, the current folder");

  const test::Compile copies = compile("python x/rdu_train_llm_dp.py command=compile training.batch_size=8");
  CHECK(copies.text() == "");
  CHECK(copies.command->data_parallel.value);
  CHECK(copies.command->world_size.value == 2);
  CHECK(copies.command->num_tiles.value == 4);
  CHECK(copies.command->batch_size.value == 8);
  CHECK(
      launch("mpirun -np 4 python rdu_train_llm_dp.py command=run samba_run.pef=/p.pef").command->data_parallel.value);
}

TEST_CASE("rdu overrides: another shipped file is chosen by its name") {
  const test::Compile read = compile("python rdu_generate_text.py command=compile --config-name o1hd_config_rdu");
  CHECK(read.text() == "");
  CHECK(read.command->n_chips.value == 8);
  CHECK(read.command->resources_scaling_factors.value == std::vector<double>{4, 4, 4});
  CHECK(shipped_config(read.command->line)->path == "text_generation/config/o1hd_config_rdu.yaml");
}

TEST_CASE("rdu overrides: null is Hydra's word for not given, whatever the file sets") {
  const test::Compile read =
      compile("python rdu_train_llm.py command=compile samba_compile.pef_name=null samba_compile.num_tiles=null");
  CHECK(read.text() == "");
  CHECK(expected_pef(*read.command).name_is_default);
  CHECK_FALSE(read.command->num_tiles.known);
  CHECK(read.command->num_tiles.value == k_tiles_by_compiler);
}

TEST_CASE("rdu overrides: the last of a repeated key counts") {
  const std::string start = "python rdu_train_llm.py command=compile ";
  CHECK(compile(start + "samba_compile.num_tiles=8 samba_compile.num_tiles=2").command->num_tiles.value == 2);
  CHECK(compile(start + "samba_compile.num_tiles=8 samba_compile.num_tiles=2").text() ==
        "c:1:67: warning: samba_compile.num_tiles: is given again; the last one counts\n");
  CHECK(compile(start + "samba_compile.num_tiles=null samba_compile.num_tiles=2").command->num_tiles.value == 2);
  CHECK_FALSE(compile(start + "samba_compile.num_tiles=2 samba_compile.num_tiles=null").command->num_tiles.known);
}

TEST_CASE("rdu overrides: case 16, a key that stands in no file needs a plus, told only where that is known") {
  const std::string key = "samba_compile.target_sambaflow_version=1.19.1";
  CHECK(compile("python rdu_generate_text.py command=compile " + key).text() ==
        "c:1:45: samba_compile.target_sambaflow_version: stands in none of Model Zoo's files, so Hydra does not accept "
        "it; expected +samba_compile.target_sambaflow_version=…\n");
  CHECK(compile("python rdu_generate_text.py command=compile +" + key).text() == "");
  CHECK(compile("python rdu_generate_text.py command=compile --config-name mine " + key).text() ==
        "c:1:8: warning: rdu_generate_text.py: the YAML file that it reads is not looked at; what it sets is not "
        "known\n");
}

TEST_CASE("rdu overrides: what Hydra would refuse is reported") {
  const std::vector<Case> cases{
      {"-b=16 stray",
       "c:1:47: stray: is no override; expected key=value or +key=value\n"
       "c:1:1: warning: command: without effect on what is simulated: -b\n"},
      {"=3", "c:1:41: =3: is no override; expected key=value or +key=value\n"},
      {"samba_compile.pef_name= gpt",
       "c:1:41: samba_compile.pef_name: has an empty value, and \"gpt\" stands alone behind a blank; expected "
       "samba_compile.pef_name=gpt\n"},
      {"training.batch_size=",
       "c:1:41: training.batch_size: has an empty value; expected a value, or training.batch_size=null\n"},
      {"samba_compile.num_tile=4",
       "c:1:41: warning: samba_compile.num_tile: is no key of the compiler that is known here; it has no effect; did "
       "you mean \"samba_compile.num_tiles\"?\n"
       "c:1:1: warning: command: without effect on what is simulated: samba_compile.num_tile\n"},
      {"samba_compile.data_parallel=maybe",
       "c:1:69: samba_compile.data_parallel: \"maybe\" is no truth value; expected true or false\n"},
      {"samba_compile.optim_level=o2",
       "c:1:67: samba_compile.optim_level: unknown value \"o2\"; expected o0, o1 or o3; did you mean \"o0\"?\n"},
      {"training.batch_size=${BS}",
       "c:1:61: training.batch_size: the variable BS has no value; expected one in rdu.define.BS\n"},
      {"training.dataset=/d ~training.seed",
       "c:1:1: warning: command: without effect on what is simulated: training.dataset, ~training.seed\n"},
  };
  for (const Case& c : cases) {
    CAPTURE(c.text);
    CHECK(compile("python rdu_train_llm.py command=compile " + c.text).text() == c.report);
  }
}

TEST_CASE("rdu overrides: a program reads the batch of its own section") {
  const std::string both = " command=compile generation.batch_size=4 training.batch_size=2";
  const auto batch = [](const std::string& text) { return compile(text).command->batch_size.value; };
  CHECK(batch("python rdu_train_llm.py" + both) == 2);
  CHECK(compile("python rdu_train_llm.py" + both).text() ==
        "c:1:41: warning: generation.batch_size: has no effect: rdu_train_llm.py reads training.batch_size\n");
  CHECK(batch("python rdu_generate_text.py" + both) == 4);
  CHECK(compile("python rdu_generate_text.py" + both).text() ==
        "c:1:69: warning: training.batch_size: has no effect: rdu_generate_text.py reads generation.batch_size\n");
  CHECK(batch("python rdu_train_llm.py command=compile generation.batch_size=4") == 1);
  // Of another program one is read, whichever there is; of both that of its mode.
  CHECK(batch("python mine.py command=compile generation.batch_size=4") == 4);
  CHECK(batch("python mine.py" + both) == 2);
  CHECK(batch("python mine.py" + both + " samba_compile.inference=true") == 4);
}

TEST_CASE("rdu overrides: the sub-command is one of four") {
  CHECK(compile("python rdu_train_llm.py command=complie").text() ==
        "c:1:33: command: unknown sub-command \"complie\"; expected compile, run, test or measure-performance; did you "
        "mean \"compile\"?\n"
        "c:1:33: command: is a complie command; expected a compile command: python app.py compile …\n");
}

}  // namespace podsim::rdu
