// What makes the native engine fit for sweeps: its memory is used again, and engines share nothing.
#include <doctest/doctest.h>

#include <thread>
#include <vector>

#include "sim/engine/engine.hpp"
#include "tests/support/allocations.hpp"
#include "tests/support/random_program.hpp"

using namespace podsim;

namespace {

constexpr std::uint64_t k_seeds = 60;
constexpr test::RandomLimits k_limits{8, 6, 5, 80};

std::vector<RunResult> results_of(std::uint64_t first_seed) {
  Engine engine = make_engine("native");
  std::vector<RunResult> results;
  for (std::uint64_t seed = first_seed; seed < first_seed + k_seeds; ++seed) {
    const test::RandomCase random = test::random_case(seed, k_limits);
    results.push_back(engine.run(random.platform, random.program));
  }
  return results;
}

void check_equal(const std::vector<RunResult>& a, const std::vector<RunResult>& b) {
  REQUIRE(a.size() == b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    CHECK(a[i].total == b[i].total);
    CHECK(a[i].segment_duration == b[i].segment_duration);
    for (std::size_t d = 0; d < a[i].devices.size(); ++d) {
      CHECK(a[i].devices[d].breakdown == b[i].devices[d].breakdown);
    }
  }
}

}  // namespace

TEST_CASE("engine: a native run after one of the same shape allocates nothing") {
  for (std::uint64_t seed = 1; seed <= k_seeds; ++seed) {
    CAPTURE(seed);
    const test::RandomCase random = test::random_case(seed, k_limits);
    Engine engine = make_engine("native");
    RunResult result;
    engine.run_into(result, random.platform, random.program);
    const std::int64_t before = test::allocations();
    engine.run_into(result, random.platform, random.program);
    engine.run_into(result, random.platform, random.program, {}, {.exact = true});
    const RunTime time = engine.time(random.platform, random.program);
    CHECK(test::allocations() == before);
    CHECK(time.total == result.total);
  }
}

TEST_CASE("engine: allocations are counted") {
  const std::int64_t before = test::allocations();
  const std::vector<int> one(1000);
  CHECK(test::allocations() == before + 1);
  CHECK(one.size() == 1000);
}

TEST_CASE("engine: time without measures is that with them") {
  Engine engine = make_engine("native");
  for (std::uint64_t seed = 1; seed <= k_seeds; ++seed) {
    CAPTURE(seed);
    const test::RandomCase random = test::random_case(seed, k_limits);
    const RunResult measured = engine.run(random.platform, random.program);
    const RunTime timed = engine.time(random.platform, random.program);
    CHECK(timed.total == measured.total);
    CHECK(timed.events == measured.events);
    CHECK(engine.time(random.platform, random.program, {.exact = true}).total == measured.total);
  }
}

TEST_CASE("engine: a result used again is the result of a fresh one") {
  Engine engine = make_engine("native");
  RunResult reused;
  for (std::uint64_t seed = 1; seed <= k_seeds; ++seed) {
    CAPTURE(seed);
    const test::RandomCase random = test::random_case(seed, k_limits);
    engine.run_into(reused, random.platform, random.program);
    const RunResult fresh = make_engine("native").run(random.platform, random.program);
    check_equal({reused}, {fresh});
    CHECK(reused.events == fresh.events);
    CHECK(reused.folded == fresh.folded);
    CHECK(reused.repeats == fresh.repeats);
    REQUIRE(reused.memories.size() == fresh.memories.size());
    for (std::size_t m = 0; m < fresh.memories.size(); ++m) {
      CHECK(reused.memories[m].categories_at_peak == fresh.memories[m].categories_at_peak);
      CHECK(reused.memories[m].peak_time == fresh.memories[m].peak_time);
    }
  }
}

TEST_CASE("engine: native engines of two threads do not disturb each other") {
  const std::vector<RunResult> first_alone = results_of(100);
  const std::vector<RunResult> second_alone = results_of(500);
  std::vector<RunResult> first;
  std::vector<RunResult> second;
  std::thread one([&] { first = results_of(100); });
  std::thread other([&] { second = results_of(500); });
  one.join();
  other.join();
  check_equal(first, first_alone);
  check_equal(second, second_alone);
}
