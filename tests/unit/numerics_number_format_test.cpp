// Are values rounded to the narrow formats as IEEE 754 and the device manuals say, bit for bit?
#include <doctest/doctest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>

#include "sim/core/check.hpp"
#include "sim/core/random.hpp"
#include "sim/numerics/number_format.hpp"

using namespace podsim;

namespace {

constexpr auto k_half = NumberFormat::float16;
constexpr auto k_bfloat = NumberFormat::bfloat16;
constexpr float k_infinity = std::numeric_limits<float>::infinity();
constexpr float k_nan = std::numeric_limits<float>::quiet_NaN();

struct RoundingCase {
  std::uint32_t single;
  std::uint16_t half;       // infinities on overflow
  std::uint16_t saturated;  // the largest value on overflow
  bool overflows;
  std::uint16_t bfloat;
};

// Boundary cases: ties, the edges of normal and subnormal range, the edge of overflow of both formats.
constexpr RoundingCase k_cases[] = {
    {0x3F800000U, 0x3C00U, 0x3C00U, false, 0x3F80U},  // one
    {0x80000000U, 0x8000U, 0x8000U, false, 0x8000U},  // minus zero
    {0x3F801000U, 0x3C00U, 0x3C00U, false, 0x3F80U},  // 1+2^-11 tie -> even
    {0x3F803000U, 0x3C02U, 0x3C02U, false, 0x3F80U},  // 1+3*2^-11 tie -> even (up)
    {0x3F801001U, 0x3C01U, 0x3C01U, false, 0x3F80U},  // 1+2^-11+2^-23 above tie
    {0x3F800800U, 0x3C00U, 0x3C00U, false, 0x3F80U},  // 1+2^-12 below half ulp
    {0x3F808000U, 0x3C04U, 0x3C04U, false, 0x3F80U},  // 1+2^-8 bf16 tie -> even
    {0x3F818000U, 0x3C0CU, 0x3C0CU, false, 0x3F82U},  // 1+3*2^-8 bf16 tie -> even (up)
    {0x45001000U, 0x6800U, 0x6800U, false, 0x4500U},  // 2049 tie
    {0x45003000U, 0x6802U, 0x6802U, false, 0x4500U},  // 2051 tie
    {0x477FE000U, 0x7BFFU, 0x7BFFU, false, 0x4780U},  // 65504 max half
    {0x477FEF00U, 0x7BFFU, 0x7BFFU, false, 0x4780U},  // 65519 rounds to max
    {0x477FEFFFU, 0x7BFFU, 0x7BFFU, false, 0x4780U},  // 65519.996
    {0x477FF000U, 0x7C00U, 0x7BFFU, true, 0x4780U},   // 65520 first overflow
    {0x47800000U, 0x7C00U, 0x7BFFU, true, 0x4780U},   // 65536
    {0xC7C35000U, 0xFC00U, 0xFBFFU, true, 0xC7C3U},   // -1e5
    {0x7149F2CAU, 0x7C00U, 0x7BFFU, true, 0x714AU},   // 1e30
    {0x38800000U, 0x0400U, 0x0400U, false, 0x3880U},  // min normal 2^-14
    {0x387FE000U, 0x0400U, 0x0400U, false, 0x3880U},  // 2^-14 - 2^-25 tie up to 2^-14
    {0x387FC000U, 0x03FFU, 0x03FFU, false, 0x3880U},  // largest subnormal
    {0x33800000U, 0x0001U, 0x0001U, false, 0x3380U},  // 2^-24 min subnormal
    {0x33000000U, 0x0000U, 0x0000U, false, 0x3300U},  // 2^-25 tie -> 0
    {0x33000001U, 0x0001U, 0x0001U, false, 0x3300U},  // 2^-25*(1+2^-23) -> 2^-24
    {0x33C00000U, 0x0002U, 0x0002U, false, 0x33C0U},  // 1.5*2^-24 tie -> 2^-23
    {0x34200000U, 0x0002U, 0x0002U, false, 0x3420U},  // 2.5*2^-24 tie -> 2^-23
    {0x32800000U, 0x0000U, 0x0000U, false, 0x3280U},  // 2^-26 -> 0
    {0xB2800000U, 0x8000U, 0x8000U, false, 0xB280U},  // -2^-26 -> -0
    {0x322BCC77U, 0x0000U, 0x0000U, false, 0x322CU},  // 1e-8 (Adam eps) -> 0 in half
    {0x33D6BF95U, 0x0002U, 0x0002U, false, 0x33D7U},  // 1e-7
    {0x3380D959U, 0x0001U, 0x0001U, false, 0x3381U},  // 6e-8
    {0x45FFE000U, 0x6FFFU, 0x6FFFU, false, 0x4600U},  // 8188 = ALS edge 0.125*65504
    {0x45FFD000U, 0x6FFEU, 0x6FFEU, false, 0x4600U},  // 8186 tie between 8184 and 8188
    {0x45FFCFECU, 0x6FFEU, 0x6FFEU, false, 0x4600U},  // 8185.99
    {0x457FFF00U, 0x6C00U, 0x6C00U, false, 0x4580U},  // 65535*0.0625 (SDK 2.4 edge)
    {0x477FFF00U, 0x7C00U, 0x7BFFU, true, 0x4780U},   // 65535 (SDK 2.1-2.3 edge)
    {0x7F7F0000U, 0x7C00U, 0x7BFFU, true, 0x7F7FU},   // bf16 max
    {0x7F7F8000U, 0x7C00U, 0x7BFFU, true, 0x7F80U},   // bf16 overflow tie -> inf
    {0x7F7F7FFFU, 0x7C00U, 0x7BFFU, true, 0x7F7FU},   // just below bf16 overflow
    {0x00010000U, 0x0000U, 0x0000U, false, 0x0001U},  // bf16 min subnormal 2^-133
    {0x00008000U, 0x0000U, 0x0000U, false, 0x0000U},  // 2^-134 tie -> 0 in bf16
    {0x00000001U, 0x0000U, 0x0000U, false, 0x0000U},  // f32 min subnormal 2^-149
    {0x3DCCCCCDU, 0x2E66U, 0x2E66U, false, 0x3DCDU},  // 0.1
    {0x40490FDBU, 0x4248U, 0x4248U, false, 0x4049U},  // pi
    {0x3EAAAAABU, 0x3555U, 0x3555U, false, 0x3EABU},  // 1/3
};

struct StochasticCase {
  float value;
  NumberFormat format;
  double down;
  double up;
  double probability_of_up;
};

constexpr StochasticCase k_stochastic[] = {
    {0x1.001p0F, k_half, 1.0, 0x1.004p0, 0.25},
    {0x1.002p0F, k_half, 1.0, 0x1.004p0, 0.5},
    {0x1p-25F, k_half, 0.0, 0x1p-24, 0.5},
    {0x1p-27F, k_half, 0.0, 0x1p-24, 0.125},
    {0x1.8p-25F, k_half, 0.0, 0x1p-24, 0.75},
    {0x1.99999ap-4F, k_half, 0.0999755859375, 0.10003662109375, 0.4000244140625},
    {2049.0F, k_half, 2048.0, 2050.0, 0.5},
    {65510.0F, k_half, 65504.0, 65504.0, 0.1875},
    {0x1.001p0F, k_bfloat, 1.0, 0x1.02p0, 0.03125},
    {0x1.002p0F, k_bfloat, 1.0, 0x1.02p0, 0.0625},
    {0x1p-25F, k_bfloat, 0x1p-25, 0x1p-25, 0.0},
    {0x1.8p-25F, k_bfloat, 0x1.8p-25, 0x1.8p-25, 0.0},
    {0x1.99999ap-4F, k_bfloat, 0.099609375, 0.10009765625, 0.8000030517578125},
    {2049.0F, k_bfloat, 2048.0, 2064.0, 0.0625},
    {65510.0F, k_bfloat, 65280.0, 65536.0, 0.8984375},
    {0x1p-27F, k_bfloat, 0x1p-27, 0x1p-27, 0.0},
};

// Rounding to nearest by definition: the nearer neighbour on the grid of the format, the even one of two.
float nearest_by_definition(float value, const FormatRange& range) {
  const double magnitude = std::abs(static_cast<double>(value));
  const int exponent = std::ilogb(std::max(magnitude, range.smallest_normal));
  const double step = std::ldexp(1.0, exponent - range.fraction_bits);
  const double below = std::floor(magnitude / step);
  const double place = magnitude / step - below;
  const bool up = place > 0.5 || (place == 0.5 && std::fmod(below, 2.0) == 1.0);
  const double result = (up ? below + 1 : below) * step;
  return std::copysign(result > range.largest ? k_infinity : static_cast<float>(result), value);
}

bool same_bits(float a, float b) {
  return std::bit_cast<std::uint32_t>(a) == std::bit_cast<std::uint32_t>(b);
}

}  // namespace

