#include "sim/plan/inputs_hash.hpp"

#include <fmt/format.h>

#include "sim/core/sha256.hpp"
#include "sim/plan/plan.hpp"

namespace podsim {

std::string inputs_hash(const Plan& plan) {
  std::string identity;
  for (const auto& keys : {plan.resolved, plan.family_plan->resolved()}) {
    for (const ResolvedKey& key : keys) {
      // What a path leads to is an input: constants and dimensions follow.
      if (!key.is_path) identity += key.path + " = " + key.toml_value + "\n";
    }
  }
  for (const std::string& name : plan.constants.names()) {
    identity += name + " = " + plan.constants[*plan.constants.find(name)].text + "\n";
  }
  identity += plan.family_plan->file_contents();
  identity += "model_type = " + plan.shape.type + "\n";
  for (const auto& [dimension, value] : plan.shape.dimensions) identity += fmt::format("{} = {}\n", dimension, value);
  return sha256_hex(identity);
}

}  // namespace podsim
