// What do partial sums in half precision lose?
#include <doctest/doctest.h>

#include <cmath>
#include <string>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/core/random.hpp"
#include "sim/numerics/partial_sums.hpp"
#include "sim/numerics/sampling.hpp"

using namespace podsim;

namespace {

Accumulation half_partials(int chunk) {
  return {NumberFormat::float16, chunk, OverflowRule::saturate};
}

constexpr Accumulation k_single{NumberFormat::float32, 16, OverflowRule::saturate};

}  // namespace

TEST_CASE("partial sums: known dot products stagnate, saturate or stay exact") {
  struct Case {
    std::string name;
    std::vector<float> a;
    std::vector<float> b;
    float by_one;
    float by_sixteen;
    float single;
  };
  const auto ones = [](std::size_t n) { return std::vector<float>(n, 1.0F); };
  std::vector<float> big_then_small(1025, 1.0F);
  big_then_small[0] = 2048;
  const float tenth = rounded(0.1F, NumberFormat::float16, OverflowRule::saturate);
  const Case cases[] = {
      {"4096 ones", ones(4096), ones(4096), 2048, 4096, 4096},
      {"65504 ones: 16 is half a step beyond 32768", ones(65504), ones(65504), 2048, 32768, 65504},
      {"overflow that cancels", {256, 256, 256, 256}, {256, 256, -256, -256}, -65504, 0, 0},
      {"small behind big", big_then_small, ones(1025), 2048, 3072, 3072},
      {"1024 tenths", std::vector<float>(1024, tenth), ones(1024), 108.1875F, 102.8125F, 102.375F},
  };
  for (const Case& row : cases) {
    CAPTURE(row.name);
    CHECK(dot_product(row.a, row.b, half_partials(1)) == row.by_one);
    CHECK(dot_product(row.a, row.b, half_partials(16)) == row.by_sixteen);
    CHECK(dot_product(row.a, row.b, k_single) == row.single);
  }
}

TEST_CASE("partial sums: infinities on overflow stay, since nothing cancels them") {
  const std::vector<float> a{256, 256, 256, 256};
  const std::vector<float> b{256, 256, -256, -256};
  CHECK(std::isinf(dot_product(a, b, {NumberFormat::float16, 2, OverflowRule::infinity})) == true);
  CHECK(dot_product(a, b, {NumberFormat::float16, 4, OverflowRule::infinity}) == 0);
}

TEST_CASE("partial sums: a coherent sum stops growing after the stagnation length") {
  for (const int chunk : {1, 4, 16}) {
    const double length = stagnation_length(half_partials(chunk));
    CHECK(length == 2048.0 * chunk);
    const std::vector<float> a(2 * static_cast<std::size_t>(length), 1.0F / 16);
    CHECK(dot_product(a, std::vector<float>(a.size(), 1.0F), half_partials(chunk)) == length / 16);
  }
}

TEST_CASE("partial sums: rounding errors of random sums are as large as the formulas say") {
  constexpr std::size_t k_length = 1024;
  constexpr int k_sums = 400;
  Random random(5);
  double incoherent = 0;
  double incoherent_size = 0;
  double coherent = 0;
  for (int run = 0; run < k_sums; ++run) {
    std::vector<float> a(k_length);
    std::vector<float> positive(k_length);
    for (std::size_t i = 0; i < k_length; ++i) {
      a[i] = static_cast<float>(draw_normal(random));
      positive[i] = static_cast<float>(0.5 + random.unit());
    }
    const std::vector<float> ones(k_length, 1.0F);
    const double exact = static_cast<double>(dot_product(a, ones, {NumberFormat::float32, 1024}));
    incoherent += std::pow(static_cast<double>(dot_product(a, ones, half_partials(16))) - exact, 2);
    incoherent_size += exact * exact;
    const double sum = static_cast<double>(dot_product(positive, ones, {NumberFormat::float32, 1024}));
    coherent += std::pow(static_cast<double>(dot_product(positive, ones, half_partials(16))) / sum - 1, 2);
  }
  // The formulas take the mantissa as log-uniform and the sum's size as its own root mean square: within a factor 1.5.
  const double measured = std::sqrt(incoherent / incoherent_size);
  CHECK(measured / incoherent_sum_error(k_length, half_partials(16)) == doctest::Approx(1).epsilon(0.5));
  CHECK(std::sqrt(coherent / k_sums) / coherent_sum_error(k_length, half_partials(16)) ==
        doctest::Approx(1).epsilon(0.5));
}

TEST_CASE("partial sums: nothing sums to nothing, and unequal operands are our fault") {
  CHECK(dot_product({}, {}, half_partials(16)) == 0);
  const std::vector<float> one{1};
  CHECK_THROWS_AS(dot_product(one, {}, half_partials(16)), InternalError);
  CHECK_THROWS_AS(dot_product(one, one, half_partials(0)), InternalError);
}
