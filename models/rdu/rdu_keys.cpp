#include "models/rdu/rdu_keys.hpp"

#include "models/rdu/command/flags.hpp"

namespace podsim::rdu {
namespace {

KeySpec make(std::string path, KeyType type, std::string default_text, std::string summary, std::string time_effect,
             std::string memory_effect = "") {
  KeySpec key;
  key.path = std::move(path);
  key.type = type;
  key.default_text = std::move(default_text);
  key.summary = std::move(summary);
  key.time_effect = std::move(time_effect);
  key.memory_effect = std::move(memory_effect);
  key.source = "podsim";
  return key;
}

KeySpec one_of(KeySpec key, std::vector<std::string> choices) {
  key.type = KeyType::choice;
  key.choices = std::move(choices);
  return key;
}

KeySpec at_least_one(KeySpec key) {
  key.minimum = 1;
  return key;
}

std::vector<KeySpec> make_keys() {
  using enum KeyType;
  std::vector<KeySpec> keys;
  keys.push_back(make("compile", text, "the documented defaults of SambaFlow",
                      "a SambaFlow compile command, or \"@\" and the file that holds it",
                      "level, batch, tiles, chips and parallelism", "tiles, chips, precision of the graph"));
  keys.push_back(make("launch", text, "", "the command that runs the compiled program, or \"@\" and its file",
                      "copies, and where gradients are reduced"));
  keys.push_back(make("define", table, "", "values of shell variables in the commands", "as the flags they stand in"));
  keys.push_back(make("release", text, "that of the software", "release of SambaFlow that checks the commands", ""));
  keys.push_back(at_least_one(make("replicas", integer, "ranks of the launch command, else 1",
                                   "copies of the compiled program, each of one process",
                                   "gradients are reduced among them; throughput is theirs together")));
  keys.push_back(one_of(make("mapping_quality", text, "human-decision with a human-decision file, else generated",
                             "who made the mapping of operators to the chip", "share of the peak that products reach"),
                        {"generated", "human-decision"}));
  keys.push_back(
      one_of(make("host_model", text, "profiled under sambatune, else production",
                  "whether host work is in series with the device, as under a profiler", "time of the host per step"),
             {"profiled", "production"}));
  keys.push_back(one_of(make("orchestration", text, "hardware where the chip has it",
                             "who launches sections of generation", "loads in front of every section"),
                        {"hardware", "software"}));
  keys.push_back(
      at_least_one(make("static_sequence_length", integer,
                        "the compiled maximum; else on HBM the shortest deployed context, elsewhere the model's",
                        "positions of the key-value cache in generation", "bytes read for every token", "the cache")));
  keys.push_back(at_least_one(make("longest_context", integer, "the model's",
                                   "longest context that a deployment on a chip with HBM has compiled",
                                   "requests are served from the shortest that holds them", "the cache")));
  keys.push_back(one_of(make("endpoint", text, "current", "deployment that serves generation",
                             "padding of prompts, share of the HBM bandwidth"),
                        {"current", "legacy"}));
  KeySpec experts = make("experts", integer, "1", "models of this size among which a node with HBM switches",
                         "none: one of them runs", "each stands in DDR");
  experts.minimum = 1;
  experts.maximum = 100000;
  keys.push_back(experts);
  keys.push_back(make("switch_every_request", boolean, "false",
                      "whether each request of generation wants another model than the one before",
                      "the model is copied from DDR to HBM in front of the request"));
  keys.push_back(make("placement_reused", boolean, "false",
                      "whether the compiler finds the placement of an earlier compile", "the compile alone"));
  return keys;
}

}  // namespace

const std::vector<KeySpec>& rdu_keys() {
  static const std::vector<KeySpec> keys = [] {
    std::vector<KeySpec> made = make_keys();
    for (KeySpec& key : made) {
      if (key.type == KeyType::integer && !key.maximum) key.maximum = 1e7;  // products stay in 64 bits
    }
    return made;
  }();
  return keys;
}

std::vector<std::pair<std::string, std::string>> inputs_without_effect() {
  std::vector<std::pair<std::string, std::string>> inputs;
  inputs.emplace_back("release", "decides which flags are accepted; what is simulated does not depend on it");
  for (const FlagSpec& flag : flag_table()) {
    if (!flag.without_effect.empty()) inputs.emplace_back(flag.name(), flag.without_effect);
  }
  return inputs;
}

}  // namespace podsim::rdu
