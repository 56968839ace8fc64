#include "models/loss_scaling/gradient_constants.hpp"

#include <fmt/format.h>

#include <string>

#include "sim/config/constants.hpp"

namespace podsim::loss_scaling {
namespace {

constexpr const char* k_prefix = "loss_scaling";

struct ConstantField {
  const char* name;
  double GradientConstants::*member;
  double minimum;
  double maximum;
};

constexpr ConstantField k_fields[] = {
    {"weight.rms", &GradientConstants::weight_rms, 1e-6, 1e3},
    {"activation.slope", &GradientConstants::activation_slope, 1e-3, 1e3},
    {"activation.slope_mean", &GradientConstants::slope_mean, -20, 20},
    {"activation.slope_deviation", &GradientConstants::slope_deviation, 0, 8},
    {"activation.output", &GradientConstants::activation_output, 1e-3, 1e3},
    {"spread.hidden", &GradientConstants::hidden_spread, 0, 8},
    {"spread.output", &GradientConstants::output_spread, 0, 8},
    {"spread.largest_deviation", &GradientConstants::largest_deviation, 0, 9},
    {"logits.deviation", &GradientConstants::logit_deviation, 0, 8},
    {"targets.most_frequent", &GradientConstants::most_frequent, 0, 1},
    {"loss.final_share", &GradientConstants::final_loss_share, 1e-3, 1},
    {"loss.time", &GradientConstants::loss_time, 1e-3, 1e9},
    {"loss.exponent", &GradientConstants::loss_exponent, 0, 8},
    {"output_weights.growth_time", &GradientConstants::growth_time, 1e-3, 1e9},
    {"window.partials_headroom", &GradientConstants::partials_headroom, 0, 32},
    {"window.negligible_energy", &GradientConstants::negligible_energy, 0, 0.4},
    {"noise.deviation", &GradientConstants::noise, 0, 8},
    {"noise.correlation", &GradientConstants::noise_correlation, 0, 0.9999},
    {"spike.probability", &GradientConstants::spike_probability, 0, 1},
    {"spike.height", &GradientConstants::spike_height, 0, 32},
    {"spike.length", &GradientConstants::spike_length, 1, 1e6},
};

void override_constants(ConstantSet& set, const Value& table, const std::string& prefix, Diagnostics& diagnostics) {
  for (const Value::Member& member : table.members()) {
    const std::string name = prefix + "." + member.key;
    if (member.value.is(Value::Kind::table)) {
      override_constants(set, member.value, name, diagnostics);
    } else {
      set.override_value(name, member.value, diagnostics);
    }
  }
}

}  // namespace

GradientConstants read_gradient_constants(const ConfigFiles& configs, const Value* overrides) {
  const std::string path = "constants/loss-scaling.toml";
  Diagnostics diagnostics;
  ConstantSet set;
  const auto document = parse_toml(configs.text(path).value_or(""), configs.display_name(path), diagnostics);
  if (document) set.add(*document, k_prefix, {"family", "prefix"}, diagnostics);
  if (overrides != nullptr) override_constants(set, *overrides, k_prefix, diagnostics);
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  ConstantReader reader(set);
  GradientConstants constants;
  for (const ConstantField& field : k_fields) {
    const std::string name = k_prefix + std::string(".") + field.name;
    const double value = reader.number(name);
    if (!(value >= field.minimum && value <= field.maximum)) {
      reader.refuse(name, fmt::format("{} is out of range", value),
                    fmt::format("from {} to {}", field.minimum, field.maximum));
    }
    constants.*field.member = value;
  }
  return constants;
}

}  // namespace podsim::loss_scaling
