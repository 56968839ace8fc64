#include <doctest/doctest.h>

#include <array>
#include <cstdint>

#include "sim/core/check.hpp"
#include "sim/core/random.hpp"

using namespace podsim;

TEST_CASE("random: SplitMix64 gives the published sequence") {
  SplitMix64 generator(1234567);
  CHECK(generator.next() == 6457827717110365317u);
  CHECK(generator.next() == 3203168211198807973u);
  CHECK(generator.next() == 9817491932198370423u);
  CHECK(generator.next() == 4593380528125082431u);
  CHECK(generator.next() == 16408922859458223821u);
}

TEST_CASE("random: equal seeds give equal draws, other seeds others") {
  Random a(7), b(7), c(8);
  bool differs = false;
  for (int i = 0; i < 100; ++i) {
    const std::uint64_t draw = a.next();
    CHECK(draw == b.next());
    differs = differs || draw != c.next();
  }
  CHECK(differs);
}

TEST_CASE("random: draws stay in their range and reach all of it") {
  Random random(1);
  std::array<int, 5> hits{};
  for (int i = 0; i < 1000; ++i) {
    const std::int64_t draw = random.between(-2, 2);
    REQUIRE(draw >= -2);
    REQUIRE(draw <= 2);
    ++hits[static_cast<std::size_t>(draw + 2)];
    const double unit = random.unit();
    REQUIRE(unit >= 0.0);
    REQUIRE(unit < 1.0);
  }
  // 1000 draws of 1/5: mean 200, standard deviation sqrt(1000 · 0.2 · 0.8) = 12.6; six of them either way.
  for (const int count : hits) {
    CHECK(count > 124);
    CHECK(count < 276);
  }
}

TEST_CASE("random: the whole range of integers and single values can be drawn, nothing can not") {
  Random random(3);
  bool negative = false, positive = false;
  for (int i = 0; i < 64; ++i) {
    const std::int64_t draw = random.between(INT64_MIN, INT64_MAX);
    negative = negative || draw < 0;
    positive = positive || draw > 0;
  }
  CHECK(negative);
  CHECK(positive);
  CHECK(random.between(4, 4) == 4);
  CHECK(random.below(1) == 0);
  CHECK_THROWS_AS(random.below(0), InternalError);
  CHECK_THROWS_AS(random.between(1, 0), InternalError);
}
