#include "models/loss_scaling/gradient_model.hpp"

#include <algorithm>
#include <cmath>

namespace podsim::loss_scaling {
double drift_of(const GradientProcess& process, Drift drift, double update) {
  if (!process.drift) return 0;
  const double fall = std::pow(1 + update / process.loss_time, -process.loss_exponent);
  const double loss = process.final_loss + (process.initial_loss - process.final_loss) * fall;
  const double missed = std::log2(std::expm1(-loss) / std::expm1(-process.initial_loss));
  if (drift == Drift::loss) return missed;
  return missed + std::min(process.growth_limit, 0.5 * std::log2(1 + update / process.growth_time));
}

FormatLimits limits_of(NumberFormat format) {
  const FormatRange& range = range_of(format);
  return {std::log2(range.flushed_up_to), std::log2(range.smallest), std::log2(range.smallest_normal),
          std::log2(range.largest), std::log2(range.overflow_from)};
}

double share_at_most(const GradientTensor& tensor, double limit, double octaves) {
  return mean_over_components(tensor, octaves, [limit](const Magnitudes& m) { return share_at_most(m, limit); });
}

double share_at_least(const GradientTensor& tensor, double limit, double octaves) {
  if (limit > tensor.bound + octaves) return 0;
  return mean_over_components(tensor, octaves, [limit](const Magnitudes& m) { return share_at_least(m, limit); });
}

double share_flushed(const GradientTensor& tensor, const FormatLimits& limits, bool stochastic, double octaves) {
  if (!stochastic) return share_at_most(tensor, limits.flush, octaves);
  return mean_over_components(
      tensor, octaves, [&limits](const Magnitudes& m) { return share_flushed_stochastically(m, limits.smallest); });
}

double values_per_update(const GradientTensor& tensor, const GradientModel& model) {
  return (1 - tensor.zero_share) * tensor.values * (tensor.accumulator ? model.replicas : model.micro_batches);
}

}  // namespace podsim::loss_scaling
