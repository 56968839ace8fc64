// IPUConfig files in the forms that were published over the years: read, or refused for the right reason.
#include <doctest/doctest.h>

#include <string>

#include "tests/support/experiment_folder.hpp"

using namespace podsim::test;

namespace {

struct FileCase {
  std::string json;
  std::string model;     // "[model]" lines
  std::string workload;  // "[workload]" lines
  std::string ipu;       // further "[ipu]" lines
  std::string system = "pod16";
};

void write(const ExperimentFolder& folder, const FileCase& c) {
  folder.write("file.json", c.json);
  folder.write("experiment.toml", "system = \"" + c.system + "\"\n[model]\n" + c.model + "[workload]\n" + c.workload +
                                      "[ipu]\nconfig = \"file.json\"\n" + c.ipu);
}

// The report of a file that is read, with line breaks of its warnings undone.
std::string read(const FileCase& c) {
  const ExperimentFolder folder;
  write(folder, c);
  const CommandResult result = folder.podsim("check experiment.toml");
  CHECK(result.exit_code == 0);
  CHECK(result.err.empty());
  std::string text = result.out;
  for (std::size_t at = text.find("\n    "); at != std::string::npos; at = text.find("\n    ", at)) {
    text.replace(at, 5, " ");
  }
  return text;
}

std::string refused(const FileCase& c) {
  const ExperimentFolder folder;
  write(folder, c);
  return folder.refused("check experiment.toml");
}

const std::string k_bert_base = "config = \"bert-base-uncased\"\nhead = \"sequence-classification\"\n";
const std::string k_short = "sequence_length = 128\n";

// Four IPUs, the first with the embedding alone.
std::string four(const std::string& rest) {
  return "{\n  \"ipus_per_replica\": 4,\n  \"layers_per_ipu\": [0, 4, 4, 4],\n"
         "  \"gradient_accumulation_steps\": 16,\n  \"matmul_proportion\": 0.25" +
         rest + "\n}\n";
}

}  // namespace

TEST_CASE("files: a pod dictionary gives the replicas of the pod that is named") {
  const std::string json =
      four(",\n  \"replication_factor\": {\"pod4\": 1, \"pod16\": 4, \"pod64\": 16, \"default\": 2}");
  const std::string named = read({json, k_bert_base, k_short, "pod_type = \"pod16\"\n"});
  CHECK(contains(named, "per host call micro-batch 1 × 4 replicas × accumulation 16 × device iterations 1\n"));
  const std::string own = read({json, k_bert_base, k_short, ""});
  CHECK(contains(own, "per host call micro-batch 1 × 4 replicas × accumulation 16 × device iterations 1\n"));
  CHECK_FALSE(contains(own, "a pod dictionary"));
  const std::string unnamed = read({json, k_bert_base, k_short, "", "pod8"});
  CHECK(contains(unnamed, "per host call micro-batch 1 × 2 replicas × accumulation 16 × device iterations 1\n"));
  CHECK(contains(unnamed,
                 "file.json:6:25: warning: ipu.replication_factor: a pod dictionary and no pod type: its default is "
                 "taken; expected ipu.pod_type = pod4 or pod16 or pod64\n"));
  CHECK(refused({json, k_bert_base, k_short, "pod_type = \"pod64\"\n"}) ==
        "file.json:6:58: ipu.replication_factor: 16 replicas of 4 IPUs do not fit: on a Pod16 with a 4-IPU pipeline, "
        "replication_factor must be between 1 and 4\n");
}

TEST_CASE("files: a trailing comma is no JSON") {
  CHECK(refused({"{\n  \"layers_per_ipu\": [12],\n}\n", k_bert_base, k_short, ""}) ==
        "file.json:3:1: not valid JSON: a comma before the closing bracket\n");
}

