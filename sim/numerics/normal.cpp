#include "sim/numerics/normal.hpp"

#include <cmath>
#include <numbers>

#include "sim/core/check.hpp"

namespace podsim {

double normal_cdf(double x) {
  return std::erfc(-x / std::numbers::sqrt2) / 2;
}

double normal_tail(double x) {
  return std::erfc(x / std::numbers::sqrt2) / 2;
}

double normal_quantile(double p) {
  PODSIM_CHECK(p > 0 && p < 1, "a quantile outside of (0, 1)");
  if (p > 0.5) return -normal_quantile(1 - p);
  // Start from the tail's asymptote, then Newton on log P, which is concave: the steps converge from any start here.
  double x = p > 0.1 ? (p - 0.5) * 2.6 : -std::sqrt(-2 * std::log(p));
  for (int step = 0; step < 60; ++step) {
    const double below = normal_cdf(x);
    const double density = std::exp(-x * x / 2) / std::sqrt(2 * std::numbers::pi);
    const double move = (std::log(below) - std::log(p)) * below / density;
    x -= move;
    if (std::abs(move) <= 1e-15 * std::abs(x)) break;
  }
  return x;
}

}  // namespace podsim
