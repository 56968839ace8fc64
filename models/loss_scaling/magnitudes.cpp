#include "models/loss_scaling/magnitudes.hpp"

#include <algorithm>
#include <cmath>
#include <numbers>

#include "sim/numerics/normal.hpp"

namespace podsim::loss_scaling {
namespace {

constexpr double k_reach = 9;     // deviations beyond which nothing is left of a normal distribution
constexpr double k_panel = 0.25;  // width of a panel of the quadrature
const double k_root_two_over_pi = std::sqrt(2 / std::numbers::pi);

// Gauss and Legendre, five points on [-1, 1].
constexpr double k_points[] = {-0.9061798459386640, -0.5384693101056831, 0, 0.5384693101056831, 0.9061798459386640};
constexpr double k_weights[] = {0.2369268850561891, 0.4786286704993665, 0.5688888888888889, 0.4786286704993665,
                                0.2369268850561891};

// visit(weight, u) for points of u = (log2 r - location) / spread; weights sum to 1.
template <class Visit>
void for_each_deviation(double spread, double largest_deviation, const Visit& visit) {
  if (spread == 0) return visit(1.0, 0.0);
  const double end = std::min(k_reach, largest_deviation);
  const int panels = static_cast<int>(std::ceil((end + k_reach) / k_panel));
  const double half = (end + k_reach) / panels / 2;
  const double whole = std::sqrt(2 * std::numbers::pi) * normal_cdf(end);
  for (int panel = 0; panel < panels; ++panel) {
    const double middle = -k_reach + (2 * panel + 1) * half;
    for (int i = 0; i < 5; ++i) {
      const double u = middle + half * k_points[i];
      visit(k_weights[i] * half * std::exp(-u * u / 2) / whole, u);
    }
  }
}

// The mean of f(log2 r) over the scales of a mixture.
template <class Function>
double mean_over_scales(const Magnitudes& m, const Function& f) {
  double sum = 0;
  for_each_deviation(m.spread, m.largest_deviation,
                     [&](double weight, double u) { sum += weight * f(m.location + m.spread * u); });
  return sum;
}

// The mean of f(2^limit / r).
template <class Function>
double mean_over_points(const std::vector<ScalePoint>& points, double limit, const Function& f) {
  const double size = std::exp2(limit);
  double sum = 0;
  for (const ScalePoint& point : points) sum += point.weight * f(size * point.inverse);
  return sum;
}

// Of a normal value of deviation 1: E[x^2; |x| < a] and E[|x|; |x| > a].
double energy_within(double a) {
  if (a < 1e-2) return k_root_two_over_pi * a * a * a * (1.0 / 3 - a * a / 10);  // without cancellation
  return std::erf(a / std::numbers::sqrt2) - a * k_root_two_over_pi * std::exp(-a * a / 2);
}
double energy_beyond(double a) {
  return std::erfc(a / std::numbers::sqrt2) + a * k_root_two_over_pi * std::exp(-a * a / 2);
}
double size_beyond(double a) {
  return k_root_two_over_pi * std::exp(-a * a / 2);
}

double standardised(const Magnitudes& m, double limit) {
  return (limit - m.location) / m.spread;
}

EnergyShares lognormal_energy(const Magnitudes& m, double flush_limit, double saturation_limit, double values) {
  const double shift = 2 * m.spread * std::numbers::ln2;  // squares move the distribution by 2 v deviations
  const double end = std::isinf(values) ? std::numeric_limits<double>::infinity() : -normal_quantile(1 / values);
  const double whole = normal_cdf(end - shift);
  const double low = std::min(standardised(m, flush_limit), end);
  const double high = std::min(standardised(m, saturation_limit), end);
  // Above: the difference of two tails, each exact where the distribution is thin.
  const double beyond = std::isinf(end) ? 0 : normal_tail(end - shift);
  return {normal_cdf(low - shift) / whole, (normal_tail(high - shift) - beyond) / whole};
}

}  // namespace

Magnitudes as_lognormal(const Magnitudes& mixture) {
  return {MagnitudeShape::lognormal, mixture.location + k_gaussian_mean,
          std::hypot(mixture.spread, k_gaussian_deviation)};
}

Magnitudes scaled(Magnitudes magnitudes, double octaves) {
  magnitudes.location += octaves;
  return magnitudes;
}

std::vector<ScalePoint> scale_points(double spread, double largest_deviation) {
  std::vector<ScalePoint> points;
  for_each_deviation(spread, largest_deviation, [&](double weight, double u) {
    points.push_back({weight, std::exp2(-spread * u)});
  });
  return points;
}

double share_at_most(const std::vector<ScalePoint>& points, double limit) {
  return mean_over_points(points, limit, [](double a) { return std::erf(a / std::numbers::sqrt2); });
}

double share_at_least(const std::vector<ScalePoint>& points, double limit) {
  return mean_over_points(points, limit, [](double a) { return std::erfc(a / std::numbers::sqrt2); });
}

double share_flushed_stochastically(const std::vector<ScalePoint>& points, double smallest) {
  return mean_over_points(points, smallest, [](double a) {
    return std::erf(a / std::numbers::sqrt2) + k_root_two_over_pi * std::expm1(-a * a / 2) / a;
  });
}

double share_at_most(const Magnitudes& m, double limit) {
  if (m.shape == MagnitudeShape::lognormal) {
    return m.spread == 0 ? double(m.location <= limit) : normal_cdf(standardised(m, limit));
  }
  return share_at_most(scale_points(m.spread, m.largest_deviation), limit - m.location);
}

double share_at_least(const Magnitudes& m, double limit) {
  if (m.shape == MagnitudeShape::lognormal) {
    return m.spread == 0 ? double(m.location >= limit) : normal_tail(standardised(m, limit));
  }
  return share_at_least(scale_points(m.spread, m.largest_deviation), limit - m.location);
}

double share_flushed_stochastically(const Magnitudes& m, double smallest) {
  if (m.shape == MagnitudeShape::lognormal) {
    // P(|g| < c) - E[|g|; |g| < c] / c of a log-normal value.
    const double v = m.spread * std::numbers::ln2;
    if (v == 0) return std::max(0.0, 1 - std::exp2(m.location - smallest));
    const double a = standardised(m, smallest);
    return normal_cdf(a) - std::exp((m.location - smallest) * std::numbers::ln2 + v * v / 2) * normal_cdf(a - v);
  }
  return share_flushed_stochastically(scale_points(m.spread, m.largest_deviation), smallest - m.location);
}

EnergyShares energy_shares(const Magnitudes& m, double flush_limit, double saturation_limit, double values) {
  if (m.shape == MagnitudeShape::lognormal) return lognormal_energy(m, flush_limit, saturation_limit, values);
  // Relative to 2^location, so that squares stay in range.
  const auto weight = [&m](double r) { return std::exp2(2 * (r - m.location)); };
  const double whole = mean_over_scales(m, weight);
  const double low =
      mean_over_scales(m, [&](double r) { return weight(r) * energy_within(std::exp2(flush_limit - r)); });
  const double high =
      mean_over_scales(m, [&](double r) { return weight(r) * energy_beyond(std::exp2(saturation_limit - r)); });
  return {low / whole, high / whole};
}

double direction_loss(const Magnitudes& m, double flush_limit, double saturation_limit) {
  const EnergyShares lost = energy_shares(m, flush_limit, saturation_limit);
  const auto at = [&m](double limit) { return std::exp2(limit - m.location); };
  const double whole = mean_over_scales(m, [&m](double r) { return std::exp2(2 * (r - m.location)); });
  const double clip = at(saturation_limit);
  const double size = mean_over_scales(
      m, [&](double r) { return std::exp2(r - m.location) * size_beyond(std::exp2(saturation_limit - r)); });
  const double beyond = share_at_least(m, saturation_limit);
  const double kept = 1 - lost.flushed - lost.saturated;
  const double product = kept + (beyond > 0 ? clip * size / whole : 0);
  const double squares = kept + (beyond > 0 ? clip * clip * beyond / whole : 0);
  return squares > 0 ? std::max(0.0, 1 - product / std::sqrt(squares)) : 1;
}

double any_of(double share, double values) {
  return share >= 1 ? double(values > 0) : -std::expm1(values * std::log1p(-share));
}

}  // namespace podsim::loss_scaling
