// Every check on the way from an experiment to a plan, by its whole message.
#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "models/catalog.hpp"
#include "sim/plan/plan.hpp"
#include "tests/support/run_experiment.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// BERT base on four IPUs: a plan without problems.
const std::string k_experiment =
    "name = \"case\"\n"                   // 1
    "system = \"pod4\"\n"                 // 2
    "[model]\n"                           // 3
    "config = \"bert-base-uncased\"\n"    // 4
    "head = \"masked-lm\"\n"              // 5
    "vocab_size = 30400\n"                // 6
    "[workload]\n"                        // 7
    "sequence_length = 128\n"             // 8
    "[ipu]\n"                             // 9
    "layers_per_ipu = [0, 4, 4, 4]\n"     // 10
    "gradient_accumulation_steps = 16\n"  // 11
    "replication_factor = 1\n";           // 12

std::string problems(const std::vector<std::string>& overrides) {
  return problems_of(k_experiment, overrides);
}

// The problems of the experiment with a line changed.
std::string problems_with(const std::string& old_text, const std::string& new_text) {
  std::string text = k_experiment;
  const std::size_t at = text.find(old_text);
  REQUIRE(at != std::string::npos);
  return problems_of(text.replace(at, old_text.size(), new_text));
}

// The problems with a model configuration of this text; the file's folder is left out of them.
std::string problems_of_model(const std::string& json) {
  const TemporaryFolder folder;
  const std::string file = folder.write("config.json", json);
  std::string text = problems({"model.config=\"" + file + "\""});
  const std::string prefix = folder.path() + "/";
  for (std::size_t at = text.find(prefix); at != std::string::npos; at = text.find(prefix))
    text.erase(at, prefix.size());
  return text;
}

// The text begins and ends so: what is between lists shipped names.
bool framed(const std::string& text, const std::string& first, const std::string& last) {
  return text.starts_with(first) && text.ends_with(last) && text.size() >= first.size() + last.size();
}

// The problems with a folder of configs that has one file more.
std::string problems_with_config(const std::string& name, const std::string& text, const std::string& system) {
  const TemporaryFolder folder;
  const ConfigFiles shipped = ConfigFiles::embedded();
  for (const std::string& path : shipped.list("")) folder.write(path, *shipped.text(path));
  folder.write(name, text);
  Diagnostics diagnostics;
  Experiment experiment;
  experiment.document = *parse_toml(k_experiment, "experiment.toml", diagnostics);
  apply_override(experiment, "system=" + system, diagnostics);
  std::string told =
      make_plan(experiment, make_catalog(), ConfigFiles::from_folder(folder.path())).diagnostics.to_text();
  const std::string prefix = folder.path() + "/";
  for (std::size_t at = told.find(prefix); at != std::string::npos; at = told.find(prefix))
    told.erase(at, prefix.size());
  return told;
}

}  // namespace

TEST_CASE("plan: an experiment in order has no problems") {
  CHECK(problems({}) == "");
}

TEST_CASE("plan: a missing system, model or both are told with what may stand there") {
  const std::string text = problems_of("name = \"x\"\n");
  CHECK(framed(text.substr(0, text.find('\n')), "experiment.toml:1:1: system: is missing; expected one of ", ""));
  CHECK(text.find("\nexperiment.toml:1:1: model.config: is missing; expected the path of a config.json or one of ") !=
        std::string::npos);
}

TEST_CASE("plan: a system or software of a wrong kind is told once") {
  const std::string expected = "; expected a name, the path of a .toml file, or a table with a name\n";
  CHECK(problems_with("\"pod4\"", "4") == "experiment.toml:2:10: system: is an integer" + expected);
  CHECK(problems({"software=[1]"}) == "command line: software: is a list" + expected);
  CHECK(problems({"system.name=4"}) == "command line: system: is an integer" + expected);
}

