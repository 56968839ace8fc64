#include <doctest/doctest.h>

#include "sim/program/builder.hpp"

using namespace podsim;

namespace {

CostVector cost_of(CostCategory category, std::int64_t time) {
  CostVector cost;
  cost[category] = SimTime(time);
  return cost;
}

}  // namespace

TEST_CASE("merge: a chain of locals becomes one op with the sum of its costs") {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
  segment.local(DeviceId(0), cost_of(CostCategory::compute, 3), "first");
  segment.local(DeviceId(0), cost_of(CostCategory::sync, 4), "middle");
  segment.local(DeviceId(0), cost_of(CostCategory::compute, 5), "last");
  builder.add(std::move(segment));
  const Program merged = merge(std::move(builder).build({SegmentId(0)}));
  REQUIRE(merged.segments[0].ops.size() == 1);
  const Op& op = merged.segments[0].ops[0];
  CHECK(op.duration == SimTime(3 + 4 + 5));
  CHECK(merged.costs[op.cost.index()][CostCategory::compute] == SimTime(3 + 5));
  CHECK(merged.costs[op.cost.index()][CostCategory::sync] == SimTime(4));
  CHECK(merged.labels[op.label.index()] == "first … last (3 ops)");
  CHECK(merged.segments[0].predecessor_count == std::vector<std::uint32_t>{0});
}

TEST_CASE("merge: an op that another device waits for ends its chain") {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
  segment.local(DeviceId(0), cost_of(CostCategory::compute, 1), "a");
  const OpId b = segment.local(DeviceId(0), cost_of(CostCategory::compute, 2), "b");
  segment.local(DeviceId(0), cost_of(CostCategory::compute, 3), "c");
  const OpId other = segment.local(DeviceId(1), cost_of(CostCategory::compute, 4), "other");
  segment.depend(b, other);
  builder.add(std::move(segment));
  const Program merged = merge(std::move(builder).build({SegmentId(0)}));
  const auto& ops = merged.segments[0].ops;
  REQUIRE(ops.size() == 3);
  CHECK(ops[0].duration == SimTime(1 + 2));
  CHECK(ops[1].duration == SimTime(3));
  CHECK(ops[2].duration == SimTime(4));
  CHECK(merged.segments[0].successors == std::vector{OpId(1), OpId(2)});
}

TEST_CASE("merge: memory steps keep their instants") {
  ProgramBuilder builder;
  const MemoryCategory category = builder.memory_category("c");
  SegmentBuilder segment = builder.segment("s");
  const OpId a = segment.local(DeviceId(0), cost_of(CostCategory::compute, 10), "a");
  const OpId b = segment.local(DeviceId(0), cost_of(CostCategory::compute, 20), "b");
  segment.memory_at_start(a, MemoryId(0), category, Bytes(1));
  segment.memory_at_finish(a, MemoryId(0), category, Bytes(2));
  segment.memory_at_start(b, MemoryId(0), category, Bytes(3));
  segment.memory_at_finish(b, MemoryId(0), category, Bytes(-6));
  builder.add(std::move(segment));
  const Program merged = merge(std::move(builder).build({SegmentId(0)}));
  const auto& steps = merged.segments[0].memory_steps;
  REQUIRE(steps.size() == 4);
  CHECK(steps[0].offset == SimTime(0));
  CHECK(steps[1].offset == SimTime(10));
  CHECK_FALSE(steps[1].from_finish);
  CHECK(steps[2].offset == SimTime(10));
  CHECK(steps[3].from_finish);
  CHECK(steps[3].offset == SimTime(0));
  for (const MemoryStep& step : steps) CHECK(step.op == OpId(0));
}

TEST_CASE("merge: transfers and joins stay") {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("s");
  segment.local(DeviceId(0), cost_of(CostCategory::compute, 1), "a");
  const OpId send =
      segment.transfer(DeviceId(0), DeviceId::none(), RouteId(0), Bytes(1), CostCategory::exchange, "send");
  segment.chain(send);
  segment.local(DeviceId(0), cost_of(CostCategory::compute, 1), "b");
  segment.join("j");
  builder.add(std::move(segment));
  const Program program = std::move(builder).build({SegmentId(0)});
  CHECK(merge(program).segments[0].ops.size() == program.segments[0].ops.size());
}
