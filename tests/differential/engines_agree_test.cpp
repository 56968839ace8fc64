// The two engines share no scheduling code, so where they agree op by op, both are probably right.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <vector>

#include "sim/engine/engine.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/random_program.hpp"

using namespace podsim;

namespace {

struct Times {
  std::vector<SimTime> start;
  std::vector<SimTime> finish;
  SimTime duration;
};

class Recorder final : public Observer {
 public:
  void segment(const SegmentRun& run) override {
    segments[run.id] = {{run.start.begin(), run.start.end()}, {run.finish.begin(), run.finish.end()}, run.duration};
  }
  std::map<SegmentId, Times> segments;
};

std::map<SegmentId, Times> times_of(Engine& engine, const test::RandomCase& random) {
  Recorder recorder;
  Observer* const observers[] = {&recorder};
  engine.run(random.platform, random.program, observers);
  return recorder.segments;
}

// The largest difference between two engines on a case, in units of what is allowed.
double disagreement(Engine& one, Engine& other, const test::RandomCase& random) {
  const auto a = times_of(one, random);
  const auto b = times_of(other, random);
  REQUIRE(a.size() == b.size());
  double worst = 0;
  for (const auto& [id, times] : a) {
    const double allowed = std::max(1e-9 * static_cast<double>(times.duration.picoseconds()), 16.0);
    const auto off = [allowed](SimTime x, SimTime y) {
      return std::abs(static_cast<double>((x - y).picoseconds())) / allowed;
    };
    for (std::size_t i = 0; i < times.start.size(); ++i) {
      worst = std::max(worst, off(times.start[i], b.at(id).start[i]));
      worst = std::max(worst, off(times.finish[i], b.at(id).finish[i]));
    }
  }
  return worst;
}

void compare(std::uint64_t first_seed, std::uint64_t seeds, test::RandomLimits limits) {
  Engine native = make_engine("native");
  Engine reference = make_engine("simgrid", test::build_dir());
  for (std::uint64_t seed = first_seed; seed < first_seed + seeds; ++seed) {
    CAPTURE(seed);
    const test::RandomCase random = test::random_case(seed, limits);
    verify(random.program, random.platform);
    CHECK(disagreement(native, reference, random) <= 1.0);
  }
}

}  // namespace

TEST_CASE("engines: agree on small random programs") {
  compare(1000, 150, {3, 3, 4, 12});
}

TEST_CASE("engines: agree on random programs with contention") {
  compare(2000, 100, {6, 8, 5, 40});
}

TEST_CASE("engines: agree on many flows over few links") {
  compare(3000, 20, {12, 6, 2, 150});
}

TEST_CASE("engines: agree on large random programs") {
  compare(4000, 6, {24, 40, 2, 600});
}

TEST_CASE("engines: the reference gives the same times whatever ran before") {
  Engine reference = make_engine("simgrid", test::build_dir());
  const test::RandomCase random = test::random_case(7, {6, 4, 3, 60});
  const auto before = times_of(reference, random);
  for (std::uint64_t seed = 5000; seed < 5020; ++seed) times_of(reference, test::random_case(seed));
  const auto after = times_of(reference, random);
  REQUIRE(before.size() == after.size());
  for (const auto& [id, times] : before) {
    CHECK(times.start == after.at(id).start);
    CHECK(times.finish == after.at(id).finish);
  }
}

TEST_CASE("engines: the reference executes every iteration like the first") {
  Engine reference = make_engine("simgrid", test::build_dir());
  for (std::uint64_t seed = 6000; seed < 6030; ++seed) {
    CAPTURE(seed);
    const test::RandomCase random = test::random_case(seed);
    const RunResult once = reference.run(random.platform, random.program);
    const RunResult exact = reference.run(random.platform, random.program, {}, {.exact = true});
    CHECK(once.total == exact.total);
    CHECK(once.segment_duration == exact.segment_duration);
    for (std::size_t i = 0; i < once.devices.size(); ++i) {
      CHECK(once.devices[i].breakdown == exact.devices[i].breakdown);
      CHECK(once.devices[i].busy == exact.devices[i].busy);
    }
  }
}