TEST_CASE("number format: boundary values round to the expected bits under every rule of overflow") {
  for (const RoundingCase& row : k_cases) {
    CAPTURE(row.single);
    const float value = std::bit_cast<float>(row.single);
    CHECK(bits_of(value, k_half) == row.half);
    CHECK(bits_of(value, k_bfloat) == row.bfloat);
    CHECK(same_bits(rounded(value, k_half, OverflowRule::infinity), value_of(row.half, k_half)));
    CHECK(same_bits(rounded(value, k_half, OverflowRule::saturate), value_of(row.saturated, k_half)));
    CHECK(same_bits(rounded(value, k_bfloat, OverflowRule::infinity), value_of(row.bfloat, k_bfloat)));
    const float trapped = rounded(value, k_half, OverflowRule::not_a_number);
    CHECK(std::isnan(trapped) == row.overflows);
    if (!row.overflows) CHECK(same_bits(trapped, value_of(row.half, k_half)));
  }
}

TEST_CASE("number format: every 16-bit pattern of a number survives the way to single precision and back") {
  for (std::uint32_t bits = 0; bits <= UINT16_MAX; ++bits) {
    for (const NumberFormat format : {k_half, k_bfloat}) {
      const float value = value_of(static_cast<std::uint16_t>(bits), format);
      if (std::isnan(value)) continue;
      REQUIRE(bits_of(value, format) == bits);
      REQUIRE(same_bits(rounded(value, format, OverflowRule::saturate), value));
    }
  }
}