TEST_CASE("files: zero passes and a list of one proportion are read as old versions read them") {
  const std::string old =
      "{\"ipus_per_replica\": 4, \"layers_per_ipu\": [0, 4, 4, 4], \"matmul_proportion\": [0.25], "
      "\"gradient_accumulation_steps\": 16, \"embedding_serialization_factor\": 0}";
  const std::string text = read({old, k_bert_base, k_short, ""});
  CHECK(contains(text,
                 "warning: ipu.embedding_serialization_factor: 0 is taken as 1; from 0.6.1 it is refused; expected at "
                 "least 1\n"));
  CHECK(contains(text,
                 "warning: ipu.matmul_proportion: a list of one value is spread over 4 IPUs; from 0.6.1 it is refused; "
                 "expected 0.25, or one per IPU\n"));
  CHECK(refused({old, k_bert_base, k_short, "version = \"0.7.1\"\n"}) ==
        "file.json:1:155: ipu.embedding_serialization_factor: 0 is out of range; expected at least 1\n"
        "file.json:1:78: ipu.matmul_proportion: 1 value in the list for 4 IPUs; expected one number, or 4 values\n");
}

TEST_CASE("files: a layer list longer than the replica is counted") {
  CHECK(refused({"{\"ipus_per_replica\": 4, \"layers_per_ipu\": [0, 3, 3, 3, 3], \"gradient_accumulation_steps\": 16}",
                 k_bert_base, k_short, ""}) ==
        "file.json:1:43: ipu.layers_per_ipu: [0, 3, 3, 3, 3] has 5 entries, but ipus_per_replica is 4; expected 4 "
        "entries, or ipus_per_replica = 5\n");
}

TEST_CASE("files: convolutions and projections count as layers for wav2vec2 and not for HuBERT") {
  const std::string list = "{\"gradient_accumulation_steps\": 32, \"layers_per_ipu\": ";
  const std::string audio = "sequence_length = 49\n";
  read({list + "[6, 5, 5, 7]}", "config = \"wav2vec2-base\"\nhead = \"speech-pretraining\"\n", audio, ""});
  read({list + "[9, 4, 4, 4]}", "config = \"wav2vec2-base\"\nhead = \"ctc\"\n", audio, ""});
  read({list + "[0, 4, 4, 4]}", "config = \"hubert-base\"\nhead = \"speech-classification\"\n", audio, ""});
  CHECK(refused({list + "[0, 4, 4, 4]}", "config = \"wav2vec2-base\"\nhead = \"ctc\"\n", audio, ""}) ==
        "file.json:1:55: ipu.layers_per_ipu: [0, 4, 4, 4] places 12 layers, but the model has 21 layers (7 "
        "convolutions, 1 positional block, 12 encoder layers, 1 projection); expected a sum of 21\n");
}

TEST_CASE("files: a list for inference alone tells the IPUs of a replica and where generation is cut") {
  const std::string t5 = "config = \"t5-small\"\n";
  const std::string inference = "mode = \"inference\"\nsequence_length = 128\n";
  const std::string good = read({"{\"inference_layers_per_ipu\": [2, 4, 3, 3]}", t5, inference, ""});
  CHECK(contains(good, "sharded, one IPU at a time"));
  CHECK_FALSE(contains(good, "text generation would be refused"));
  const std::string uncut = read({"{\"inference_layers_per_ipu\": [2, 3, 4, 3]}", t5, inference, ""});
  CHECK(contains(uncut,
                 "warning: ipu.inference_layers_per_ipu: text generation would be refused: [2, 3, 4, 3] places encoder "
                 "and decoder layers on IPU 2; expected the first 1, 2, 4, 8 … counts to sum to 6, the layers of the "
                 "encoder\n"));
  const std::string generation = "mode = \"generation\"\ninput_tokens = 64\noutput_tokens = 32\n";
  CHECK(contains(refused({"{\"inference_layers_per_ipu\": [2, 3, 4, 3]}", t5, generation, ""}),
                 "file.json:1:30: ipu.inference_layers_per_ipu: [2, 3, 4, 3] places encoder and decoder layers on IPU "
                 "2; "));
}

