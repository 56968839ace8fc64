#include "models/ipu/config/idle_keys.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/ipu/config/ipu_config_keys.hpp"

namespace podsim::ipu {
namespace {

// Without a twin for inference, or with one that takes nothing from it.
constexpr std::array<std::string_view, 10> k_of_training{"device_iterations",
                                                         "embedding_serialization_factor",
                                                         "enable_half_first_order_momentum",
                                                         "optimizer_state_offchip",
                                                         "projection_serialization_factor",
                                                         "recompute_checkpoint_every_layer",
                                                         "replicated_tensor_sharding",
                                                         "replication_factor",
                                                         "serialized_embedding_splits_per_ipu",
                                                         "serialized_projection_splits_per_ipu"};

bool told_elsewhere(const IpuConfig& config, const std::string& key) {
  if (key == "sharded_execution_for_inference" && config.always_sharded_inference()) return true;
  const auto& idle = keys_without_effect();
  return std::any_of(idle.begin(), idle.end(), [&](const auto& entry) { return entry.first == key; });
}

std::string why_not_in_training(const std::string& key) {
  if (key == "output_mode") return "training returns the loss alone";
  if (key.starts_with("inference_") || key == "sharded_execution_for_inference") return "inference reads it";
  return {};
}

std::string why_not_in_inference(const std::string& key) {
  if (std::find(k_of_training.begin(), k_of_training.end(), key) == k_of_training.end()) return {};
  const std::string twin = "inference_" + key;
  return key_history(twin) == nullptr ? "training reads it" : twin + " counts there";
}

}  // namespace

void warn_of_other_mode(const IpuConfig& config, RunMode mode, Diagnostics& diagnostics) {
  const bool training = mode == RunMode::training;
  const char* const name = training ? "training" : "inference";
  const auto warn = [&](const Place& place, const std::string& key, const std::string& why) {
    diagnostics.warning(place, "ipu." + key, fmt::format("no effect in {}: {}", name, why));
  };
  for (const auto& [key, place] : config.by_hand) {
    const std::string why = training ? why_not_in_training(key) : why_not_in_inference(key);
    if (!why.empty() && !told_elsewhere(config, key)) warn(place, key, why);
  }
  if (training || !config.half_layers()) return;
  warn(config.attention_layers_per_ipu.place, "attention_layers_per_ipu", "half layers are placed in training only");
}

}  // namespace podsim::ipu