TEST_CASE("number format: values of any exponent round as by definition") {
  Random random(1);
  for (int i = 0; i < 200'000; ++i) {
    const float value = std::bit_cast<float>(static_cast<std::uint32_t>(random.next() >> 32));
    if (!std::isfinite(value)) continue;
    for (const NumberFormat format : {k_half, k_bfloat}) {
      REQUIRE(
          same_bits(rounded(value, format, OverflowRule::infinity), nearest_by_definition(value, range_of(format))));
    }
  }
}

TEST_CASE("number format: infinities and NaN pass through whatever the rule of overflow") {
  for (const OverflowRule rule : {OverflowRule::saturate, OverflowRule::infinity, OverflowRule::not_a_number}) {
    for (const NumberFormat format : {k_half, k_bfloat, NumberFormat::float32}) {
      CHECK(rounded(k_infinity, format, rule) == k_infinity);
      CHECK(rounded(-k_infinity, format, rule) == -k_infinity);
      CHECK(std::isnan(rounded(k_nan, format, rule)));
      CHECK(stochastically_rounded(-k_infinity, format, rule, 0.5) == -k_infinity);
      CHECK(std::isnan(stochastically_rounded(k_nan, format, rule, 0.5)));
    }
  }
}

TEST_CASE("number format: the documented ranges are those that rounding shows") {
  for (const NumberFormat format : {k_half, k_bfloat}) {
    const FormatRange& range = range_of(format);
    const auto at = [&](double value) { return rounded(static_cast<float>(value), format, OverflowRule::infinity); };
    const auto next = [](double value, float to) { return std::nextafter(static_cast<float>(value), to); };
    CHECK(at(range.largest) == static_cast<float>(range.largest));
    CHECK(std::isinf(at(range.overflow_from)));
    CHECK(std::isfinite(at(next(range.overflow_from, 0))));
    CHECK(at(range.flushed_up_to) == 0);
    CHECK(at(next(range.flushed_up_to, 1)) == static_cast<float>(range.smallest));
    CHECK(at(1 + range.unit_roundoff) == 1);
    CHECK(at(1 + 1.5 * range.unit_roundoff) > 1);
    CHECK(range.unit_roundoff == std::ldexp(0.5, -range.fraction_bits));
  }
}

