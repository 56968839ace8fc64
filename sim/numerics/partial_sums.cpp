#include "sim/numerics/partial_sums.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

// Root mean square of one rounding to nearest in units of the roundoff: uniform error within half a step, divided by a
// log-uniform mantissa in [1, 2): sqrt(1/3 * (1 - 1/4) / (2 ln 2)).
const double k_nearest_error = std::sqrt(0.125 / std::log(2.0));

double chunks_of(double length, const Accumulation& accumulation) {
  return std::ceil(length / accumulation.chunk);
}

}  // namespace

float accumulate(float sum, float chunk, const Accumulation& accumulation) {
  return rounded(sum + chunk, accumulation.partials, accumulation.rule);
}

float dot_product(std::span<const float> a, std::span<const float> b, const Accumulation& accumulation) {
  PODSIM_CHECK(a.size() == b.size(), "a dot product of vectors of different length");
  PODSIM_CHECK(accumulation.chunk >= 1, "a chunk without products");
  const auto chunk = static_cast<std::size_t>(accumulation.chunk);
  float sum = 0;
  for (std::size_t begin = 0; begin < a.size(); begin += chunk) {
    const std::size_t end = std::min(a.size(), begin + chunk);
    float part = 0;
    for (std::size_t i = begin; i < end; ++i) part += a[i] * b[i];
    sum = accumulate(sum, part, accumulation);
  }
  return sum;
}

double incoherent_sum_error(double length, const Accumulation& accumulation) {
  const double one = k_nearest_error * range_of(accumulation.partials).unit_roundoff;
  return one * std::sqrt(chunks_of(length, accumulation) / 2);
}

double coherent_sum_error(double length, const Accumulation& accumulation) {
  const double one = k_nearest_error * range_of(accumulation.partials).unit_roundoff;
  return one * std::sqrt(chunks_of(length, accumulation) / 3);
}

double stagnation_length(const Accumulation& accumulation) {
  return accumulation.chunk / range_of(accumulation.partials).unit_roundoff;
}

}  // namespace podsim
