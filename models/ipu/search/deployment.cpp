#include "models/ipu/search/deployment.hpp"

#include <string_view>

#include "models/ipu/config/ipu_config_keys.hpp"
#include "sim/core/json_writer.hpp"

namespace podsim::ipu {

Deployment ipu_config_of(const Plan& plan, const IpuPlan& ipu_plan) {
  constexpr std::string_view k_section = "ipu.";
  Deployment file{"ipu_config.json", "{", {}};
  const auto add = [&](const std::string& key, const std::string& value) {
    file.text += (file.text.size() == 1 ? "\n  " : ",\n  ") + json_quoted(key) + ": " + value;
    file.keys.insert(std::string(k_section) + key);
  };
  for (const ResolvedKey& key : ipu_plan.resolved()) {
    if (!key.path.starts_with(k_section)) continue;
    const std::string name = key.path.substr(k_section.size());
    const KeyHistory* history = key_history(name);
    // TOML writes these numbers, lists, words and truth values as JSON does.
    if (history != nullptr && !history->beyond_ipu_config) add(name, key.toml_value);
  }
  // Said by the workload in an experiment.
  add("enable_half_partials", plan.settings.precision == "fp16.16" ? "true" : "false");
  if (ipu_plan.setup.training()) {
    add("enable_half_first_order_momentum", plan.settings.first_moment_bytes == 2 ? "true" : "false");
  }
  file.text += "\n}\n";
  return file;
}

}  // namespace podsim::ipu
