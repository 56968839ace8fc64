#include "models/ipu/config/ipu_config_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

namespace podsim::ipu {
namespace {

struct Key {
  KeySpec spec;
  KeyHistory history;
};

const char* const k_config_source = "optimum-graphcore, optimum/graphcore/ipu_configuration.py";
const char* const k_parallel_source = "optimum-graphcore, optimum/graphcore/modeling_utils.py";

Value whole(std::int64_t value) {
  return Value::integer(value, {});
}
Value flag(bool value) {
  return Value::boolean(value, {});
}
Value real(double value) {
  return Value::floating(value, {});
}
Value word(std::string value) {
  return Value::string(std::move(value), {});
}
Value layers(std::int64_t only) {
  return Value::array({whole(only)}, {});
}

// A key as it is written in the tables below; `effects` = time, memory.
struct Row {
  const char* path;
  KeyType type;
  Value documented;
  const char* summary;
  std::pair<const char*, const char*> effects = {"", ""};
  std::optional<double> minimum = {};
};

std::string text_of(const Value& value) {
  switch (value.kind()) {
    case Value::Kind::boolean:
      return value.as_boolean() ? "true" : "false";
    case Value::Kind::integer:
      return fmt::format("{}", value.as_integer());
    case Value::Kind::floating:
      return fmt::format("{}", value.as_number());
    case Value::Kind::string:
      return fmt::format("\"{}\"", value.as_string());
    case Value::Kind::array:
      return fmt::format("[{}]", text_of(value.elements().front()));
    default:
      return "";
  }
}

Key make(Row row, Version since = k_first_version, Version until = k_last_version, bool shows_version = false) {
  Key key;
  key.spec.path = row.path;
  key.spec.type = row.type;
  key.spec.default_text = text_of(row.documented);
  key.spec.minimum = row.minimum;
  if (since != k_first_version || until != k_last_version) {
    key.spec.versions = to_text(VersionRange{since, until, VersionOrigin::given, ""});
  }
  key.spec.summary = row.summary;
  key.spec.time_effect = row.effects.first;
  key.spec.memory_effect = row.effects.second;
  key.spec.source = k_config_source;
  key.history = {row.path, since, until, false, shows_version, false, std::move(row.documented), {}};
  return key;
}

Key with(Key key, std::string default_text, bool nullable = false) {
  if (!default_text.empty()) key.spec.default_text = std::move(default_text);
  key.history.nullable = nullable;
  return key;
}

Key changing(Key key, std::vector<std::pair<Version, Value>> defaults) {
  key.history.defaults = std::move(defaults);
  return key;
}

constexpr Version k_twins_since{6, 1};
constexpr Version k_popdist_until{3, k_any_patch};

void add_sizes(std::vector<Key>& keys) {
  using enum KeyType;
  keys.push_back(make({"replication_factor",
                       integer,
                       whole(1),
                       "data-parallel replicas of the pipeline in training",
                       {"multiplies samples per step; adds a gradient reduction per update",
                        "none, but state is divided by it when sharded"},
                       1.0}));
  keys.push_back(make({"inference_replication_factor",
                       integer,
                       whole(1),
                       "replicas in inference",
                       {"multiplies samples per call", ""},
                       1.0},
                      {2, 0}));
  keys.push_back(make({"gradient_accumulation_steps",
                       integer,
                       whole(1),
                       "micro-batches per weight update; at least the number of training stages",
                       {"spreads fill, drain, reduction and optimizer over more micro-batches",
                        "one accumulator per weight, whatever the count"},
                       1.0}));
}

void add_placement_and_iterations(std::vector<Key>& keys) {
  using enum KeyType;
  Key placed = make({"layers_per_ipu",
                     integer_list,
                     layers(-1),
                     "layers on each IPU in training; -1 is a wildcard",
                     {"sets the slowest stage", "weights, gradients, state and stashes go with the layers"},
                     -1.0});
  placed.spec.source = k_parallel_source;
  keys.push_back(changing(placed, {{k_first_version, layers(1)}, {{6, 0}, layers(-1)}}));
  keys.push_back(with(make({"inference_layers_per_ipu",
                            integer_list,
                            {},
                            "layers on each IPU in inference",
                            {"sets the slowest stage", "weights go with the layers"},
                            -1.0},
                           k_twins_since, k_last_version, true),
                      "as layers_per_ipu"));
  keys.push_back(with(make({"ipus_per_replica",
                            integer,
                            {},
                            "IPUs of one pipeline in training",
                            {"more stages make fill and drain longer", "divides the model"},
                            1.0}),
                      "length of layers_per_ipu"));
  keys.push_back(with(make({"inference_ipus_per_replica",
                            integer,
                            {},
                            "IPUs of one pipeline in inference",
                            {"more stages make fill longer", "divides the model"},
                            1.0},
                           k_twins_since, k_last_version, true),
                      "ipus_per_replica, or the length of inference_layers_per_ipu"));
  keys.push_back(make({"device_iterations",
                       integer,
                       whole(1),
                       "weight updates per host call",
                       {"saves host round trips", "host stream buffers grow with it"},
                       1.0}));
  keys.push_back(make({"inference_device_iterations",
                       integer,
                       whole(1),
                       "micro-batches per host call in inference",
                       {"saves host round trips and fills the pipeline", "host stream buffers grow with it"},
                       1.0},
                      {2, 0}));
}

void add_memory(std::vector<Key>& keys) {
  using enum KeyType;
  keys.push_back(
      changing(with(make({"optimizer_state_offchip",
                          boolean,
                          flag(true),
                          "keep optimizer state in Streaming Memory",
                          {"loads and stores the state at every update", "takes the state off the tiles, adds code"}}),
                    "true, from 0.6.1 false; without a file and a version as software.optimizer_state says"),
               {{k_first_version, flag(true)}, {{6, 1}, flag(false)}}));
  keys.push_back(with(make({"replicated_tensor_sharding",
                            boolean,
                            flag(false),
                            "divide optimizer state over the replicas",
                            {"reduce-scatter, update of a share and all-gather instead of an all-reduce",
                             "state divided by the replicas"}}),
                      "false; without a file and a version as software.replicated_tensor_sharding says"));
  Key proportion = make({"matmul_proportion",
                         number_or_list,
                         real(0.6),
                         "share of tile memory for the temporaries of a matmul; one number, or one per IPU",
                         {"below the need of the fast plan, slower plans are taken", "caps temporaries"},
                         0.0});
  proportion.spec.maximum = 1.0;
  keys.push_back(changing(proportion, {{k_first_version, real(0.6)}, {{6, 0}, real(0.2)}}));
  Key twin = with(make({"inference_matmul_proportion",
                        number_or_list,
                        {},
                        "matmul_proportion in inference",
                        {"below the need of the fast plan, slower plans are taken", "caps temporaries"},
                        0.0},
                       k_twins_since, k_last_version, true),
                  "as matmul_proportion, or 0.2 when that has the wrong length");
  twin.spec.maximum = 1.0;
  keys.push_back(twin);
  keys.push_back(changing(make({"enable_half_partials",
                                boolean,
                                flag(true),
                                "half-precision partial sums in matmuls",
                                {"the matmul unit runs at twice the rate", "partial sums take half"}}),
                          {{k_first_version, flag(false)}, {{4, 3}, flag(true)}}));
  keys.push_back(changing(make({"enable_half_first_order_momentum",
                                boolean,
                                flag(true),
                                "keep the first moment in half precision; without effect from 0.4.3",
                                {"", "first moment takes 2 bytes instead of 4"}},
                               {2, 0}),
                          {{k_first_version, flag(false)}, {{4, 3}, flag(true)}}));
  keys.push_back(changing(
      make({"recompute_checkpoint_every_layer",
            boolean,
            flag(false),
            "stash a checkpoint at every layer",
            {"",
             "true: a stashed tensor per layer and slot, and one layer's activations alive at a time; false: one "
             "stashed tensor per slot, and those of all layers of the stage alive together"}}),
      {{k_first_version, flag(false)}, {{6, 0}, flag(true)}, {{6, 1}, flag(false)}}));
}

void add_serialization(std::vector<Key>& keys) {
  using enum KeyType;
  const std::pair<const char*, const char*> factor_effects{"that many passes one after the other",
                                                           "temporaries divided by about the factor"};
  for (const std::string prefix : {"", "inference_"}) {
    const bool twin = !prefix.empty();
    for (const std::string part : {"embedding", "projection"}) {
      const bool original = !twin && part == "embedding";
      const std::string factor = prefix + part + "_serialization_factor";
      const std::string splits = prefix + "serialized_" + part + "_splits_per_ipu";
      const char* const where = twin ? " in inference" : "";
      const std::string factor_summary = fmt::format("passes of the serialized {}{}", part, where);
      const std::string splits_summary = fmt::format("passes of the serialized {} on each IPU{}", part, where);
      keys.push_back(with(make({factor.c_str(), integer, whole(1), factor_summary.c_str(), factor_effects, 1.0},
                               original ? k_first_version : k_twins_since, k_last_version, !original),
                          part == "embedding" ? "" : "as the embedding", true));
      keys.push_back(with(make({splits.c_str(), integer_list, {}, splits_summary.c_str(), factor_effects, 0.0},
                               k_twins_since, k_last_version, true),
                          "", true));
    }
  }
}

void add_behaviour(std::vector<Key>& keys) {
  using enum KeyType;
  keys.push_back(
      make({"auto_loss_scaling",
            boolean,
            flag(false),
            "PopART's automatic loss scaling; training only",
            {"a histogram of every float16 gradient of every micro-batch (estimated from PopLibs, never measured)",
             "extra always-live tensors (assumed)"}},
           {3, 0}));
  keys.push_back(make({"sharded_execution_for_inference",
                       boolean,
                       flag(false),
                       "one IPU at a time in inference; from 0.4.0 always so",
                       {"latency is the sum of the stages", "no stashes"}},
                      {3, 0}));
  Key output = make({"output_mode",
                     choice,
                     word("final"),
                     "which outputs come back to the host; Optimum Graphcore returns all in inference",
                     {"bytes returned per call", "host buffers"}},
                    {2, 3});
  output.spec.choices = {"all", "sum", "final", "default"};
  output.spec.default_text = "\"all\" in inference, as the library runs it; \"final\", of the loss alone, in training";
  keys.push_back(output);
  keys.push_back(make({"execute_encoder_on_cpu_for_generation", boolean, flag(false),
                       "run the encoder on the host; no version implements it"},
                      {2, 3}));
  keys.push_back(make({"explicit_ir_inference", boolean, flag(false), "schedule inference for lower liveness"}, {7, 0},
                      k_last_version, true));
  keys.push_back(with(make({"seed", integer, {}, "random seed"}, {2, 0}), "", true));
  keys.push_back(with(make({"executable_cache_dir", text, word(""), "folder of compiled programs"}), "", true));
  keys.push_back(with(make({"parallelize_kwargs", table, {}, "arguments of the model's parallelize"}, k_twins_since,
                           k_last_version, true),
                      "", true));
  keys.push_back(with(
      make({"inference_parallelize_kwargs", table, {}, "the same in inference"}, k_twins_since, k_last_version, true),
      "", true));
  keys.push_back(
      make({"decompose_grad_sum", boolean, flag(false), "add gradients step by step"}, {3, 0}, k_popdist_until, true));
  keys.push_back(
      make({"use_popdist", boolean, flag(false), "several host processes"}, k_first_version, k_popdist_until, true));
  keys.push_back(
      with(make({"profile_dir", text, {}, "folder of profiles"}, k_first_version, k_popdist_until, true), "", true));
  constexpr Version k_first_until{1, k_any_patch};
  keys.push_back(with(
      make({"random_seed", integer, {}, "random seed; later named seed"}, k_first_version, k_first_until), "", true));
  keys.push_back(
      make({"compile_only", boolean, flag(false), "compile without devices"}, k_first_version, k_first_until));
  keys.push_back(make({"synthetic_data", boolean, flag(false), "no host data"}, k_first_version, k_first_until));
}

void add_own_files(std::vector<Key>& own) {
  using enum KeyType;
  own.push_back(make({"config", path, {}, "an IPUConfig file, relative to the file that names it"}));
  own.push_back(with(make({"version", text, {}, "version of optimum-graphcore the file was written for"}),
                     "told by the keys in the file, else assumed: the documented defaults"));
  Key pod = make({"pod_type", choice, {}, "entry to take from pod dictionaries in old files"});
  pod.spec.default_text = "the system's own pod where a dictionary has it, else its default";
  pod.spec.choices = {"pod4", "pod8", "pod16", "pod32", "pod64", "pod128", "pod256"};
  own.push_back(pod);
}

void add_own_placement(std::vector<Key>& own) {
  using enum KeyType;
  own.push_back(make({"attention_layers_per_ipu",
                      integer_list,
                      {},
                      "attention halves of the layers on each IPU",
                      {"sets the slowest stage", "weights, state and stashes go with the layers"},
                      0.0}));
  own.push_back(make({"ffn_layers_per_ipu",
                      integer_list,
                      {},
                      "feed-forward halves of the layers on each IPU",
                      {"sets the slowest stage", "weights, state and stashes go with the layers"},
                      0.0}));
}

void add_own_machine(std::vector<Key>& own) {
  using enum KeyType;
  own.push_back(
      with(make({"instances",
                 integer,
                 {},
                 "host processes of a run, each drives at most 64 IPUs; stated, their pace can limit training",
                 {"makes samples ready: software.instance_sample_time each, shared by its replicas", ""},
                 1.0}),
           "as many as needed"));
  own.push_back(with(make({"n_ipu",
                           integer,
                           {},
                           "IPUs of the whole run: takes as many replicas as they hold, in place of the factors",
                           {"as replication_factor", "as replication_factor"},
                           1.0}),
                     "as many as the replicas take"));
  Key io = with(make({"io_tiles",
                      integer,
                      {},
                      "tiles set aside for host copies, an even number; not with pipelined execution",
                      {"", ""},
                      32.0}),
                "none");
  io.spec.maximum = 192.0;
  own.push_back(io);
}

void add_own_networks(std::vector<Key>& own) {
  using enum KeyType;
  own.push_back(make({"recompute_segments",
                      integer,
                      whole(0),
                      "parts of a convolution network on one IPU that run forward again before their backward; -1: "
                      "every unit",
                      {"the forward runs twice", "keeps what enters a part, and the activations of one part"},
                      -1.0}));
  own.push_back(with(make({"recompute_checkpoints",
                           text_list,
                           {},
                           "where such parts end, by name, in place of recompute_segments: blocks, or the splits of "
                           "published programs (stage2/unit3/relu, conv3_block3_out)",
                           {"the forward runs twice", "keeps what enters a part, and the activations of one part"}}),
                     "none"));
  own.push_back(make({"distributed_batch_norm_replicas",
                      integer,
                      whole(1),
                      "replicas that share the statistics of their batch norms",
                      {"an exchange between replicas per norm and phase", ""},
                      1.0}));
}

// Beyond IPUConfig. In the order of lists of keys.
void add_own(std::vector<Key>& keys) {
  std::vector<Key> own;
  add_own_files(own);
  add_own_placement(own);
  add_own_machine(own);
  add_own_networks(own);
  for (Key& key : own) {
    key.spec.source = "podsim";
    key.history.beyond_ipu_config = true;
    keys.push_back(std::move(key));
  }
}

std::vector<Key> make_keys() {
  std::vector<Key> keys;
  add_own(keys);
  add_sizes(keys);
  add_placement_and_iterations(keys);
  add_memory(keys);
  add_serialization(keys);
  add_behaviour(keys);
  return keys;
}

const std::vector<Key>& all_keys() {
  static const std::vector<Key> keys = make_keys();
  return keys;
}

}  // namespace

const std::vector<KeySpec>& ipu_config_keys() {
  static const std::vector<KeySpec> specs = [] {
    std::vector<KeySpec> result;
    for (const Key& key : all_keys()) result.push_back(key.spec);
    return result;
  }();
  return specs;
}

const KeyHistory* key_history(std::string_view path) {
  static const std::map<std::string_view, const KeyHistory*> k_by_path = [] {
    std::map<std::string_view, const KeyHistory*> index;
    for (const Key& key : all_keys()) index.emplace(key.history.path, &key.history);
    return index;
  }();
  const auto found = k_by_path.find(path);
  return found != k_by_path.end() ? found->second : nullptr;
}

const std::vector<std::pair<std::string, std::string>>& keys_without_effect() {
  static const std::vector<std::pair<std::string, std::string>> keys{
      {"seed", "random numbers cost the same whatever the seed"},
      {"random_seed", "random numbers cost the same whatever the seed"},
      {"executable_cache_dir", "compiling stands outside the simulated step"},
      {"parallelize_kwargs", "its arguments differ from model to model and have no published cost"},
      {"inference_parallelize_kwargs", "its arguments differ from model to model and have no published cost"},
      {"explicit_ir_inference", "its gain in memory is not published"},
      {"decompose_grad_sum", "its gain in memory is not published"},
      {"io_tiles", "host copies that overlap with compute are not modelled"},
      {"use_popdist", "the number of host processes follows from the system"},
      {"profile_dir", "profiling is not simulated"},
      {"compile_only", "compiling stands outside the simulated step"},
      {"synthetic_data", "host data is always simulated"},
  };
  return keys;
}

Default default_of(const KeyHistory& key, const VersionRange& range) {
  const auto documented = [&](const std::string& why) {
    return Default{key.documented, "default: documented (" + why + ")"};
  };
  if (!range.known()) return documented(range.reason);
  if (key.defaults.empty()) return {key.documented, "default: version " + to_text(range)};
  const Value* value = nullptr;
  for (const auto& [since, changed] : key.defaults) {
    if (since <= range.low) {
      value = &changed;
    } else if (since <= range.high) {
      return documented(fmt::format("versions {} differ", to_text(range)));
    }
  }
  return {value == nullptr ? key.documented : *value, "default: version " + to_text(range)};
}

bool is_base_config_key(std::string_view key) {
  static constexpr std::array<std::string_view, 24> known{"_name_or_path",
                                                          "architectures",
                                                          "bos_token_id",
                                                          "decoder_start_token_id",
                                                          "eos_token_id",
                                                          "finetuning_task",
                                                          "id2label",
                                                          "is_decoder",
                                                          "is_encoder_decoder",
                                                          "label2id",
                                                          "model_type",
                                                          "name_or_path",
                                                          "output_attentions",
                                                          "output_hidden_states",
                                                          "optimum_version",
                                                          "pad_token_id",
                                                          "problem_type",
                                                          "return_dict",
                                                          "tie_word_embeddings",
                                                          "tokenizer_class",
                                                          "torch_dtype",
                                                          "torchscript",
                                                          "transformers_version",
                                                          "use_cache"};
  return std::find(known.begin(), known.end(), key) != known.end();
}

}  // namespace podsim::ipu
