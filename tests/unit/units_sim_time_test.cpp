#include <doctest/doctest.h>

#include <limits>
#include <stdexcept>

#include "sim/units/bytes.hpp"
#include "sim/units/sim_time.hpp"

using namespace podsim;

TEST_CASE("sim time: a duration is rounded to the nearest picosecond") {
  CHECK(to_sim_time(seconds(1.4e-12)) == SimTime(1));
  CHECK(to_sim_time(seconds(1.6e-12)) == SimTime(2));
  CHECK(to_sim_time(seconds(12.682)) == SimTime(12'682'000'000'000));
}

TEST_CASE("sim time: a negative or endless duration is our fault") {
  CHECK_THROWS_AS(to_sim_time(seconds(-1)), std::range_error);
  CHECK_THROWS_AS(to_sim_time(seconds(std::numeric_limits<double>::infinity())), std::range_error);
}

TEST_CASE("bytes: a computed size is rounded up to whole bytes") {
  CHECK(round_up_bytes(data_bytes(10.0)) == Bytes(10));
  CHECK(round_up_bytes(data_bytes(10.1)) == Bytes(11));
}

TEST_CASE("quantities: dimensions follow the arithmetic") {
  CHECK((Bytes(100).size() / bytes_per_second(50)).in_base() == 2.0);
  CHECK((cycles(1.85e9) / hertz(1.85e9)).in_base() == 1.0);
  CHECK(seconds(3) / seconds(2) == 1.5);
}
