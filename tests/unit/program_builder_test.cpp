#include <doctest/doctest.h>

#include "sim/core/check.hpp"
#include "sim/program/builder.hpp"

using namespace podsim;

namespace {

CostVector compute(std::int64_t time) {
  CostVector cost;
  cost[CostCategory::compute] = SimTime(time);
  return cost;
}

std::vector<OpId> successors(const Segment& segment, OpId op) {
  return {segment.successors.begin() + segment.successor_begin[op.index()],
          segment.successors.begin() + segment.successor_begin[op.index() + 1]};
}

}  // namespace

TEST_CASE("builder: locals of one device follow each other, those of another do not") {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
  const OpId a = segment.local(DeviceId(0), compute(1), "a");
  const OpId other = segment.local(DeviceId(1), compute(1), "other");
  const OpId b = segment.local(DeviceId(0), compute(1), "b");
  builder.add(std::move(segment));
  const Program program = std::move(builder).build({});
  CHECK(successors(program.segments[0], a) == std::vector{b});
  CHECK(successors(program.segments[0], other).empty());
  CHECK(program.segments[0].predecessor_count == std::vector<std::uint32_t>{0, 0, 1});
}

TEST_CASE("builder: a chained transfer stands between the locals of its device") {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
  const OpId a = segment.local(DeviceId(0), compute(1), "a");
  const OpId send =
      segment.transfer(DeviceId(0), DeviceId(1), RouteId(0), Bytes(1), CostCategory::inter_device, "send");
  segment.chain(send);
  const OpId b = segment.local(DeviceId(0), compute(1), "b");
  builder.add(std::move(segment));
  const Program program = std::move(builder).build({});
  CHECK(successors(program.segments[0], a) == std::vector{send});
  CHECK(successors(program.segments[0], send) == std::vector{b});
}

TEST_CASE("builder: an edge stated twice counts once") {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
  const OpId a = segment.local(DeviceId(0), compute(1), "a");
  const OpId b = segment.local(DeviceId(0), compute(1), "b");
  segment.depend(a, b);
  builder.add(std::move(segment));
  const Program program = std::move(builder).build({});
  CHECK(program.segments[0].predecessor_count[b.index()] == 1);
  CHECK(successors(program.segments[0], a) == std::vector{b});
}

TEST_CASE("builder: an edge to an unknown op is our fault") {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("lonely");
  segment.depend(segment.join("a"), OpId(7));
  CHECK_THROWS_WITH_AS(builder.add(std::move(segment)), doctest::Contains("lonely: an edge to an unknown op"),
                       InternalError);
}

TEST_CASE("builder: equal costs, labels and categories are stored once") {
  ProgramBuilder builder;
  CHECK(builder.cost(compute(5)) == builder.cost(compute(5)));
  CHECK(builder.cost(compute(5)) != builder.cost(compute(6)));
  CHECK(builder.label("x") == builder.label("x"));
  CHECK(builder.label("x") != builder.label("y"));
  CHECK(builder.memory_category("weights") == builder.memory_category("weights"));
  const Program program = std::move(builder).build({});
  CHECK(program.costs.size() == 2);
  CHECK(program.labels == std::vector<std::string>{"x", "y"});
  CHECK(program.memory_categories == std::vector<std::string>{"weights"});
}

TEST_CASE("builder: a local made of interned parts is the same op") {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
  segment.local(DeviceId(0), compute(5), "x");
  segment.local(DeviceId(0), builder.cost(compute(5)), builder.label("x"));
  builder.add(std::move(segment));
  const Program program = std::move(builder).build({});
  const auto& ops = program.segments[0].ops;
  CHECK(ops[0].cost == ops[1].cost);
  CHECK(ops[0].label == ops[1].label);
  CHECK(ops[1].duration == SimTime(5));
}

TEST_CASE("builder: memory steps are ordered by op, start before finish") {
  ProgramBuilder builder;
  const MemoryCategory category = builder.memory_category("c");
  SegmentBuilder segment = builder.segment("s");
  const OpId a = segment.local(DeviceId(0), compute(1), "a");
  const OpId b = segment.local(DeviceId(0), compute(1), "b");
  segment.memory_at_finish(b, MemoryId(0), category, Bytes(-1));
  segment.memory_at_start(b, MemoryId(0), category, Bytes(2));
  segment.memory_at_start(a, MemoryId(0), category, Bytes(3));
  builder.add(std::move(segment));
  const Program program = std::move(builder).build({});
  const auto& steps = program.segments[0].memory_steps;
  CHECK(steps[0].change == Bytes(3));
  CHECK(steps[1].change == Bytes(2));
  CHECK(steps[2].change == Bytes(-1));
}

TEST_CASE("builder: categories of cost have the names of reports") {
  CHECK(name(CostCategory::compute) == "compute");
  CHECK(name(CostCategory::off_chip_memory) == "off_chip_memory");
  CHECK(name(CostCategory::other) == "other");
}

TEST_CASE("builder: many costs keep their ids") {
  ProgramBuilder builder;
  for (std::uint32_t i = 0; i < 1000; ++i) CHECK(builder.cost(compute(i)) == CostId(i));
  for (std::uint32_t i = 0; i < 1000; ++i) CHECK(builder.cost(compute(i)) == CostId(i));
}
