#include "models/rdu/command/model_zoo.hpp"

#include <algorithm>

namespace podsim::rdu {
namespace {

const char* const k_nlp_defaults_file = "libs/nlp/args/nlp_default_args.yaml";

const Settings& nlp_defaults() {
  static const Settings settings{{"compiler-mode", "nlp"},
                                 {"enable-mixed-precision-ops", "[gemm, softmax]"},
                                 {"tiling-accum", "bf16sr"},
                                 {"num-tiles", "4"}};
  return settings;
}

const std::vector<ShippedConfig>& shipped_configs() {
  static const std::vector<ShippedConfig> configs{
      {"text_generation/config/base_config_rdu.yaml",
       "rdu_generate_text.py",
       true,
       true,
       {{"optim-level", "o1"},
        {"o1-experimental-opts", "true"},
        {"use-o1-default-rules", "true"},
        {"inference", "true"},
        {"batch-size", "1"},
        {"max-seq-length", "4096"}}},
      {"text_generation/config/o1hd_config_rdu.yaml",
       "rdu_generate_text.py",
       false,
       false,
       {{"optim-level", "o1"},
        {"inference", "true"},
        {"batch-size", "1"},
        {"max-seq-length", "4096"},
        {"enable-mixed-precision-ops", "[gemm, softmax]"},
        {"tiling-accum", "bf16sr"},
        {"num-tiles", "4"},
        {"n-chips", "8"},
        {"run-early-tp", "true"},
        {"resources-scaling-factors", "4 4 4"}}},
      {"training/config/base_config_rdu.yaml",
       "rdu_train_llm.py",
       true,
       true,
       {{"optim-level", "o1"},
        {"o1-experimental-opts", "true"},
        {"use-o1-default-rules", "true"},
        {"weight-grad-reduce", "bf16sr"}}},
      {"training/config/base_config_rdu_dp.yaml",
       "rdu_train_llm_dp.py",
       true,
       false,
       {{"compiler-mode", "nlp"},
        {"optim-level", "o1"},
        {"o1-experimental-opts", "true"},
        {"use-o1-default-rules", "true"},
        {"enable-mixed-precision-ops", "[gemm, softmax]"},
        {"tiling-accum", "bf16sr"},
        {"weight-grad-reduce", "bf16sr"},
        {"num-tiles", "4"},
        {"data-parallel", "true"},
        {"world-size", "2"}}},
  };
  return configs;
}

// The file name of --config-name, with its ending; empty without that option.
std::string config_name(const CommandLine& line) {
  for (const FlagOccurrence& option : line.application) {
    const bool names = option.name == "--config-name" || option.name == "-cn";
    if (!names || option.values.empty()) continue;
    const std::string& name = option.values.front().text;
    return name.ends_with(".yaml") ? name : name + ".yaml";
  }
  return {};
}

// "4 4 4" as three words.
std::vector<Word> words_of(const std::string& value, bool several, const Place& place) {
  std::vector<Word> words;
  std::size_t begin = 0;
  while (begin <= value.size()) {
    const std::size_t end = several ? std::min(value.find(' ', begin), value.size()) : value.size();
    words.push_back({value.substr(begin, end - begin), place, {}, {}, false});
    begin = end + 1;
  }
  return words;
}

void add_settings(const Settings& settings, const std::string& file, CommandLine& line) {
  const Place& place = line.program.place;
  for (const auto& [path, value] : settings) {
    const FlagSpec& spec = flag(path);
    if (line.find(path) != nullptr || !spec.used_by(line.use())) continue;
    line.flags.push_back({&spec, spec.name(), place, words_of(value, spec.takes_several(), place), file, true});
  }
}

}  // namespace

const ShippedConfig* shipped_config(const CommandLine& line) {
  const std::string program = line.program_name();
  const std::string name = config_name(line);
  for (const ShippedConfig& config : shipped_configs()) {
    if (config.program != program) continue;
    if (name.empty() ? config.is_default : config.path.ends_with("/" + name)) return &config;
  }
  return nullptr;
}

std::optional<bool> shipped_program_generates(std::string_view program) {
  const auto known = std::ranges::find(shipped_configs(), program, &ShippedConfig::program);
  if (known == shipped_configs().end()) return std::nullopt;
  return std::ranges::count(known->settings, "inference", &Settings::value_type::first) > 0;
}

void add_shipped_defaults(CommandLine& line) {
  const ShippedConfig* config = shipped_config(line);
  if (config == nullptr) return;
  add_settings(config->settings, config->path, line);
  if (config->includes_nlp_defaults) add_settings(nlp_defaults(), k_nlp_defaults_file, line);
}

}  // namespace podsim::rdu