TEST_CASE("number format: stochastic rounding goes up with the probability of the place in the gap") {
  for (const StochasticCase& row : k_stochastic) {
    CAPTURE(row.value);
    const auto at = [&](double draw) {
      return static_cast<double>(stochastically_rounded(row.value, row.format, OverflowRule::saturate, draw));
    };
    // Up for draws below the probability, down from it on: exact, as places in a gap are exact in double precision.
    if (row.probability_of_up > 0) CHECK(at(std::nextafter(row.probability_of_up, 0.0)) == row.up);
    CHECK(at(row.probability_of_up) == row.down);
    CHECK(-at(row.probability_of_up) ==
          stochastically_rounded(-row.value, row.format, OverflowRule::saturate, row.probability_of_up));
  }
  CHECK(std::isinf(stochastically_rounded(65510, k_half, OverflowRule::infinity, 0.1)));
  CHECK(stochastically_rounded(65510, k_half, OverflowRule::infinity, 0.2) == 65504);
  CHECK(std::isnan(stochastically_rounded(1e6F, k_half, OverflowRule::not_a_number, 0.1)));
}

TEST_CASE("number format: the mean of stochastic rounding is the value, and equal seeds give equal sequences") {
  const float value = 0x1.8p-25F;
  constexpr int k_draws = 20'000;
  Random first(9);
  Random second(9);
  double sum = 0;
  for (int i = 0; i < k_draws; ++i) {
    const float once = stochastically_rounded(value, k_half, OverflowRule::saturate, first.unit());
    REQUIRE(once == stochastically_rounded(value, k_half, OverflowRule::saturate, second.unit()));
    sum += static_cast<double>(once);
  }
  // Up with p = 3/4: the mean's standard deviation is the step times sqrt(p (1 - p) / n); five of them.
  const double deviation = 0x1p-24 * std::sqrt(0.75 * 0.25 / k_draws);
  CHECK(std::abs(sum / k_draws - static_cast<double>(value)) < 5 * deviation);
}

TEST_CASE("number format: running sums stagnate when rounded to nearest and stay true when rounded stochastically") {
  struct Case {
    NumberFormat format;
    float start;
    float increment;
    int count;
    float nearest;
    double exact;
  };
  const float small = value_of(bits_of(1e-4F, k_half), k_half);
  const Case cases[] = {{k_half, 1, 0x1p-12F, 4096, 1, 2}, {k_half, 1, 0x1p-11F, 2048, 1, 2},
                        {k_half, 0, 1, 4096, 2048, 4096},  {k_half, 0, small, 10000, 0.25, 1.0001659393310547},
                        {k_bfloat, 1, 0x1p-9F, 512, 1, 2}, {k_bfloat, 0, 1, 1024, 256, 1024}};
  Random random(3);
  for (const Case& row : cases) {
    CAPTURE(row.increment);
    float nearest = row.start;
    for (int i = 0; i < row.count; ++i) {
      nearest = rounded(nearest + row.increment, row.format, OverflowRule::saturate);
    }
    CHECK(nearest == row.nearest);
    constexpr int k_runs = 40;
    double sum = 0;
    for (int run = 0; run < k_runs; ++run) {
      float sr = row.start;
      for (int i = 0; i < row.count; ++i) {
        sr = stochastically_rounded(sr + row.increment, row.format, OverflowRule::saturate, random.unit());
      }
      sum += static_cast<double>(sr);
    }
    // Each addition errs by at most a step of variance increment * step; steps grow up to that of the result.
    const double step = 2 * range_of(row.format).unit_roundoff * row.exact;
    const double deviation = std::sqrt(row.count * static_cast<double>(row.increment) * step / k_runs);
    CHECK(std::abs(sum / k_runs - row.exact) < 5 * deviation);
  }
}

TEST_CASE("number format: single precision is left alone and has no 16 bits") {
  CHECK(rounded(0.1F, NumberFormat::float32, OverflowRule::saturate) == 0.1F);
  CHECK(stochastically_rounded(0.1F, NumberFormat::float32, OverflowRule::saturate, 0.0) == 0.1F);
  CHECK(range_of(NumberFormat::float32).largest == static_cast<double>(std::numeric_limits<float>::max()));
  CHECK_THROWS_AS(bits_of(1, NumberFormat::float32), InternalError);
  CHECK_THROWS_AS(value_of(1, NumberFormat::float32), InternalError);
}
