// What users get wrong: each fault ends with exit code 2, nothing on standard output, and a message with the place,
// the fault and the remedy.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/experiment_folder.hpp"
#include "tests/support/run_command.hpp"

using namespace podsim::test;

namespace {

// `podsim check` of the experiment after a change of its text: all that is told.
std::string told(const std::string& old_text, const std::string& new_text, const std::string& options = "") {
  const ExperimentFolder folder;
  folder.change("experiment.toml", old_text, new_text);
  return folder.refused("check experiment.toml " + options);
}

std::string told_with(const std::string& options) {
  const ExperimentFolder folder;
  return folder.refused("check experiment.toml " + options);
}

// The same with a file beside the experiment, which the key `config` of `section` names.
std::string told_of_file(const std::string& named_before, const std::string& name, const std::string& text) {
  const ExperimentFolder folder;
  folder.write(name, text);
  folder.change("experiment.toml", "\"" + named_before + "\"", "\"" + name + "\"");
  return folder.refused("check experiment.toml");
}

}  // namespace

TEST_CASE("misuse: a misspelt key is named with its place and the nearest key") {
  CHECK(told("micro_batch_size", "micro_batchsize") ==
        "experiment.toml:9:1: workload.micro_batchsize: unknown key; did you mean \"micro_batch_size\"?\n");
  CHECK(told("[ipu]", "[ipu]\nlayers_per_ipus = [3, 7, 7, 7]") ==
        "experiment.toml:13:1: ipu.layers_per_ipus: unknown key; did you mean \"layers_per_ipu\"?\n");
  CHECK(told("[workload]", "[worklaod]") == "experiment.toml:8:2: worklaod: unknown key; did you mean \"workload\"?\n");
  CHECK(told("name =", "nmae =") == "experiment.toml:1:1: nmae: unknown key; did you mean \"name\"?\n");
  CHECK(told_with("--set workload.micro_bach_size=2") ==
        "command line: workload.micro_bach_size: unknown key; did you mean \"micro_batch_size\"?\n");
}

TEST_CASE("misuse: a value of a wrong type is told with what is expected") {
  CHECK(told("micro_batch_size = 2", "micro_batch_size = \"2\"") ==
        "experiment.toml:9:20: workload.micro_batch_size: is a string; expected an integer\n");
  CHECK(told("micro_batch_size = 2", "micro_batch_size = 2.5") ==
        "experiment.toml:9:20: workload.micro_batch_size: 2.5 is not a whole number; expected an integer\n");
  CHECK(told("\"pod16\"", "16") ==
        "experiment.toml:2:10: system: is an integer; expected a name, the path of a .toml file, or a table with a "
        "name\n");
  CHECK(told("\"pod16\"", "{ name = 16 }") ==
        "experiment.toml:2:19: system: is an integer; expected a name, the path of a .toml file, or a table with a "
        "name\n");
  CHECK(told("\"config.json\"", "3") == "experiment.toml:5:10: model.config: is an integer; expected a path\n");
  CHECK(told("\"ipu_config.json\"", "[1]") == "experiment.toml:13:10: ipu.config: is a list; expected a path\n");
  CHECK(told_with("--set workload=3") == "command line: workload: is an integer; expected a table\n");
  CHECK(told_with("--set ipu.layers_per_ipu=seven") ==
        "command line: ipu.layers_per_ipu: is a string; expected a list of integers\n");
  CHECK(told_with("--set ipu.layers_per_ipu=3,7,7,7") ==
        "command line: ipu.layers_per_ipu: is a string; expected a list of integers; did you mean \"[3,7,7,7]\"?\n");
}

TEST_CASE("misuse: a JSON file in place of an experiment is told where it belongs") {
  const ExperimentFolder folder;
  CHECK(folder.refused("run ipu_config.json") ==
        "podsim: \"ipu_config.json\" is JSON, and an experiment is TOML: give an ipu_config.json by --ipu-config and a "
        "config.json by --model, with --system (see `podsim run --help`)\n");
}

TEST_CASE("misuse: a quantity without a unit is refused wherever it stands") {
  const std::string fault = "32 has no unit; expected bandwidth, such as \"75 GB/s\"\n";
  CHECK(told_with("--set system.ipu_link.bandwidth=32") == "command line: system.ipu_link.bandwidth: " + fault);
  CHECK(told("system = \"pod16\"", "[system]\nname = \"pod16\"\nipu_link.bandwidth = 32") ==
        "experiment.toml:4:22: system.ipu_link.bandwidth: " + fault);
  const ExperimentFolder folder;
  folder.write("overlay.toml", "[system]\nipu_link.bandwidth = 32\n");
  CHECK(folder.refused("check experiment.toml --overlay overlay.toml") ==
        "overlay.toml:2:22: system.ipu_link.bandwidth: " + fault);
  CHECK(told_with("--set 'system.ipu_link.bandwidth=32 GB'") ==
        "command line: system.ipu_link.bandwidth: \"32 GB\" has dimension data; expected bandwidth, such as "
        "\"75 GB/s\"\n");
}

