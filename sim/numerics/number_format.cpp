#include "sim/numerics/number_format.hpp"

#include <Eigen/Core>
#include <cmath>
#include <limits>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

constexpr FormatRange k_float16{65504.0, 65520.0, 0x1p-14, 0x1p-24, 0x1p-25, 0x1p-11, 10};
// Half a unit in the last place above the largest value is a tie, and goes to the even neighbour beyond it.
constexpr FormatRange k_bfloat16{0x1.fep127, 0x1.ffp127, 0x1p-126, 0x1p-133, 0x1p-134, 0x1p-8, 7};
constexpr FormatRange k_float32{0x1.fffffep127, 0x1.ffffffp127, 0x1p-126, 0x1p-149, 0x1p-150, 0x1p-24, 23};

// The scalar types of Eigen round as IEEE 754 says. Their matrix products do not: they are never used.
float to_nearest(float value, NumberFormat format) {
  switch (format) {
    case NumberFormat::float16:
      return static_cast<float>(Eigen::half(value));
    case NumberFormat::bfloat16:
      return static_cast<float>(Eigen::bfloat16(value));
    case NumberFormat::float32:
      break;
  }
  return value;
}

float overflowed(float value, NumberFormat format, OverflowRule rule) {
  const double largest = range_of(format).largest;
  switch (rule) {
    case OverflowRule::saturate:
      return std::copysign(static_cast<float>(largest), value);
    case OverflowRule::infinity:
      return std::copysign(std::numeric_limits<float>::infinity(), value);
    case OverflowRule::not_a_number:
      break;
  }
  return std::numeric_limits<float>::quiet_NaN();
}

}  // namespace

const FormatRange& range_of(NumberFormat format) {
  switch (format) {
    case NumberFormat::float16:
      return k_float16;
    case NumberFormat::bfloat16:
      return k_bfloat16;
    case NumberFormat::float32:
      break;
  }
  return k_float32;
}

float rounded(float value, NumberFormat format, OverflowRule rule) {
  const float near = to_nearest(value, format);
  if (std::isinf(near) && std::isfinite(value)) return overflowed(value, format, rule);
  return near;
}

float stochastically_rounded(float value, NumberFormat format, OverflowRule rule, double draw) {
  if (format == NumberFormat::float32 || !std::isfinite(value) || value == 0) return value;
  const FormatRange& range = range_of(format);
  const double magnitude = std::abs(static_cast<double>(value));
  // The distance of neighbours: a power of two, so that the division below is exact.
  const int exponent = std::ilogb(std::max(magnitude, range.smallest_normal));
  const double step = std::ldexp(1.0, exponent - range.fraction_bits);
  const double below = std::floor(magnitude / step);
  const bool up = draw < magnitude / step - below;
  const double result = (up ? below + 1 : below) * step;
  if (result > range.largest) return overflowed(value, format, rule);
  return std::copysign(static_cast<float>(result), value);
}

std::uint16_t bits_of(float value, NumberFormat format) {
  PODSIM_CHECK(format != NumberFormat::float32, "16 bits of a wider format");
  if (format == NumberFormat::float16) return Eigen::numext::bit_cast<std::uint16_t>(Eigen::half(value));
  return Eigen::numext::bit_cast<std::uint16_t>(Eigen::bfloat16(value));
}

float value_of(std::uint16_t bits, NumberFormat format) {
  PODSIM_CHECK(format != NumberFormat::float32, "16 bits of a wider format");
  if (format == NumberFormat::float16) return static_cast<float>(Eigen::numext::bit_cast<Eigen::half>(bits));
  return static_cast<float>(Eigen::numext::bit_cast<Eigen::bfloat16>(bits));
}

}  // namespace podsim