TEST_CASE("plan: an unknown system or software has a suggestion") {
  CHECK(framed(problems_with("pod4", "pod44"),
               "experiment.toml:2:10: system: no system is called \"pod44\"; expected one of ",
               ", or the path of a .toml file; did you mean \"pod4\"?\n"));
  CHECK(framed(problems({"software=poplar-popat"}),
               "command line: software: no software is called \"poplar-popat\"; expected one of ",
               ", or the path of a .toml file; did you mean \"poplar-popart\"?\n"));
  CHECK(problems({"system=none.toml"}) == "command line: system.name: cannot read \"none.toml\": no such file\n");
}

TEST_CASE("plan: software of another family than the system's is told once, with what suits") {
  CHECK(
      problems({"software=sambaflow-1.18"})
          .starts_with("command line: software: \"sambaflow-1.18\" is of family \"rdu\", system \"pod4\" is of family "
                       "\"ipu\"; expected one of poplar-paddle, poplar-popart, "));
}

TEST_CASE("plan: a system file that names an unknown chip or family is told by its name") {
  const std::string shipped = *ConfigFiles::embedded().text("systems/pod4.toml");
  std::string chip = shipped;
  chip.replace(chip.find("\"gc200\""), 7, "\"gc300\"");
  CHECK(framed(problems_with_config("systems/odd.toml", chip, "odd"),
               "systems/odd.toml:4:8: chip: no chip is called \"gc300\"; expected one of ",
               ", or the path of a .toml file; did you mean \"gc200\"?\n"));
  std::string family = shipped;
  family.replace(family.find("\"ipu\""), 5, "\"xpu\"");
  const std::string told = problems_with_config("systems/odd.toml", family, "odd");
  CHECK(told.find("systems/odd.toml:3:10: family: no family is called \"xpu\"; expected one of ipu, rdu") !=
        std::string::npos);
}

TEST_CASE("plan: the number of systems is a whole number in range") {
  const std::string told = "system.nodes: is not a number of systems; expected an integer from 1 to 4096\n";
  CHECK(problems({"system.nodes=0"}) == "command line: " + told);
  CHECK(problems({"system.nodes=two"}) == "command line: " + told);
  CHECK(problems_with("system = \"pod4\"", "system = { name = \"pod4\", nodes = 5000 }") ==
        "experiment.toml:2:35: " + told);
}

TEST_CASE("plan: slowdowns are factors of devices that exist") {
  CHECK(problems({"system.slowdown=2"}) ==
        "command line: system.slowdown: is an integer; expected a table of device names and factors\n");
  CHECK(problems({"system.slowdown.ipu1=0.5"}) ==
        "command line: system.slowdown.ipu1: is no slowdown; expected a factor on durations, from 1 to 1000\n");
  CHECK(problems({"system.slowdown.ipu1=fast"}) ==
        "command line: system.slowdown.ipu1: is no slowdown; expected a factor on durations, from 1 to 1000\n");
  CHECK(problems_with("system = \"pod4\"", "system = { name = \"pod4\", slowdown = { ipu4 = 2 } }") ==
        "experiment.toml:2:47: system.slowdown.ipu4: no such device; expected ipu0 to ipu3\n");
}

TEST_CASE("plan: sections of other families and reserved sections have no effect, which is told") {
  CHECK(problems({"report.columns=1"}) == "command line: warning: report: has no effect yet\n");
  CHECK(problems({"loss_scaling.inital=1"})
            .starts_with("command line: loss_scaling.inital: unknown key; did you mean \"initial\"?\n"));
  CHECK(problems({"loss_scaling.initial=1"}).empty());
}

TEST_CASE("plan: a model is a shipped name or a file") {
  CHECK(
      framed(problems({"model.config=bert-bas-uncased"}),
             "command line: model.config: no model is called \"bert-bas-uncased\"; expected the path of a config.json "
             "or one of ",
             "; did you mean \"bert-base-uncased\"?\n"));
  CHECK(problems({"model.config=no/config.json"}) ==
        "command line: model.config: cannot read \"no/config.json\": no such file\n");
  CHECK(problems({"model.config=/"}) == "command line: model.config: \"/\" is a folder; expected a file\n");
  CHECK(problems_of_model("[]") == "config.json:1:1: is a list; expected an object with the model's fields\n");
}

