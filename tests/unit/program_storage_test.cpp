// A program built in the room that earlier ones left is the program built alone, and what it says of its changes holds.
#include <doctest/doctest.h>

#include <string>

#include "sim/core/check.hpp"
#include "sim/core/random.hpp"
#include "sim/engine/engine.hpp"
#include "sim/program/builder.hpp"
#include "tests/support/random_program.hpp"

using namespace podsim;

namespace {

CostVector compute(std::int64_t time) {
  CostVector cost;
  cost[CostCategory::compute] = SimTime(time);
  return cost;
}

Platform platform() {
  Platform platform;
  for (const char* name : {"a", "b", "c"}) platform.add(Device{name});
  platform.add(Memory{"a.memory", DeviceId(0), Bytes(1'000'000), Bytes(1'000'000)});
  for (const char* name : {"first", "second"}) {
    const LinkId link = platform.add(Link{name, bytes_per_second(1e9)});
    platform.add(Route{name, {link}, SimTime(1000)});
  }
  return platform;
}

// What decides a small program.
struct Figures {
  std::int64_t work = 100;
  std::int64_t bytes = 5000;
  std::int64_t held = 10;
  std::int64_t repeats = 3;
  std::uint32_t route = 0;
  bool second_copy = false;
  bool ordered = false;
  bool more = false;  // a segment in front
};

Program build(const Figures& figures, ProgramStorage* storage) {
  ProgramBuilder builder(storage);
  const MemoryCategory category = builder.memory_category("held");
  std::vector<ProgramBlock> blocks;
  if (figures.more) {
    SegmentBuilder front = builder.segment("front");
    front.local(DeviceId(2), compute(7), "front");
    blocks.emplace_back(builder.add(std::move(front)));
  }
  SegmentBuilder cycle = builder.segment("a cycle with a long name");
  const OpId work = cycle.local(DeviceId(0), compute(figures.work), "work");
  cycle.memory_at_start(work, MemoryId(0), category, Bytes(figures.held));
  cycle.memory_at_finish(work, MemoryId(0), category, Bytes(-figures.held));
  const auto send = [&] {
    return cycle.transfer(DeviceId(0), DeviceId(1), RouteId(figures.route), Bytes(figures.bytes),
                          CostCategory::inter_device, "send");
  };
  const OpId sent = send();
  if (figures.second_copy) send();
  if (figures.ordered) cycle.depend(work, sent);
  const SegmentId cycle_id = builder.add(std::move(cycle));
  builder.mark("cycle", cycle_id);
  SegmentBuilder update = builder.segment("update");
  update.local(DeviceId(1), compute(50), "update");
  const SegmentId update_id = builder.add(std::move(update));
  blocks.emplace_back(Repeat{figures.repeats, "cycles", {cycle_id}});
  blocks.emplace_back(update_id);
  builder.always_live(MemoryId(0), category, Bytes(77));
  return std::move(builder).build(std::move(blocks));
}

// All that a program says, but for the numbers of costs and labels.
std::string told(const Program& program) {
  std::string text;
  const auto add = [&](const auto&... values) { ((text += std::to_string(values) + " "), ...); };
  for (const Segment& segment : program.segments) {
    text += "\n" + segment.name + ": ";
    add(segment.fold.value());
    for (const Op& op : segment.ops) {
      add(static_cast<int>(op.kind), static_cast<int>(op.category), op.device.value(), op.peer.value(),
          op.route.value(), op.duration.picoseconds(), op.bytes.count());
      text += program.labels[op.label.index()] + " ";
      if (op.kind != OpKind::local) continue;
      for (const SimTime part : program.costs[op.cost.index()].part) add(part.picoseconds());
    }
    for (const std::uint32_t begin : segment.successor_begin) add(begin);
    for (const OpId next : segment.successors) add(next.value());
    for (const std::uint32_t count : segment.predecessor_count) add(count);
    for (const MemoryStep& step : segment.memory_steps) {
      add(step.op.value(), static_cast<int>(step.from_finish), step.offset.picoseconds(), step.memory.value(),
          static_cast<int>(step.category), step.change.count());
    }
  }
  for (const std::string& category : program.memory_categories) text += category + " ";
  for (const AlwaysLive& live : program.always_live) add(live.memory.value(), live.bytes.count());
  for (const auto& [name, segments] : program.marks) {
    text += name + " ";
    for (const SegmentId segment : segments) add(segment.value());
  }
  return text;
}

}  // namespace

