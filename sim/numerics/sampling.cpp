#include "sim/numerics/sampling.hpp"

#include <cmath>
#include <numbers>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

constexpr double k_normal_from = 50;

// In (0, 1], for logarithms.
double positive_unit(Random& random) {
  return 1.0 - random.unit();
}

}  // namespace

Random keyed_random(std::uint64_t seed, std::initializer_list<std::uint64_t> keys) {
  std::uint64_t state = SplitMix64(seed).next();
  for (const std::uint64_t key : keys) state = SplitMix64(state ^ SplitMix64(key).next()).next();
  return Random(state);
}

double draw_normal(Random& random) {
  const double radius = std::sqrt(-2 * std::log(positive_unit(random)));
  return radius * std::cos(2 * std::numbers::pi * random.unit());
}

double draw_exponential(Random& random, double mean) {
  return -mean * std::log(positive_unit(random));
}

double draw_count(Random& random, double mean) {
  PODSIM_CHECK(mean >= 0 && std::isfinite(mean), "a count without a mean");
  if (mean >= k_normal_from) return std::max(0.0, std::round(mean + std::sqrt(mean) * draw_normal(random)));
  const double none = std::exp(-mean);
  double count = 0;
  for (double product = positive_unit(random); product > none; product *= positive_unit(random)) ++count;
  return count;
}

}  // namespace podsim
