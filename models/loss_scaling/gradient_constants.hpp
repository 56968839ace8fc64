#pragma once
// What the model of gradients takes from configs/constants/loss-scaling.toml, each with source and confidence there.

#include "sim/config/config_files.hpp"
#include "sim/config/value.hpp"

namespace podsim::loss_scaling {

struct GradientConstants {
  double weight_rms = 0;
  double activation_slope = 0;
  double slope_mean = 0;       // of its log2
  double slope_deviation = 0;  // octaves
  double activation_output = 0;
  double hidden_spread = 0;      // octaves
  double output_spread = 0;      // octaves
  double largest_deviation = 0;  // spreads
  double logit_deviation = 0;    // nats
  double most_frequent = 0;      // share of the targets
  double final_loss_share = 0;
  double loss_time = 0;  // updates
  double loss_exponent = 0;
  double growth_time = 0;        // updates
  double partials_headroom = 0;  // octaves
  double negligible_energy = 0;  // share of a tensor's sum of squares
  double noise = 0;              // octaves
  double noise_correlation = 0;
  double spike_probability = 0;  // per update
  double spike_height = 0;       // octaves
  double spike_length = 0;       // updates
};

// From constants/loss-scaling.toml, some replaced by a table of the user; throws ConfigError.
GradientConstants read_gradient_constants(const ConfigFiles& configs, const Value* overrides = nullptr);

}  // namespace podsim::loss_scaling