TEST_CASE("plan: the type of a model is known, or implied by a known class") {
  CHECK(problems_of_model("{\"model_type\": 3}") == "config.json:1:16: model_type: is an integer; expected a string\n");
  CHECK(framed(problems_of_model("{\"model_type\": \"berd\"}"),
               "config.json:1:16: model_type: \"berd\" is not modelled; expected one of ",
               "; did you mean \"bert\"?\n"));
  CHECK(framed(
      problems_of_model("{\"architectures\": [\"Odd\"]}"),
      "config.json:1:19: architectures: \"Odd\" is not known and model_type is absent; expected model_type, one of ",
      "\n"));
  CHECK(problems_of_model("{\"model_type\": \"bert\", \"architectures\": \"BertForMaskedLM\"}") ==
        "config.json:1:41: architectures: is a string; expected an array of class names\n");
  CHECK(problems_of_model("{\"model_type\": \"bert\", \"architectures\": [3]}") ==
        "config.json:1:42: architectures: is an integer; expected a class name\n");
  CHECK(problems_of_model("{\"model_type\": \"bert\", \"architectures\": null}") == "");
  CHECK(framed(problems_of_model("{}"), "config.json:1:1: model_type: is missing; expected one of ", "\n"));
  CHECK(problems_of_model("{\"architectures\": [\"BertForMaskedLM\"], \"num_hidden_layers\": 12}") == "");
}

TEST_CASE("plan: a model of images is made for images that it can take") {
  CHECK(problems_of_model("{\"model_type\": \"efficientnet\", \"image_size\": 31}") ==
        "config.json:1:46: image_size: images of 31 × 31 are too small for the patches or strides of the model; "
        "expected at least 32\n");
  CHECK(problems_of_model("{\"model_type\": \"mobilenet_v3\", \"image_size\": 1}") ==
        "config.json:1:46: image_size: images of 1 × 1 are too small for the patches or strides of the model; "
        "expected at least 17\n");
}

TEST_CASE("plan: a head that the model cannot carry is told, wherever it comes from") {
  CHECK(framed(problems_with("\"masked-lm\"", "\"causal-lm\""),
               "experiment.toml:5:8: model.head: a bert model has no \"causal-lm\" head; expected one of ", "\n"));
}

TEST_CASE("plan: a sequence is no longer than the model's positions, masked tokens no more than the sequence") {
  CHECK(
      problems_with("= 128", "= 513") ==
      "experiment.toml:8:19: workload.sequence_length: 513 is more than the model's 512 positions; expected 1 to 512, "
      "or a larger model.max_position_embeddings\n");
  CHECK(problems({"workload.masked_tokens=129"}) ==
        "command line: workload.masked_tokens: 129 masked tokens in a sequence of 128; expected at most the sequence "
        "length\n");
  CHECK(problems({"model.max_position_embeddings=1024", "workload.sequence_length=1024"}) == "");
}

TEST_CASE("plan: a dimension that a kind of model does not have is warned about") {
  for (const char* dimension : {"rows", "elements", "in_channels", "init_features"}) {
    CHECK(problems({std::string("model.") + dimension + "=3"}) ==
          std::string("command line: warning: model.") + dimension +
              ": has no effect: a bert model has no such dimension\n");
  }
  CHECK(problems({"model.vocab_size=1000"}) == "");
}

TEST_CASE("plan: settings without effect are warned about") {
  CHECK(problems({"model.head=question-answering", "workload.masked_tokens=20"}) ==
        "command line: warning: workload.masked_tokens: has no effect: a \"question-answering\" head has no masked "
        "tokens\n");
  CHECK(problems({"workload.image_size=224"}) ==
        "command line: warning: workload.image_size: has no effect: the model reads no images\n");
  CHECK(problems({"workload.input_bytes_per_element=2"}) ==
        "command line: warning: workload.input_bytes_per_element: has no effect: the model reads no images\n");
  for (const std::string key : {"batch_size", "input_tokens", "output_tokens"}) {
    CHECK(problems({"workload." + key + "=8"}) ==
          "command line: warning: workload." + key + ": has no effect: it belongs to mode \"generation\"\n");
  }
}

