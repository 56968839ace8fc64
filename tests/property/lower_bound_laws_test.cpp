// The lower bound against what is simulated, and the critical path against the bound.
#include <doctest/doctest.h>

#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/observe/critical_path.hpp"
#include "tests/support/paths.hpp"
#include "tests/support/random_program.hpp"

using namespace podsim;

namespace {

constexpr std::uint64_t k_seeds = 200;

// Whether transfers of a segment may meet on a link.
bool contended(const Platform& platform, const Segment& segment) {
  std::vector<int> users(platform.links().size(), 0);
  for (const Op& op : segment.ops) {
    if (op.kind != OpKind::transfer || op.bytes == Bytes(0)) continue;
    for (const LinkId link : platform[op.route].links) {
      if (++users[link.index()] > 1) return true;
    }
  }
  return false;
}

// A flow's end is rounded each time that its share changes: at most once for each op of its segment.
std::int64_t roundings(const Segment& segment) {
  return static_cast<std::int64_t>(segment.ops.size());
}

void check_bound(Engine& engine, const test::RandomCase& random) {
  const LowerBound bound(random.platform, random.program);
  const RunResult result = engine.run(random.platform, random.program);
  for (std::uint32_t i = 0; i < random.program.segments.size(); ++i) {
    const SimTime simulated = result.segment_duration[i];
    if (simulated == SimTime()) continue;  // it is empty, or no block runs it
    const Segment& segment = random.program.segments[i];
    CAPTURE(segment.name);
    if (contended(random.platform, segment)) {
      CHECK(simulated + SimTime(roundings(segment)) >= bound.segment(SegmentId(i)));
    } else {
      CHECK(simulated == bound.segment(SegmentId(i)));
    }
  }
}

}  // namespace

TEST_CASE("bound: no run is shorter, and one without contention is as long, on either engine") {
  for (const char* name : {"native", "simgrid"}) {
    CAPTURE(name);
    Engine engine = make_engine(name, test::build_dir());
    for (const std::uint64_t seed : test::seeds(1, k_seeds)) {
      INFO("again with PODSIM_SEED=", seed);
      check_bound(engine, test::random_case(seed));
      check_bound(engine, test::random_case(seed, {6, 60, 4, 12}));  // links enough for segments without contention
    }
  }
}

TEST_CASE("bound: the same for the whole program is the sum over its blocks") {
  Engine engine = make_engine("native");
  for (const std::uint64_t seed : test::seeds(1, k_seeds)) {
    INFO("again with PODSIM_SEED=", seed);
    const test::RandomCase random = test::random_case(seed, {6, 60, 4, 3});
    bool any = false;
    for (const Segment& segment : random.program.segments) any |= contended(random.platform, segment);
    if (any) continue;
    CHECK(LowerBound(random.platform, random.program).total() == engine.run(random.platform, random.program).total);
  }
}

TEST_CASE("critical path: its ops add up to the run, and no saving is below zero or above the bound") {
  Engine engine = make_engine("native");
  for (const std::uint64_t seed : test::seeds(1, k_seeds)) {
    INFO("again with PODSIM_SEED=", seed);
    const test::RandomCase random = test::random_case(seed);
    CriticalPathObserver observer(1000);
    Observer* const observers[] = {&observer};
    const RunResult result = engine.run(random.platform, random.program, observers);
    const CriticalPath& path = observer.path();
    SimTime of_ops;
    SimTime of_resources;
    for (const CriticalOps& ops : path.ops) {
      of_ops += ops.time;
      CHECK(ops.sharing <= ops.time);
      CHECK(ops.saves >= SimTime());
      CHECK(ops.saves <= path.bound);
    }
    for (const CriticalResource& resource : path.resources) {
      of_resources += resource.time;
      CHECK(resource.saves >= SimTime());
      CHECK(resource.saves <= path.bound);
    }
    CHECK(of_ops == result.total);
    CHECK(of_resources == result.total);
    CHECK(path.total == result.total);
  }
}
