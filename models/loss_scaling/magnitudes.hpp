#pragma once
// How the magnitudes of a tensor's non-zero values are distributed, and which share of them a number format loses.
// Limits and locations are log2; shares are of the non-zero values.

#include <limits>
#include <vector>

namespace podsim::loss_scaling {

enum class MagnitudeShape {
  gaussian_mixture,  // g = r e with e standard normal and log2 r normal: many tokens' parts of various sizes
  lognormal,         // log2 |g| normal: probabilities, and gradients pooled over many tensors
};

struct Magnitudes {
  MagnitudeShape shape = MagnitudeShape::gaussian_mixture;
  double location = 0;  // mean of log2 r, or of log2 |g|
  double spread = 0;    // standard deviation of the same, octaves
  // Of a mixture, in spreads: scales r further above the mean do not occur.
  double largest_deviation = std::numeric_limits<double>::infinity();
};

// Mean and standard deviation of log2 |e| for a standard normal e, octaves: -(gamma + ln 2) / (2 ln 2) and
// pi / (2 sqrt(2) ln 2).
inline constexpr double k_gaussian_mean = -0.91637309;
inline constexpr double k_gaussian_deviation = 1.6024313;

// The log-normal distribution with the same mean and deviation of log2 |g|.
Magnitudes as_lognormal(const Magnitudes& mixture);

// The same values times 2^octaves.
Magnitudes scaled(Magnitudes magnitudes, double octaves);

// P(|g| <= 2^limit) and P(|g| >= 2^limit).
double share_at_most(const Magnitudes& magnitudes, double limit);
double share_at_least(const Magnitudes& magnitudes, double limit);

// A scale r of a mixture: its weight in a mean, and 2^location / r.
struct ScalePoint {
  double weight = 0;
  double inverse = 1;
};
// The scales of every mixture with this spread, so that shares at many limits are sums over the same points.
std::vector<ScalePoint> scale_points(double spread, double largest_deviation);
// As for Magnitudes, of limits relative to the location.
double share_at_most(const std::vector<ScalePoint>& points, double limit);
double share_at_least(const std::vector<ScalePoint>& points, double limit);
double share_flushed_stochastically(const std::vector<ScalePoint>& points, double smallest);

// The expected share that stochastic rounding makes zero, where 2^smallest is the smallest positive value: a value
// below it becomes zero with the probability of its distance.
double share_flushed_stochastically(const Magnitudes& magnitudes, double smallest);

// Parts of the sum of squares. A log-normal tensor of `values` values has none beyond its expected largest one;
// infinite for the whole distribution.
struct EnergyShares {
  double flushed = 0;
  double saturated = 0;
};
EnergyShares energy_shares(const Magnitudes& magnitudes, double flush_limit, double saturation_limit,
                           double values = std::numeric_limits<double>::infinity());

// 1 - cos of the angle between a mixture's tensor and the same flushed below and clipped above.
double direction_loss(const Magnitudes& mixture, double flush_limit, double saturation_limit);

// P(at least one of `values` values is one of a share).
double any_of(double share, double values);

}  // namespace podsim::loss_scaling