TEST_CASE("plan: a training has one target, whole") {
  const std::string one =
      ": a second target of the training; expected one of target_samples, target_tokens, or "
      "dataset_samples with epochs\n";
  CHECK(problems({"workload.target_samples=8", "workload.target_tokens=8"}) ==
        "command line: workload.target_tokens" + one);
  CHECK(problems({"workload.target_samples=8", "workload.dataset_samples=8000"}) ==
        "command line: workload.dataset_samples" + one);
  CHECK(problems({"workload.target_samples=8", "workload.epochs=8"}) == "command line: workload.epochs" + one);
  CHECK(problems({"workload.epochs=2"}) ==
        "command line: workload.epochs: stands without workload.dataset_samples; expected both or neither\n");
  CHECK(problems({"workload.dataset_samples=2000"}) ==
        "command line: workload.dataset_samples: stands without workload.epochs; expected both or neither\n");
}

TEST_CASE("plan: formats that a chip cannot train in are told at the key") {
  for (const std::string format : {"bf16", "fp8"}) {
    CHECK(framed(problems({"workload.precision=" + format}),
                 "command line: workload.precision: \"" + format + "\" is not a ",
                 "format of this chip; expected fp16.16, fp16.32 or fp32\n"));
  }
}

TEST_CASE("plan: samples of a host call stay countable") {
  CHECK(problems({"ipu.gradient_accumulation_steps=1000000000", "ipu.device_iterations=1000000000"}) ==
        "command line: ipu.gradient_accumulation_steps: 1e+18 samples in one host call; expected at most 1e15\n");
  CHECK(problems({"ipu.device_iterations=1000000000000000"}) ==
        "command line: ipu.device_iterations: is more than any system has or runs; expected at most 1000000000\n");
  CHECK(problems({"ipu.ipus_per_replica=1000000000"}) ==
        "command line: ipu.ipus_per_replica: is more than any system has or runs; expected at most 65536\n");
}

TEST_CASE("plan: problems of every section are told in one go, in the order of the checks") {
  CHECK(
      problems({"workload.sequence_length=600", "workload.optimizer=adan", "chip.tiles=-1", "ipu.layers_per_ipu=[3, 3]",
                "ipu.odd=1"}) ==
      "command line: workload.optimizer: unknown value \"adan\"; expected sgd, sgd-momentum, adam, adamw, lamb or "
      "lars; did you mean \"adam\"?\n"
      "command line: chip.tiles: -1 is not positive; expected a positive value, such as 1472\n"
      "command line: workload.sequence_length: 600 is more than the model's 512 positions; expected 1 to 512, or a "
      "larger model.max_position_embeddings\n"
      "command line: ipu.odd: unknown key\n"
      "command line: ipu.layers_per_ipu: [3, 3] places 6 layers, but the model has 12 layers; expected a sum of 12\n");
}

TEST_CASE("plan: a wrong value in one section does not hide the checks of another, nor breed false ones") {
  CHECK(problems({"workload.micro_batch_size=-1", "workload.sequence_length=x"}) ==
        "command line: workload.sequence_length: is a string; expected an integer\n"
        "command line: workload.micro_batch_size: -1 is out of range; expected from 1 to 10000000\n");
  CHECK(problems({"chip.tiles=1.5", "ipu.odd=1"}) ==
        "command line: chip.tiles: 1.5 is not a whole number; expected an integer\n");
}

TEST_CASE("plan: IPUs that stay idle are told, with the replicas that would use them") {
  CHECK(problems({"system=bow-pod64"}).find(" IPUs stay idle with ") != std::string::npos);
}