TEST_CASE("misuse: layers that do not sum to the model's are counted") {
  CHECK(told("[ipu]", "[ipu]\nlayers_per_ipu = [3, 7, 7, 8]") ==
        "experiment.toml:13:18: ipu.layers_per_ipu: [3, 7, 7, 8] places 25 layers, but the model has 24 layers; "
        "expected a sum of 24\n");
}

TEST_CASE("misuse: accumulation below the stages names both counts") {
  CHECK(told("[ipu]", "[ipu]\ngradient_accumulation_steps = 8") ==
        "experiment.toml:13:31: ipu.gradient_accumulation_steps: gradient_accumulation_steps is 8, but this pipeline "
        "has 5 forward and 9 training stages; expected at least 9 (the head returns to IPU 0 and makes the 5th "
        "forward stage)\n");
}

TEST_CASE("misuse: more replicas than the system holds name the range") {
  CHECK(told("[ipu]", "[ipu]\nreplication_factor = 5") ==
        "experiment.toml:13:22: ipu.replication_factor: 5 replicas of 4 IPUs do not fit: on a Pod16 with a 4-IPU "
        "pipeline, replication_factor must be between 1 and 4\n");
}

TEST_CASE("misuse: a truncated or empty JSON file is told at the place where it ends") {
  CHECK(told_of_file("ipu_config.json", "cut.json", "{\n  \"ipus_per_replica\": 4,\n  \"layers") ==
        "cut.json:3:10: not valid JSON: the text ends before its value is complete\n");
  CHECK(told_of_file("config.json", "cut.json", "{\n  \"model_type\": \"bert\",\n") ==
        "cut.json:3:1: not valid JSON: the text ends before its value is complete\n");
  CHECK(told_of_file("ipu_config.json", "no.json", "") ==
        "no.json:1:1: not valid JSON: the text is empty; expected a JSON value\n");
  CHECK(told_of_file("config.json", "no.json", "") ==
        "no.json:1:1: not valid JSON: the text is empty; expected a JSON value\n");
  CHECK(told_of_file("ipu_config.json", "list.json", "[]") ==
        "list.json:1:1: ipu.config: the file holds a list; expected an object of IPUConfig keys\n");
  CHECK(told_of_file("config.json", "list.json", "[]") ==
        "list.json:1:1: is a list; expected an object with the model's fields\n");
}

TEST_CASE("misuse: an empty or cut experiment is told") {
  const ExperimentFolder folder;
  folder.write("empty.toml", "");
  const std::string empty = folder.refused("check empty.toml");
  CHECK(contains(empty, "empty.toml:1:1: system: is missing; expected one of "));
  CHECK(contains(empty, "empty.toml:1:1: model.config: is missing; expected the path of a config.json or one of "));
  folder.write("cut.toml", "name = \"case");
  CHECK(contains(folder.refused("run cut.toml"), "cut.toml:1:13: not valid TOML: "));
}

TEST_CASE("misuse: an unknown model, system, software or model type has a suggestion") {
  const std::string model = told("\"config.json\"", "\"bert-lage-uncased\"");
  CHECK(contains(model,
                 "experiment.toml:5:10: model.config: no model is called \"bert-lage-uncased\"; expected the "
                 "path of a config.json or one of "));
  CHECK(contains(model, "; did you mean \"bert-large-uncased\"?\n"));
  CHECK(contains(told("\"config.json\"", "\"vit-base\""), "; did you mean \"vit-base-patch16-224\"?\n"));
  const std::string system = told("\"pod16\"", "\"pod17\"");
  CHECK(contains(system, "experiment.toml:2:10: system: no system is called \"pod17\"; expected one of "));
  CHECK(contains(system, ", or the path of a .toml file; did you mean \"pod16\"?\n"));
  CHECK(contains(told_with("--set software=poplar-pytorhc"),
                 "command line: software: no software is called \"poplar-pytorhc\"; expected one of "));
  const std::string type = told_of_file("config.json", "other.json", "{\"model_type\": \"berd\"}");
  CHECK(contains(type, "other.json:1:16: model_type: \"berd\" is not modelled; expected one of "));
  CHECK(contains(type, "; did you mean \"bert\"?\n"));
  CHECK(contains(told_of_file("config.json", "other.json", "{}"),
                 "other.json:1:1: model_type: is missing; expected one of "));
  CHECK(told_of_file("config.json", "other.json", "{\"model_type\": 3}") ==
        "other.json:1:16: model_type: is an integer; expected a string\n");
}