TEST_CASE("program storage: what changed is told by segment, and nothing else is") {
  using enum SegmentChange;
  ProgramStorage storage;
  const auto changes_to = [&](const Figures& figures) {
    Program program = build(figures, &storage);
    CHECK(told(program) == told(build(figures, nullptr)));
    const std::vector<SegmentChange> changes = storage.changes();
    storage.give_back(std::move(program));
    return changes;
  };
  CHECK(changes_to({}) == std::vector{shape, shape});
  CHECK(changes_to({}) == std::vector{none, none});
  CHECK(changes_to({.repeats = 9}) == std::vector{none, none});
  CHECK(changes_to({.work = 101}) == std::vector{figures, none});
  CHECK(changes_to({.work = 101, .bytes = 4}) == std::vector{figures, none});
  CHECK(changes_to({.work = 101, .bytes = 4, .held = 11}) == std::vector{figures, none});
  CHECK(changes_to({}) == std::vector{figures, none});
  CHECK(changes_to({.route = 1}) == std::vector{shape, none});
  CHECK(changes_to({.route = 1, .ordered = true}) == std::vector{shape, none});
  CHECK(changes_to({.second_copy = true}) == std::vector{shape, none});
  CHECK(changes_to({.more = true}) == std::vector{shape, shape, shape});
  CHECK(changes_to({}) == std::vector{shape, shape});
}

TEST_CASE("program storage: a program that never came back is no pattern") {
  ProgramStorage storage;
  storage.give_back(build({}, &storage));
  build({.work = 5}, &storage);  // what used it failed
  Program program = build({.work = 5}, &storage);
  CHECK(storage.changes() == std::vector{SegmentChange::shape, SegmentChange::shape});
  CHECK(told(program) == told(build({.work = 5}, nullptr)));
  storage.give_back(std::move(program));
  CHECK_THROWS_AS(storage.give_back({}), InternalError);
}

TEST_CASE("program storage: other representatives make every folded segment one to look at again") {
  ProgramStorage storage;
  const auto folded = [&](DeviceId representative) {
    ProgramBuilder builder(&storage);
    FoldMap map = unfolded(platform());
    map.device_representative[2] = representative;
    SegmentBuilder segment = builder.segment("folded");
    segment.fold(builder.fold(map));
    segment.local(DeviceId(0), compute(5), "work");
    const SegmentId id = builder.add(std::move(segment));
    Program program = std::move(builder).build({id});
    const SegmentChange change = storage.changes().front();
    storage.give_back(std::move(program));
    return change;
  };
  CHECK(folded(DeviceId(0)) == SegmentChange::shape);
  CHECK(folded(DeviceId(0)) == SegmentChange::none);
  CHECK(folded(DeviceId(1)) == SegmentChange::figures);
}

TEST_CASE("program storage: runs with the times of unchanged segments measure what runs alone do") {
  const Platform machine = platform();
  ProgramStorage storage;
  SegmentTimes times;
  Engine engine = make_engine("native");
  RunResult again;
  Random random(7);
  for (int i = 0; i < 200; ++i) {
    Figures figures;
    figures.work += static_cast<std::int64_t>(random.below(2));
    figures.bytes += static_cast<std::int64_t>(random.below(2));
    figures.repeats += static_cast<std::int64_t>(random.below(3));
    figures.second_copy = random.below(4) == 0;
    figures.ordered = random.below(4) == 0;
    figures.more = random.below(4) == 0;
    Program program = build(figures, &storage);
    verify(program, machine, storage.changes());
    times.keep_unchanged(storage.changes());
    engine.run_again(again, machine, program, times);
    const RunResult alone = engine.run(machine, build(figures, nullptr));
    CHECK(again.total == alone.total);
    CHECK(again.events == alone.events);
    CHECK(again.segment_duration == alone.segment_duration);
    for (std::size_t d = 0; d < alone.devices.size(); ++d) {
      CHECK(again.devices[d].breakdown == alone.devices[d].breakdown);
    }
    CHECK(again.memories[0].peak == alone.memories[0].peak);
    storage.give_back(std::move(program));
  }
}

TEST_CASE("verify: figures that changed are looked at, with or without a new shape") {
  const Platform machine = platform();
  Program program = build({}, nullptr);
  program.segments[0].ops[1].bytes = Bytes(-1);
  const std::vector<SegmentChange> figures{SegmentChange::figures, SegmentChange::none};
  CHECK_THROWS_AS(verify(program, machine, figures), InternalError);
  const std::vector<SegmentChange> none{SegmentChange::none, SegmentChange::none};
  CHECK_NOTHROW(verify(program, machine, none));
  CHECK_THROWS_AS(verify(program, machine), InternalError);
}
