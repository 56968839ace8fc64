// The two engines share no scheduling code, so where they agree op by op, both are probably right.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/program/builder.hpp"
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

// What two engines may differ by in a segment, in picoseconds.
double allowed(const Times& times) {
  return std::max(1e-9 * static_cast<double>(times.duration.picoseconds()), 16.0);
}

double difference(SimTime a, SimTime b) {
  return std::abs(static_cast<double>((a - b).picoseconds()));
}

// The largest difference of a start or finish, in units of what is allowed.
double disagreement(const Times& a, const Times& b) {
  double worst = 0;
  for (std::size_t i = 0; i < a.start.size(); ++i) {
    worst = std::max({worst, difference(a.start[i], b.start[i]), difference(a.finish[i], b.finish[i])});
  }
  return worst / allowed(a);
}

// Whether ops end in the same order; ends that are closer than what is allowed may stand in either.
bool same_order(const Times& a, const Times& b) {
  std::vector<std::size_t> order(a.finish.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t i, std::size_t k) { return a.finish[i] < a.finish[k]; });
  SimTime latest;  // in b, of the groups before
  SimTime latest_of_group;
  for (std::size_t i = 0; i < order.size(); ++i) {
    const bool new_group = i > 0 && difference(a.finish[order[i]], a.finish[order[i - 1]]) > allowed(a);
    if (new_group) latest = std::max(latest, latest_of_group);
    if (b.finish[order[i]] < latest) return false;
    latest_of_group = std::max(latest_of_group, b.finish[order[i]]);
  }
  return true;
}

void check_agreement(Engine& one, Engine& other, const test::RandomCase& random) {
  const auto a = times_of(one, random);
  const auto b = times_of(other, random);
  REQUIRE(a.size() == b.size());
  for (const auto& [id, times] : a) {
    INFO("segment ", id.value());
    CHECK(disagreement(times, b.at(id)) <= 1.0);
    CHECK(same_order(times, b.at(id)));
  }
}

void compare(std::uint64_t first_seed, std::uint64_t count, test::RandomLimits limits) {
  Engine native = make_engine("native");
  Engine reference = make_engine("simgrid", test::build_dir());
  for (const std::uint64_t seed : test::seeds(first_seed, count)) {
    INFO("again with PODSIM_SEED=", seed);
    const test::RandomCase random = test::random_case(seed, limits);
    verify(random.program, random.platform);
    check_agreement(native, reference, random);
  }
}

// Ops that start or end at one instant have no order: their numbers must not make one.
void check_numbering(Engine& engine, const test::RandomCase& random, std::uint64_t seed) {
  test::RandomCase shuffled = random;
  std::vector<std::vector<OpId>> ids;
  for (Segment& segment : shuffled.program.segments) {
    test::Renumbered other = test::renumbered(segment, seed);
    segment = std::move(other.segment);
    ids.push_back(std::move(other.id));
  }
  verify(shuffled.program, shuffled.platform);
  const auto a = times_of(engine, random);
  const auto b = times_of(engine, shuffled);
  for (const auto& [id, times] : a) {
    INFO("segment ", id.value());
    Times back = times;
    for (std::size_t i = 0; i < times.start.size(); ++i) {
      const std::size_t other = ids[id.index()][i].index();
      back.start[i] = b.at(id).start[other];
      back.finish[i] = b.at(id).finish[other];
    }
    CHECK(disagreement(times, back) <= 1.0);
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

TEST_CASE("engines: agree on a thousand flows over links that have nothing to do with each other") {
  constexpr std::uint32_t k_hops = 300;
  test::RandomCase rings;
  for (std::uint32_t i = 0; i < k_hops; ++i) {
    rings.platform.add(Device{"device" + std::to_string(i)});
    const LinkId link = rings.platform.add(Link{"hop" + std::to_string(i), bytes_per_second(1e9 + 1e6 * i)});
    rings.platform.add(Route{"hop" + std::to_string(i), {link}, SimTime(1000 * (i % 3))});
  }
  ProgramBuilder builder;
  SegmentBuilder round = builder.segment("round");
  CostVector work;
  work[CostCategory::compute] = SimTime(777'000);
  for (std::uint32_t i = 0; i < k_hops; ++i) {
    const DeviceId from(i);
    const DeviceId to((i + 1) % k_hops);
    OpId last = round.local(from, work, "work");
    for (std::uint32_t flow = 0; flow < 4; ++flow) {
      const OpId sent =
          round.transfer(from, to, RouteId(i), Bytes(1000 + 100 * (flow + i % 7)), CostCategory::collective, "chunk");
      if (flow % 2 == 1) round.depend(last, sent);
      last = sent;
    }
  }
  const SegmentId id = builder.add(std::move(round));
  rings.program = std::move(builder).build({id});
  verify(rings.program, rings.platform);
  Engine native = make_engine("native");
  Engine reference = make_engine("simgrid", test::build_dir());
  check_agreement(native, reference, rings);
}

TEST_CASE("engines: agree on two thousand random programs") {
  compare(100'000, 1000, {3, 3, 4, 12});
  compare(200'000, 800, {8, 8, 5, 60});
  compare(300'000, 150, {12, 6, 2, 200});
  compare(400'000, 50, {24, 40, 2, 600});
}

TEST_CASE("engines: the numbers of ops change nothing") {
  for (const char* name : {"native", "simgrid"}) {
    CAPTURE(name);
    Engine engine = make_engine(name, test::build_dir());
    for (const std::uint64_t seed : test::seeds(7000, 60)) {
      INFO("again with PODSIM_SEED=", seed);
      check_numbering(engine, test::random_case(seed, {6, 5, 3, 60}), seed);
    }
  }
}

TEST_CASE("engines: a difference of times or of order would be seen") {
  const Times one{{SimTime(0), SimTime(0)}, {SimTime(1000), SimTime(2000)}, SimTime(2000)};
  Times other = one;
  CHECK(disagreement(one, other) == 0.0);
  other.finish[0] = SimTime(1017);
  CHECK(disagreement(one, other) > 1.0);
  CHECK(same_order(one, other));
  other.finish[0] = SimTime(2001);
  CHECK_FALSE(same_order(one, other));
  const Times close{{SimTime(0), SimTime(0)}, {SimTime(1000), SimTime(1010)}, SimTime(1010)};
  Times swapped = close;
  std::swap(swapped.finish[0], swapped.finish[1]);
  CHECK(same_order(close, swapped));
}

TEST_CASE("engines: the reference gives the same times after a thousand other platforms") {
  Engine reference = make_engine("simgrid", test::build_dir());
  const test::RandomCase random = test::random_case(7, {6, 4, 3, 60});
  const test::RandomCase larger = test::random_case(8, {24, 200, 1, 200});  // more links than an Engine begins with
  const auto before = times_of(reference, random);
  const auto before_larger = times_of(reference, larger);
  for (std::uint64_t seed = 8000; seed < 9000; ++seed) times_of(reference, test::random_case(seed, {3, 4, 2, 10}));
  const auto after = times_of(reference, random);
  const auto after_larger = times_of(reference, larger);
  for (const auto& [id, times] : before) CHECK(times.finish == after.at(id).finish);
  for (const auto& [id, times] : before_larger) CHECK(times.finish == after_larger.at(id).finish);
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