TEST_CASE("misuse: negative and huge numbers are out of range") {
  CHECK(told("micro_batch_size = 2", "micro_batch_size = -2") ==
        "experiment.toml:9:20: workload.micro_batch_size: -2 is out of range; expected from 1 to 10000000\n");
  CHECK(told("micro_batch_size = 2", "micro_batch_size = nan") ==
        "experiment.toml:9:20: workload.micro_batch_size: is not a finite number; expected a number\n");
  CHECK(contains(told("micro_batch_size = 2", "micro_batch_size = 99999999999999999999"),
                 "not valid TOML: decimal integer: '99999999999999999999' is not representable in 64 bits\n"));
  CHECK(told_with("--set workload.sequence_length=9223372036854775807") ==
        "command line: workload.sequence_length: 9223372036854775807 is out of range; expected from 1 to 10000000\n");
  CHECK(told_with("--set ipu.matmul_proportion=1.5") ==
        "command line: ipu.matmul_proportion: 1.5 is out of range; expected from 0 to 1\n");
  CHECK(told_with("--set 'system.ipu_link.bandwidth=-32 GB/s'") ==
        "command line: system.ipu_link.bandwidth: \"-32 GB/s\" is negative; expected a value such as \"75 GB/s\"\n");
  CHECK(told_with("--set system.nodes=0") ==
        "command line: system.nodes: is not a number of systems; expected an integer from 1 to 4096\n");
  CHECK(told_of_file("config.json", "big.json", "{\"model_type\": \"bert\", \"hidden_size\": -1024}") ==
        "big.json:1:39: hidden_size: is -1024; expected an integer from 1 to 10000000\n");
}

TEST_CASE("misuse: numbers that together exceed what can be counted or timed are refused") {
  CHECK(told_with("--set ipu.gradient_accumulation_steps=9223372036854775807") ==
        "command line: ipu.gradient_accumulation_steps: is more than any system has or runs; expected at most "
        "1000000000\n");
  CHECK(told_with("--set ipu.device_iterations=1e18") ==
        "command line: ipu.device_iterations: is more than any system has or runs; expected at most 1000000000\n");
  const ExperimentFolder folder;
  const std::string too_long =
      "podsim: one host call cannot be simulated: a time of more than 106 days; expected fewer iterations or "
      "micro-batches, or constants nearer to the shipped ones\n";
  CHECK(folder.refused("run experiment.toml --engine native --set ipu.device_iterations=1000000000") == too_long);
}

TEST_CASE("misuse: a folder in place of a file is told") {
  const ExperimentFolder folder;
  CHECK(folder.refused("check .") == "command line: \".\" is a folder; expected a file\n");
  CHECK(told("\"ipu_config.json\"", "\".\"") ==
        "experiment.toml:13:10: ipu.config: \".\" is a folder; expected a file\n");
  CHECK(told("\"config.json\"", "\".\"") == "experiment.toml:5:10: model.config: \".\" is a folder; expected a file\n");
  CHECK(told("\"pod16\"", "\"./\"") == "experiment.toml:2:10: system.name: \"./\" is a folder; expected a file\n");
  CHECK(told_with("--overlay .") == "command line: --overlay: \".\" is a folder; expected a file\n");
}

TEST_CASE("misuse: a missing file is named by the path that was tried") {
  const ExperimentFolder folder;
  CHECK(folder.refused("check none.toml") == "command line: cannot read \"none.toml\": no such file\n");
  CHECK(told("\"config.json\"", "\"none.json\"") ==
        "experiment.toml:5:10: model.config: cannot read \"none.json\": no such file\n");
  CHECK(told("\"ipu_config.json\"", "\"sub/none.json\"") ==
        "experiment.toml:13:10: ipu.config: cannot read \"sub/none.json\": no such file\n");
  CHECK(told_with("--overlay none.toml") == "command line: --overlay: cannot read \"none.toml\": no such file\n");
}

TEST_CASE("misuse: problems in every section are reported at once") {
  const ExperimentFolder folder;
  folder.change("experiment.toml", "micro_batch_size = 2", "micro_batchsize = 2\noptimizer = \"adan\"");
  folder.change("experiment.toml", "[ipu]", "[ipu]\nlayers_per_ipus = [3]\nreplication_factor = 5");
  CHECK(folder.refused("check experiment.toml --set chip.tiles=-1") ==
        "experiment.toml:9:1: workload.micro_batchsize: unknown key; did you mean \"micro_batch_size\"?\n"
        "experiment.toml:10:13: workload.optimizer: unknown value \"adan\"; expected sgd, sgd-momentum, adam, adamw, "
        "lamb or lars; did you mean \"adam\"?\n"
        "command line: chip.tiles: -1 is not positive; expected a positive value, such as 1472\n"
        "experiment.toml:14:1: ipu.layers_per_ipus: unknown key; did you mean \"layers_per_ipu\"?\n"
        "experiment.toml:15:22: ipu.replication_factor: 5 replicas of 4 IPUs do not fit: on a Pod16 with a 4-IPU "
        "pipeline, replication_factor must be between 1 and 4\n");
}

TEST_CASE("misuse: a bad assignment on the command line is told with the right form") {
  const std::string form = "; expected key=value, such as workload.micro_batch_size=2\n";
  CHECK(told_with("--set workload.micro_batch_size") ==
        "command line: --set: \"workload.micro_batch_size\" has no \"=\"" + form);
  CHECK(told_with("--set =3") == "command line: --set: \"\" is not a key" + form);
  CHECK(told_with("--set workload.micro_batch_size=") ==
        "command line: workload.micro_batch_size: is a string; expected an integer\n");
  CHECK(told_with("--set chip.clok=1GHz") ==
        "command line: chip.clok: unknown constant; did you mean \"chip.clock\"?\n");
}
