#pragma once
// The gradients of a model as distributions: where each tensor's values lie, and how that moves from update to update.
// Locations are log2; they are those at a loss scale of 1.

#include <cstdint>
#include <limits>
#include <string>
#include <vector>

#include "models/loss_scaling/magnitudes.hpp"
#include "sim/numerics/number_format.hpp"

namespace podsim::loss_scaling {

// Which of the processes below moves a tensor: the loss gradient and what it gives directly, or what has passed the
// output weights.
enum class Drift { loss, hidden };

// A part of a tensor's non-zero values.
struct GradientComponent {
  double share = 1;
  Magnitudes magnitudes;
};

struct GradientTensor {
  std::string name;       // "down_weight_gradient"
  int layer = -1;         // -1: in no layer
  double values = 0;      // in one micro-batch
  double zero_share = 0;  // exact zeros
  std::vector<GradientComponent> components;
  double bound = std::numeric_limits<double>::infinity();  // log2 of a magnitude that is never exceeded
  Drift drift = Drift::hidden;
  bool product = false;        // of a matrix product or convolution
  bool accumulator = false;    // of a weight gradient over micro-batches; once per update
  bool bounds_window = false;  // its flushed values count against a recommended scale
};

// Heuristic: a loss that falls by a power law, output weights that grow by a square root.
struct GradientProcess {
  bool drift = true;
  double initial_loss = 0;  // nats
  double final_loss = 0;    // nats
  double loss_time = 1;     // updates
  double loss_exponent = 0.5;
  double growth_time = 1;        // updates
  double growth_limit = 0;       // octaves
  double noise = 0;              // octaves, standard deviation, common to all tensors
  double noise_correlation = 0;  // from update to update
  double spike_probability = 0;  // per update
  double spike_height = 0;       // octaves, mean
  double spike_length = 1;       // updates, mean
};

struct GradientModel {
  std::vector<GradientTensor> tensors;
  double micro_batches = 1;  // per weight update, over all replicas
  double replicas = 1;
  GradientProcess process;
};

// Octaves by which a tensor's values are larger at an update (from 0) than at the first. With q(L) = 1 - exp(-L), the
// mean of 1 - p(target): log2(q(L_t) / q(L_0)), and for hidden tensors the growth of the output weights.
double drift_of(const GradientProcess& process, Drift drift, double update);

// Numbers of the format and limits of a tensor's values, log2.
struct FormatLimits {
  double flush = 0;     // magnitudes up to here become zero
  double smallest = 0;  // subnormal
  double normal = 0;
  double largest = 0;
  double overflow = 0;  // magnitudes from here do not fit
};
FormatLimits limits_of(NumberFormat format);

// The mean of share(magnitudes) over a tensor's components when it is `octaves` larger.
template <class Share>
double mean_over_components(const GradientTensor& tensor, double octaves, const Share& share) {
  double sum = 0;
  for (const GradientComponent& component : tensor.components) {
    sum += component.share * share(scaled(component.magnitudes, octaves));
  }
  return sum;
}

// Shares of a tensor's non-zero values when it is `octaves` larger than at the first update without a scale.
double share_at_most(const GradientTensor& tensor, double limit, double octaves);
double share_at_least(const GradientTensor& tensor, double limit, double octaves);
// The same that are made zero; stochastically or to nearest.
double share_flushed(const GradientTensor& tensor, const FormatLimits& limits, bool stochastic, double octaves);

// Values of a tensor that exist in one weight update, without exact zeros.
double values_per_update(const GradientTensor& tensor, const GradientModel& model);

}  // namespace podsim::loss_scaling
