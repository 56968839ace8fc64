// Laws that hold for every valid program, on seeded random ones; the seed in a failure reproduces it.
#include <doctest/doctest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/program/builder.hpp"
#include "tests/support/random_program.hpp"

using namespace podsim;

namespace {

constexpr std::uint64_t k_seeds = 200;

template <class Law>
void for_random_cases(Law law) {
  Engine engine = make_engine("native");
  for (const std::uint64_t seed : test::seeds(1, k_seeds)) {
    INFO("again with PODSIM_SEED=", seed);
    const test::RandomCase random = test::random_case(seed);
    verify(random.program, random.platform);
    law(engine, random);
  }
}

void check_same_measures(const RunResult& a, const RunResult& b) {
  CHECK(a.total == b.total);
  CHECK(a.segment_duration == b.segment_duration);
  for (std::size_t i = 0; i < a.devices.size(); ++i) {
    CHECK(a.devices[i].breakdown == b.devices[i].breakdown);
    CHECK(a.devices[i].busy == b.devices[i].busy);
  }
  for (std::size_t i = 0; i < a.links.size(); ++i) {
    CHECK(a.links[i].bytes == b.links[i].bytes);
    CHECK(a.links[i].busy == b.links[i].busy);
  }
  for (std::size_t i = 0; i < a.memories.size(); ++i) {
    CHECK(a.memories[i].peak == b.memories[i].peak);
    CHECK(a.memories[i].peak_time == b.memories[i].peak_time);
    CHECK(a.memories[i].categories_at_peak == b.memories[i].categories_at_peak);
  }
}

// The shortest time an op can take: alone on its links.
std::int64_t alone(const Platform& platform, const Op& op) {
  if (op.kind != OpKind::transfer) return op.duration.picoseconds();
  const Route& route = platform[op.route];
  Duration slowest;
  for (const LinkId link : route.links) slowest = std::max(slowest, op.bytes.size() / platform[link].bandwidth);
  return (route.latency + to_sim_time(slowest)).picoseconds();
}

class OrderLaw final : public Observer {
 public:
  void segment(const SegmentRun& run) override {
    const Segment& segment = run.segment;
    for (std::size_t i = 0; i < segment.ops.size(); ++i) {
      const std::int64_t took = (run.finish[i] - run.start[i]).picoseconds();
      const std::int64_t least = alone(run.platform, segment.ops[i]);
      if (segment.ops[i].kind == OpKind::transfer) {
        CHECK(took >= least - 1);  // a flow's end is rounded each time its share changes
      } else {
        CHECK(took == least);
      }
      for (std::uint32_t s = segment.successor_begin[i]; s < segment.successor_begin[i + 1]; ++s) {
        CHECK(run.start[segment.successors[s].index()] >= run.finish[i]);
      }
    }
  }
};

// The links that do in a segment what `link` does.
std::vector<std::size_t> carriers(const Program& program, const Segment& segment, LinkId link, std::size_t links) {
  if (!segment.fold.valid()) return {link.index()};
  std::vector<std::size_t> result;
  for (std::size_t i = 0; i < links; ++i) {
    if (program.folds[segment.fold.index()].link_representative[i] == link) result.push_back(i);
  }
  return result;
}

// What the transfers of a program send over each link, by walking every block.
void send(const test::RandomCase& random, const std::vector<ProgramBlock>& blocks, std::int64_t times,
          std::vector<Bytes>& sent) {
  for (const ProgramBlock& block : blocks) {
    if (const Repeat* repeat = std::get_if<Repeat>(&block)) {
      send(random, repeat->blocks, times * repeat->count, sent);
      continue;
    }
    const Segment& segment = random.program[std::get<SegmentId>(block)];
    for (const Op& op : segment.ops) {
      if (op.kind != OpKind::transfer) continue;
      for (const LinkId link : random.platform[op.route].links) {
        for (const std::size_t carrier : carriers(random.program, segment, link, sent.size())) {
          sent[carrier] += op.bytes * times;
        }
      }
    }
  }
}

}  // namespace

TEST_CASE("laws: no op starts before its predecessors end or is faster than alone") {
  for_random_cases([](Engine& engine, const test::RandomCase& random) {
    OrderLaw law;
    Observer* const observers[] = {&law};
    engine.run(random.platform, random.program, observers);
  });
}

TEST_CASE("laws: merging changes no measure") {
  for_random_cases([](Engine& engine, const test::RandomCase& random) {
    const Program merged = merge(random.program);
    verify(merged, random.platform);
    const RunResult full = engine.run(random.platform, random.program);
    const RunResult fused = engine.run(random.platform, merged);
    check_same_measures(full, fused);
    CHECK(fused.events <= full.events);
  });
}

TEST_CASE("laws: executing every iteration changes no measure") {
  for_random_cases([](Engine& engine, const test::RandomCase& random) {
    const RunResult once = engine.run(random.platform, random.program);
    const RunResult exact = engine.run(random.platform, random.program, {}, {.exact = true});
    check_same_measures(once, exact);
    CHECK_FALSE(exact.repeats);
    CHECK(exact.segments_executed >= once.segments_executed);
  });
}

TEST_CASE("laws: breakdowns sum to the total and peaks to their categories") {
  for_random_cases([](Engine& engine, const test::RandomCase& random) {
    const RunResult result = engine.run(random.platform, random.program);
    for (const DeviceUse& device : result.devices) {
      CHECK(device.breakdown.total() == result.total);
      for (const SimTime part : device.breakdown.part) CHECK(part >= SimTime(0));
      CHECK(device.busy <= result.total);
    }
    for (const LinkUse& link : result.links) CHECK(link.busy <= result.total);
    for (const MemoryUse& memory : result.memories) {
      CHECK(memory.peak >= memory.always_live);
      Bytes sum;
      for (const Bytes bytes : memory.categories_at_peak) sum += bytes;
      CHECK(sum == memory.peak);
    }
  });
}

TEST_CASE("laws: bytes sent are bytes carried") {
  for_random_cases([](Engine& engine, const test::RandomCase& random) {
    std::vector<Bytes> sent(random.platform.links().size());
    send(random, random.program.blocks, 1, sent);
    const RunResult result = engine.run(random.platform, random.program);
    for (std::size_t i = 0; i < sent.size(); ++i) CHECK(result.links[i].bytes == sent[i]);
  });
}

TEST_CASE("laws: doubling every rate halves the time") {
  for_random_cases([](Engine& engine, const test::RandomCase& random) {
    const RunResult slow = engine.run(random.platform, random.program);
    const test::RandomCase faster = test::twice_as_fast(random);
    const RunResult fast = engine.run(faster.platform, faster.program);
    for (std::size_t i = 0; i < slow.segment_duration.size(); ++i) {
      // Every event is rounded by at most half a picosecond in either run.
      const auto events = static_cast<std::int64_t>(random.program.segments[i].ops.size());
      const std::int64_t off = slow.segment_duration[i].picoseconds() - 2 * fast.segment_duration[i].picoseconds();
      CHECK(std::abs(off) <= 2 * events);
    }
  });
}