TEST_CASE(
    "files: eight counts without ipus_per_replica are eight IPUs, and the projection stands where its splits are") {
  const std::string text =
      read({"{\"gradient_accumulation_steps\": 32, \"layers_per_ipu\": [1, 2, 3, 3, 3, 0, 6, 6],\n"
            " \"recompute_checkpoint_every_layer\": true, \"matmul_proportion\": 0.1,\n"
            " \"serialized_projection_splits_per_ipu\": [0, 0, 0, 0, 0, 5, 0, 0]}",
            "config = \"whisper-small\"\n", "sequence_length = 224\n", ""});
  CHECK(contains(text, "ipu7.sram"));
  CHECK(contains(text, "9 forward stages, 17 stages in all"));
  CHECK_FALSE(contains(text, "ipu.serialized_projection_splits_per_ipu"));
}

TEST_CASE("files: the head of a language model adds a stage that sixteen micro-batches do not fill") {
  const std::string json = "{\"gradient_accumulation_steps\": 16, \"layers_per_ipu\": [0, 3, 3, 3, 3, 4, 4, 4]}";
  CHECK(refused({json, "config = \"gpt2-medium\"\nhead = \"causal-lm\"\n", k_short, ""}) ==
        "file.json:1:33: ipu.gradient_accumulation_steps: gradient_accumulation_steps is 16, but this pipeline has 9 "
        "forward and 17 training stages; expected at least 17 (the head returns to IPU 0 and makes the 9th forward "
        "stage)\n");
  read({json, "config = \"gpt2-medium\"\nhead = \"sequence-classification\"\n", k_short, ""});
}

TEST_CASE("files: passes that do not divide the vocabulary are refused where the embedding is split") {
  const std::string roberta = "config = \"roberta-base\"\nhead = \"sequence-classification\"\n";
  CHECK(refused({four(",\n  \"embedding_serialization_factor\": 2"), roberta, k_short, ""}) ==
        "file.json:6:37: ipu.embedding_serialization_factor: a vocabulary of 50265 is not divisible by 2; expected a "
        "divisor, or model.vocab_size = 50266\n");
  read({four(",\n  \"embedding_serialization_factor\": 3"), roberta, k_short, ""});
}

TEST_CASE("files: keys of both modes are read without a word, and on the command line with one") {
  const std::string json =
      four(",\n  \"inference_device_iterations\": 5, \"inference_replication_factor\": 4, \"async_dataloader\": true");
  const std::string text = read({json, k_bert_base, k_short, ""});
  CHECK_FALSE(contains(text, "ipu.inference_"));
  CHECK(contains(text, "warning: ipu.async_dataloader: unknown key, ignored"));
  const ExperimentFolder folder;
  write(folder, {json, k_bert_base, k_short, ""});
  const CommandResult result = folder.podsim("check experiment.toml --set ipu.inference_device_iterations=4");
  CHECK(result.exit_code == 0);
  CHECK(contains(result.out, "command line: warning: ipu.inference_device_iterations: no effect in training"));
}

TEST_CASE("files: a data set that one host call exceeds is told with the factors") {
  const std::string text = read({four(",\n  \"replication_factor\": 4, \"device_iterations\": 8"), k_bert_base,
                                 k_short + "dataset_samples = 500\nepochs = 1\n", ""});
  CHECK(contains(text,
                 "warning: workload.dataset_samples: 500 samples are fewer than one host call takes: micro-batch 1 × "
                 "4 replicas × accumulation 16 × device iterations 8 = 512; the incomplete batch is dropped and "
                 "nothing runs\n"));
}

TEST_CASE("files: n_ipu fills the machine and an explicit precision overrules half partials") {
  const std::string text =
      read({four(""), k_bert_base, k_short + "precision = \"fp16.32\"\n", "n_ipu = 16\nenable_half_partials = true\n"});
  CHECK(contains(text, "per host call micro-batch 1 × 4 replicas × accumulation 16 × device iterations 1\n"));
  CHECK(contains(text,
                 "warning: ipu.n_ipu: 16 IPUs make 4 replicas of 4, in place of replication_factor 1 by default; "
                 "expected n_ipu = 4 to keep it\n"));
  CHECK(contains(text,
                 "warning: ipu.enable_half_partials: no effect: workload.precision = \"fp16.32\" decides; expected "
                 "false\n"));
}
