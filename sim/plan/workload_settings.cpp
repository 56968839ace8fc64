#include "sim/plan/workload_settings.hpp"

#include <initializer_list>
#include <utility>

namespace podsim {
namespace {

KeySpec key(std::string path, KeyType type, std::string default_text, std::string summary, std::string time_effect,
            std::string memory_effect) {
  KeySpec spec;
  spec.path = std::move(path);
  spec.type = type;
  spec.default_text = std::move(default_text);
  spec.summary = std::move(summary);
  spec.time_effect = std::move(time_effect);
  spec.memory_effect = std::move(memory_effect);
  spec.source = "podsim";
  return spec;
}

KeySpec choice(std::string path, std::vector<std::string> choices, std::string default_text, std::string summary,
               std::string time_effect, std::string memory_effect) {
  KeySpec spec = key(std::move(path), KeyType::choice, std::move(default_text), std::move(summary),
                     std::move(time_effect), std::move(memory_effect));
  spec.choices = std::move(choices);
  return spec;
}

KeySpec ranged(KeySpec spec, double minimum, double maximum) {
  spec.minimum = minimum;
  spec.maximum = maximum;
  return spec;
}

KeySpec count(std::string path, double maximum, std::string default_text, std::string summary, std::string time_effect,
              std::string memory_effect) {
  return ranged(key(std::move(path), KeyType::integer, std::move(default_text), std::move(summary),
                    std::move(time_effect), std::move(memory_effect)),
                1, maximum);
}

void add_sweep_keys(std::vector<KeySpec>& keys) {
  keys.push_back(key("sweep", KeyType::table, "", "a sweep over keys of the experiment", "", ""));
  keys.push_back(key("sweep.experiment", KeyType::path, "this file",
                     "the experiment that is varied; what else stands in this file replaces its keys", "", ""));
  keys.push_back(key("sweep.axes", KeyType::table, "",
                     "keys or constants, each with a list of values, or a range {from, to, step | count | factor, "
                     "scale = \"log\"}",
                     "", ""));
  keys.push_back(
      key("sweep.zip", KeyType::table, "", "named groups of axes that vary together, value by value", "", ""));
  keys.push_back(
      key("sweep.exclude", KeyType::text_list, "", "conditions over keys; a point that meets one is left out", "", ""));
  keys.push_back(choice("sweep.sampling", {"grid", "random", "latin-hypercube"}, "grid",
                        "which points are taken: all, or a number drawn", "", ""));
  keys.push_back(count("sweep.points", 1e7, "", "how many points are drawn", "", ""));
  keys.push_back(ranged(key("sweep.seed", KeyType::integer, "1", "seed of the draw", "", ""), 0, 9e15));
}

void add_document_keys(std::vector<KeySpec>& keys) {
  keys.push_back(key("name", KeyType::text, "the file's name", "what reports call the run", "", ""));
  keys.push_back(
      key("system", KeyType::table, "", "the machine: a name or a file, and overrides of its constants", "all", "all"));
  keys.push_back(key("software", KeyType::table, "the system's default", "the software profile and its overrides",
                     "factors and fixed times", "where optimizer state lives by default"));
  keys.push_back(key("chip", KeyType::table, "", "overrides of the chip's constants", "all", "all"));
  keys.push_back(key("cost", KeyType::table, "", "overrides of the cost model's constants", "all", ""));
  keys.push_back(key("memory", KeyType::table, "", "overrides of the memory model's constants", "", "all"));
  keys.push_back(key("report", KeyType::table, "", "what the report shows", "", ""));
  add_sweep_keys(keys);
  keys.push_back(key("loss_scaling", KeyType::table, "", "the loss-scaling controller and its numerics", "", ""));
}

void add_model_keys(std::vector<KeySpec>& keys) {
  keys.push_back(
      key("model.config", KeyType::path, "", "a shipped model's name or the path of its config.json", "all", "all"));
  keys.push_back(choice("model.head",
                        {"pretraining", "masked-lm", "causal-lm", "question-answering", "sequence-classification",
                         "token-classification", "multiple-choice", "image-classification", "seq2seq", "ctc",
                         "speech-classification", "speech-pretraining", "none"},
                        "from the configuration's architectures", "the head on top of the layers",
                        "operators of the head; where the pipeline ends", "parameters of the head"));
  // As far as the kinds of models read them.
  constexpr double k_table = 1e7;
  constexpr double k_positions = 1e6;
  constexpr double k_parts = 1e4;
  constexpr double k_channels = 4096;
  constexpr double k_elements = 1e12;
  for (const auto& [field, most] :
       std::initializer_list<std::pair<const char*, double>>{{"vocab_size", k_table},
                                                             {"max_position_embeddings", k_positions},
                                                             {"type_vocab_size", k_table},
                                                             {"hidden_size", k_table},
                                                             {"num_hidden_layers", k_parts},
                                                             {"num_attention_heads", k_parts},
                                                             {"intermediate_size", k_table},
                                                             {"num_labels", k_table},
                                                             {"in_channels", k_channels},
                                                             {"out_channels", k_channels},
                                                             {"init_features", k_channels},
                                                             {"rows", k_positions},
                                                             {"inner", k_positions},
                                                             {"columns", k_positions},
                                                             {"elements", k_elements}}) {
    keys.push_back(count(std::string("model.") + field, most, "the configuration's",
                         "replaces the configuration's field", "shapes", "shapes"));
  }
}

void add_run_keys(std::vector<KeySpec>& keys) {
  keys.push_back(
      choice("workload.mode", {"training", "inference", "generation"}, "training", "what is run", "all", "all"));
  keys.push_back(choice("workload.precision", {"fp16.16", "fp16.32", "fp32", "fp8", "bf16"},
                        "what the machine's own configuration implies", "operands and partial sums", "matmul rate",
                        "bytes per value"));
  keys.push_back(
      count("workload.sequence_length", 1e7, "the model's maximum", "tokens per sequence", "shapes", "shapes"));
  keys.push_back(count("workload.image_size", 1e5, "the model's", "pixels per side", "shapes", "shapes"));
  keys.push_back(count("workload.masked_tokens", 1e7, "the usual number for the sequence length",
                       "rows of the masked-language head per sequence", "head", "head"));
  keys.push_back(ranged(key("workload.packing_factor", KeyType::number, "1", "sequences per pack",
                            "none per pack; sequences per pack", ""),
                        1, 1e4));
  keys.push_back(count("workload.micro_batch_size", 1e7, "1", "samples per device and pass", "shapes", "activations"));
  keys.push_back(choice("workload.optimizer", {"sgd", "sgd-momentum", "adam", "adamw", "lamb", "lars"}, "adamw",
                        "the optimizer", "update and state traffic", "optimizer state"));
  keys.push_back(choice("workload.first_moment_format", {"float16", "float32"},
                        "what the machine's own configuration implies", "how the optimizer's first moment is stored",
                        "state traffic", "optimizer state"));
  keys.push_back(key("workload.recompute", KeyType::boolean, "true",
                     "backward stages run their forward again (all but the last)", "recomputation", "stashes"));
  keys.push_back(key("workload.split_qkv", KeyType::boolean, "false", "query, key and value as three products",
                     "matmul shapes", "temporaries"));
  keys.push_back(key("workload.attention_dropout", KeyType::boolean, "true", "dropout on attention probabilities",
                     "a pass over the scores", ""));
  keys.push_back(key("workload.ffn_dropout", KeyType::boolean, "false", "dropout behind the activation function",
                     "a pass over the inner activations", ""));
  keys.push_back(ranged(
      key("workload.input_bytes_per_element", KeyType::number, "the model's", "of image input", "host input", ""), 1,
      16));
  keys.push_back(choice("workload.activation_checkpoint_format", {"float16", "float8"}, "float16",
                        "how stashed activations are stored", "", "stashes"));
}

void add_target_keys(std::vector<KeySpec>& keys) {
  for (const char* field : {"batch_size", "input_tokens", "output_tokens"}) {
    keys.push_back(count(std::string("workload.") + field, 1e9, "", "of generation", "generation", "generation"));
  }
  for (const char* field : {"target_samples", "target_tokens", "dataset_samples"}) {
    keys.push_back(count(std::string("workload.") + field, 1e18, "", "of the time to train", "time to train", ""));
  }
  keys.push_back(
      ranged(key("workload.epochs", KeyType::number, "", "passes over the data set", "time to train", ""), 1e-9, 1e9));
}

std::vector<KeySpec> make_shared_keys() {
  std::vector<KeySpec> keys;
  add_document_keys(keys);
  add_model_keys(keys);
  add_run_keys(keys);
  add_target_keys(keys);
  return keys;
}

}  // namespace

const std::vector<KeySpec>& shared_keys() {
  static const std::vector<KeySpec> keys = make_shared_keys();
  return keys;
}

}  // namespace podsim
