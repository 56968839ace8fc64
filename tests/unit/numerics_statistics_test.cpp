#include <doctest/doctest.h>

#include <cmath>

#include "sim/numerics/statistics.hpp"

using namespace podsim;

TEST_CASE("spearman: a rising relation has 1, a falling one -1, whatever its shape") {
  CHECK(*spearman({{1, 1}, {2, 100}, {3, 101}}) == doctest::Approx(1));
  CHECK(*spearman({{1, 9}, {2, 4}, {3, -1}}) == doctest::Approx(-1));
}

// Without ties: 1 - 6 Σ d² / (n (n² - 1)), here d = 0, 1, -1, 0 and n = 4.
TEST_CASE("spearman: without ties it is the formula of rank differences") {
  CHECK(*spearman({{1, 10}, {2, 30}, {3, 20}, {4, 40}}) == doctest::Approx(1.0 - 6.0 * 2 / (4 * 15)));
}

// Ranks 0, 1.5, 1.5, 3 against 0, 1, 2, 3: covariance 4.5, variances 4.5 and 5.
TEST_CASE("spearman: equal values share the mean of their ranks") {
  CHECK(*spearman({{1, 1}, {2, 2}, {2, 3}, {3, 4}}) == doctest::Approx(4.5 / std::sqrt(4.5 * 5.0)));
}

TEST_CASE("spearman: one pair or a constant side has none") {
  CHECK_FALSE(spearman({}).has_value());
  CHECK_FALSE(spearman({{1, 2}}).has_value());
  CHECK_FALSE(spearman({{1, 2}, {1, 3}}).has_value());
}
