// A resolved configuration as lines of an [ipu] table.

#include <fmt/format.h>

#include "models/ipu/config/ipu_config.hpp"
#include "models/ipu/config/ipu_config_keys.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim::ipu {
namespace {

std::string toml(bool value) {
  return value ? "true" : "false";
}
std::string toml(std::int64_t value) {
  return fmt::format("{}", value);
}
std::string toml(const std::string& value) {
  return toml_string(value);
}
std::string toml(const std::vector<std::int64_t>& values) {
  return list_text(values);
}
std::string toml(const std::vector<double>& values) {
  return values.size() == 1 ? fmt::format("{}", values[0]) : list_text(values);
}

class Lines {
 public:
  explicit Lines(const IpuConfig& config) : config_(config) {}

  // Keys that the version does not know are left out unless the user wrote them.
  template <class T>
  void add(const std::string& key, const Setting<T>& setting) {
    const KeyHistory* history = key_history(key);
    const Version version = config_.version.low;
    const bool in_version = !config_.version.known() || (version >= history->since && version <= history->until);
    if (in_version || setting.given) result_.push_back({"ipu." + key, toml(setting.value), setting.origin});
  }

  // A factor, or the splits that replace it.
  void add_serialization(const std::string& prefix, const std::string& part, const Setting<std::int64_t>& factor,
                         const Setting<std::vector<std::int64_t>>& splits) {
    if (splits.value.empty()) {
      add(prefix + part + "_serialization_factor", factor);
    } else {
      add(prefix + "serialized_" + part + "_splits_per_ipu", splits);
    }
  }

  void add_mode(const ModeSettings& mode, bool half_layers) {
    const std::string& p = mode.prefix;
    add(p + "replication_factor", mode.replication_factor);
    add(p + "ipus_per_replica", mode.ipus_per_replica);
    if (half_layers) {
      add("attention_layers_per_ipu", config_.attention_layers_per_ipu);
      add("ffn_layers_per_ipu", config_.ffn_layers_per_ipu);
    } else {
      add(p + "layers_per_ipu", mode.layers_per_ipu);
    }
    add(p + "device_iterations", mode.device_iterations);
    add(p + "matmul_proportion", mode.matmul_proportion);
    add_serialization(p, "embedding", mode.embedding_serialization_factor, mode.embedding_splits);
    const bool follows = !mode.projection_serialization_factor.given && mode.projection_splits.value.empty();
    if (follows) return;  // the embedding says it
    add_serialization(p, "projection", mode.projection_serialization_factor, mode.projection_splits);
  }

  // What versions without keys of their own for inference take from training.
  void add_bases() {
    if (!config_.version.below(key_history("inference_layers_per_ipu")->since)) return;
    add("ipus_per_replica", config_.training.ipus_per_replica);
    add("layers_per_ipu", config_.training.layers_per_ipu);
    add("matmul_proportion", config_.training.matmul_proportion);
  }

  std::vector<ResolvedKey> take() { return std::move(result_); }

  // The lowest version of an inferred range behaves as the whole range does, since every default is written out.
  void add_version() {
    const VersionRange& version = config_.version;
    if (!version.known()) return;
    result_.push_back({"ipu.version", toml(to_text(version.low)),
                       version.low == version.high ? version.reason : to_text(version) + ", " + version.reason});
  }

 private:
  const IpuConfig& config_;
  std::vector<ResolvedKey> result_;
};

}  // namespace

std::vector<ResolvedKey> resolved_keys(const IpuConfig& config, RunMode mode) {
  Lines lines(config);
  lines.add_version();
  if (mode == RunMode::training) {
    lines.add_mode(config.training, config.half_layers());
    lines.add("gradient_accumulation_steps", config.gradient_accumulation_steps);
    lines.add("optimizer_state_offchip", config.optimizer_state_offchip);
    lines.add("replicated_tensor_sharding", config.replicated_tensor_sharding);
    lines.add("recompute_checkpoint_every_layer", config.recompute_checkpoint_every_layer);
    lines.add("auto_loss_scaling", config.auto_loss_scaling);
  } else {
    lines.add_bases();
    lines.add_mode(config.inference, false);
    lines.add("output_mode", config.output_mode);
    if (!config.always_sharded_inference()) {
      lines.add("sharded_execution_for_inference", config.sharded_execution_for_inference);
    }
  }
  return lines.take();
}

}  // namespace podsim::ipu
