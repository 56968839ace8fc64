// How far constants may be off: ranges that they state, factors of their confidence, and draws from both.

#include <doctest/doctest.h>

#include <cmath>

#include "sim/numerics/normal.hpp"
#include "sim/study/spread.hpp"

using namespace podsim;

namespace {

Constant constant(const std::string& value, const std::string& spread, const std::string& confidence = "fitted") {
  ConstantSet set;
  Diagnostics diagnostics;
  const bool bare = value.find(' ') == std::string::npos;
  const std::string text = "c = { value = " + (bare ? value : "'" + value + "'") + ", source = 's', confidence = '" +
                           confidence + "', spread = '" + spread + "' }";
  set.add(*parse_toml(text, "c.toml", diagnostics), "", {}, diagnostics);
  REQUIRE_MESSAGE(set.size() == 1, diagnostics.to_text());
  return set[*set.find("c")];
}

void check_range(const Constant& one, double low, double high) {
  const ConstantSpread spread = stated_spread(one);
  CAPTURE(one.spread);
  CHECK(spread.stated);
  CHECK(spread.low * one.base_value == doctest::Approx(low).epsilon(1e-12));
  CHECK(spread.high * one.base_value == doctest::Approx(high).epsilon(1e-12));
}

}  // namespace

TEST_CASE("spread: a range is read in any unit of the constant, with remarks around it") {
  check_range(constant("9.12 GB/s", "8.7 to 9.4 GB/s"), 8.7e9, 9.4e9);
  check_range(constant("5 ms", "0 to 10 ms"), 0, 10e-3);
  check_range(constant("608 cycles", "579 to 620"), 579, 620);  // without a unit in that of the value
  check_range(constant("0.195", "0.195 to 0.200; width 480 to 3200"), 0.195, 0.2);
  check_range(constant("1.0", "1 to 1.175, the factors of others"), 1, 1.175);
  check_range(constant("0.92", "any value from 0.875 to 0.965 will do"), 0.875, 0.965);
  check_range(constant("59 us", "0.05 to 0.07 ms"), 50e-6, 70e-6);
}

TEST_CASE("spread: a range that misses the value reaches to it") {
  check_range(constant("1.119", "1.12 to 1.13"), 1.119, 1.13);
}

TEST_CASE("spread: words are no range") {
  for (const char* words : {"", "at most 208 MB", "8.1 when fitted with others", "scatter down to 0.18 of it",
                            "9 to 3 things", "12.5 or 25 GB/s", " to 5"}) {
    CAPTURE(words);
    CHECK_FALSE(stated_spread(constant("5 GB/s", words)).stated);
  }
}

TEST_CASE("spread: without a range the confidence decides, and what the user states is exact") {
  const Spreads spreads(ConfigFiles::embedded());
  const ConstantSpread assumed = spreads.of(constant("2.5", "no room for more", "assumed"));
  CHECK(assumed.high == 1.5);
  CHECK(assumed.low == doctest::Approx(1 / 1.5));
  CHECK(spreads.of(constant("2.5", "2 to 3", "assumed")).high == doctest::Approx(1.2));
  CHECK(spreads.of(constant("2.5", "", "user")).exact());
  CHECK(spreads.of(constant("2.5", "", "datasheet")).exact());
  CHECK(spreads.of(constant("0", "", "assumed")).exact());
}

TEST_CASE("spread: P10, P50 and P90 of the draws are the ends of the range and the value") {
  const double z90 = normal_quantile(0.9);
  const ConstantSpread spread{0.8, 1.5, true};
  CHECK(factor_at(spread, 0) == 1);
  CHECK(factor_at(spread, z90) == doctest::Approx(1.5));
  CHECK(factor_at(spread, -z90) == doctest::Approx(0.8));
  const ConstantSpread from_zero{0, 2, true};
  CHECK(factor_at(from_zero, -z90 / 2) == doctest::Approx(0.5));
  CHECK(factor_at(from_zero, -5) == doctest::Approx(1e-3));

  int below = 0;
  int above = 0;
  constexpr int k_draws = 4000;
  for (int draw = 0; draw < k_draws; ++draw) {
    const double factor = factor_at(spread, drawn_z(7, draw, "system.link"));
    below += factor < 0.8 ? 1 : 0;
    above += factor > 1.5 ? 1 : 0;
  }
  // Binomial with n p = 400: a standard deviation of 19.
  CHECK(std::abs(below - 400) < 80);
  CHECK(std::abs(above - 400) < 80);
}

TEST_CASE("spread: a draw is the same whatever else is drawn, and differs by seed, number and name") {
  const double one = drawn_z(1, 5, "a");
  CHECK(drawn_z(1, 5, "a") == one);
  CHECK(drawn_z(2, 5, "a") != one);
  CHECK(drawn_z(1, 6, "a") != one);
  CHECK(drawn_z(1, 5, "b") != one);
}
