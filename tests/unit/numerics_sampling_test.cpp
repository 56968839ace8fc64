// Do draws and the normal distribution have the moments and values that their formulas say?
#include <doctest/doctest.h>

#include <cmath>

#include "sim/core/check.hpp"
#include "sim/numerics/normal.hpp"
#include "sim/numerics/sampling.hpp"

using namespace podsim;

TEST_CASE("normal: tabulated values, far tails and the quantile as inverse") {
  CHECK(normal_cdf(0) == 0.5);
  CHECK(normal_cdf(-1.25) == doctest::Approx(0.1056497737).epsilon(1e-9));
  CHECK(normal_tail(2) == doctest::Approx(0.02275013195).epsilon(1e-9));
  CHECK(normal_tail(30) == doctest::Approx(4.906713927148187e-198).epsilon(1e-9));
  CHECK(-normal_quantile(1e-7) == doctest::Approx(5.19934).epsilon(1e-6));
  for (const double p : {1e-300, 1e-20, 1e-6, 0.01, 0.3, 0.5, 0.7, 0.99}) {
    CAPTURE(p);
    CHECK(normal_cdf(normal_quantile(p)) == doctest::Approx(p).epsilon(1e-10));
  }
  CHECK(normal_quantile(0.25) == doctest::Approx(-normal_quantile(0.75)).epsilon(1e-12));
  CHECK_THROWS_AS(normal_quantile(0), InternalError);
  CHECK_THROWS_AS(normal_quantile(1), InternalError);
}

TEST_CASE("sampling: streams differ by every key and repeat by the same") {
  const auto first = [](std::uint64_t seed, std::uint64_t a, std::uint64_t b) {
    return keyed_random(seed, {a, b}).next();
  };
  CHECK(first(1, 2, 3) == first(1, 2, 3));
  CHECK(first(1, 2, 3) != first(2, 2, 3));
  CHECK(first(1, 2, 3) != first(1, 3, 3));
  CHECK(first(1, 2, 3) != first(1, 2, 4));
  CHECK(first(1, 2, 3) != first(1, 3, 2));
}

TEST_CASE("sampling: means and variances are those of the distributions") {
  constexpr int k_draws = 40'000;
  Random random(11);
  double sum = 0;
  double squares = 0;
  double exponential = 0;
  for (int i = 0; i < k_draws; ++i) {
    const double z = draw_normal(random);
    sum += z;
    squares += z * z;
    exponential += draw_exponential(random, 2);
  }
  // Standard deviations of the means: 1, sqrt(2) and 2 over sqrt(n); five of them.
  CHECK(std::abs(sum / k_draws) < 5 / std::sqrt(k_draws));
  CHECK(std::abs(squares / k_draws - 1) < 5 * std::sqrt(2.0 / k_draws));
  CHECK(std::abs(exponential / k_draws - 2) < 5 * 2 / std::sqrt(k_draws));
  for (const double mean : {0.0, 0.1, 3.0, 49.0, 51.0, 1e9}) {
    CAPTURE(mean);
    double total = 0;
    double spread = 0;
    for (int i = 0; i < k_draws; ++i) {
      const double count = draw_count(random, mean);
      REQUIRE(count >= 0);
      REQUIRE(count == std::floor(count));
      total += count;
      spread += (count - mean) * (count - mean);
    }
    CHECK(std::abs(total / k_draws - mean) <= 5 * std::sqrt(mean / k_draws));
    // The variance of a count is its mean; that of its estimate mean (1 + 2 mean) / n. Rounding adds 1/12.
    CHECK(std::abs(spread / k_draws - mean) <= 5 * std::sqrt(mean * (1 + 2 * mean) / k_draws) + 0.1 * (mean > 50));
  }
  CHECK_THROWS_AS(draw_count(random, -1), InternalError);
}
