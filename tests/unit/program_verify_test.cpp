#include <doctest/doctest.h>

#include <functional>

#include "sim/core/check.hpp"
#include "sim/program/builder.hpp"

using namespace podsim;

namespace {

struct Subject {
  Platform platform;
  Program program;
  Segment& segment() { return program.segments[0]; }
  FoldMap& fold() { return program.folds[0]; }
};

// Two devices that fold into one, each with a memory and a link; "work", "send" over link 0, "join".
Subject valid() {
  Subject subject;
  Platform& platform = subject.platform;
  for (const char* name : {"0", "1"}) {
    const DeviceId device = platform.add(Device{std::string("device") + name});
    platform.add(Memory{std::string("memory") + name, device, Bytes(100), Bytes(100)});
    const LinkId link = platform.add(Link{std::string("link") + name, bytes_per_second(1e9)});
    platform.add(Route{std::string("route") + name, {link}, SimTime(0)});
  }
  ProgramBuilder builder;
  const MemoryCategory category = builder.memory_category("activations");
  const FoldId fold = builder.fold({{DeviceId(0), DeviceId(0)}, {LinkId(0), LinkId(0)}, {MemoryId(0), MemoryId(0)}});
  SegmentBuilder segment = builder.segment("s");
  CostVector cost;
  cost[CostCategory::compute] = SimTime(10);
  const OpId work = segment.local(DeviceId(0), cost, "work");
  const OpId send =
      segment.transfer(DeviceId(0), DeviceId::none(), RouteId(0), Bytes(1), CostCategory::exchange, "send");
  const OpId join = segment.join("join");
  segment.depend(work, send);
  segment.depend(send, join);
  segment.memory_at_start(work, MemoryId(0), category, Bytes(5));
  segment.memory_at_finish(send, MemoryId(0), category, Bytes(-5));
  segment.fold(fold);
  const SegmentId id = builder.add(std::move(segment));
  builder.always_live(MemoryId(0), category, Bytes(7));
  builder.mark("cycle", id);
  subject.program = std::move(builder).build({Repeat{3, "cycles", {id}}});
  return subject;
}

void refuse(const char* message, const std::function<void(Subject&)>& spoil) {
  CAPTURE(message);
  Subject subject = valid();
  CHECK_NOTHROW(verify(subject.program, subject.platform));
  spoil(subject);
  CHECK_THROWS_WITH_AS(verify(subject.program, subject.platform), doctest::Contains(message), InternalError);
}

Repeat& repeat(Subject& subject) {
  return std::get<Repeat>(subject.program.blocks[0]);
}

}  // namespace

TEST_CASE("verify: folds name a representative for everything") {
  refuse("a fold has 1 devices of 2", [](Subject& s) { s.fold().device_representative.pop_back(); });
  refuse("a fold has 1 links of 2", [](Subject& s) { s.fold().link_representative.pop_back(); });
  refuse("a fold has 1 memories of 2", [](Subject& s) { s.fold().memory_representative.pop_back(); });
  refuse("a fold has a representative among the devices that does not stand for itself", [](Subject& s) {
    s.fold().device_representative = {DeviceId(1), DeviceId(0)};
  });
  refuse("segment \"s\": unknown fold", [](Subject& s) { s.segment().fold = FoldId(1); });
}

TEST_CASE("verify: folded segments use representatives only") {
  refuse("op 0 \"work\": on a device that its fold represents by another",
         [](Subject& s) { s.segment().ops[0].device = DeviceId(1); });
  refuse("op 1 \"send\": with a peer that its fold represents by another",
         [](Subject& s) { s.segment().ops[1].peer = DeviceId(1); });
  refuse("op 1 \"send\": over link \"link1\" that its fold represents by another",
         [](Subject& s) { s.segment().ops[1].route = RouteId(1); });
  refuse("op 0 \"work\": a step of memory \"memory1\" that its fold represents by another",
         [](Subject& s) { s.segment().memory_steps[0].memory = MemoryId(1); });
}

TEST_CASE("verify: the adjacency is whole") {
  refuse("segment \"s\": the adjacency does not fit its ops",
         [](Subject& s) { s.segment().successor_begin.pop_back(); });
  refuse("segment \"s\": the counts of predecessors do not fit its ops",
         [](Subject& s) { s.segment().predecessor_count.pop_back(); });
  refuse("segment \"s\": an edge to an unknown op", [](Subject& s) { s.segment().successors[0] = OpId(3); });
  refuse("segment \"s\": the counts of predecessors do not match the edges",
         [](Subject& s) { s.segment().predecessor_count[0] = 1; });
}

TEST_CASE("verify: no op waits for itself") {
  refuse("op 0 \"work\": waits in a cycle", [](Subject& s) {
    set_edges(s.segment(), {{OpId(0), OpId(1)}, {OpId(1), OpId(0)}});
  });
}

TEST_CASE("verify: every op has what its kind needs") {
  refuse("op 0 \"work\": no device", [](Subject& s) { s.segment().ops[0].device = DeviceId::none(); });
  refuse("op 0 \"work\": no cost", [](Subject& s) { s.segment().ops[0].cost = CostId::none(); });
  refuse("op 0 \"work\": a cost below 0", [](Subject& s) { s.program.costs[0].part[3] = SimTime(-1); });
  refuse("op 0 \"work\": costs of 10 ps do not sum to its duration of 11 ps",
         [](Subject& s) { s.segment().ops[0].duration = SimTime(11); });
  refuse("op 1 \"send\": no device", [](Subject& s) { s.segment().ops[1].device = DeviceId(2); });
  refuse("op 1 \"send\": no route", [](Subject& s) { s.segment().ops[1].route = RouteId(2); });
  refuse("op 1 \"send\": bytes below 0", [](Subject& s) { s.segment().ops[1].bytes = Bytes(-1); });
  refuse("op 1 \"send\": unknown peer", [](Subject& s) { s.segment().ops[1].peer = DeviceId(2); });
}

TEST_CASE("verify: an op without a label is still named") {
  refuse("op 0 \"no label\": no cost", [](Subject& s) {
    s.segment().ops[0].label = LabelId::none();
    s.segment().ops[0].cost = CostId::none();
  });
}

TEST_CASE("verify: memory steps belong to their ops") {
  refuse("segment \"s\": a memory step of an unknown op", [](Subject& s) { s.segment().memory_steps[1].op = OpId(9); });
  refuse("op 0 \"work\": a step of an unknown memory",
         [](Subject& s) { s.segment().memory_steps[0].memory = MemoryId(9); });
  refuse("op 0 \"work\": a memory step of an unknown category",
         [](Subject& s) { s.segment().memory_steps[0].category = 9; });
  refuse("op 0 \"work\": a memory step outside its op",
         [](Subject& s) { s.segment().memory_steps[0].offset = SimTime(11); });
  refuse("op 0 \"work\": memory steps out of order",
         [](Subject& s) { std::swap(s.segment().memory_steps[0], s.segment().memory_steps[1]); });
}

TEST_CASE("verify: a step within its local is fine") {
  Subject subject = valid();
  subject.segment().memory_steps[0].offset = SimTime(10);
  CHECK_NOTHROW(verify(subject.program, subject.platform));
}

TEST_CASE("verify: always live bytes have a place") {
  refuse("always live bytes of an unknown memory", [](Subject& s) { s.program.always_live[0].memory = MemoryId(2); });
  refuse("memory0: always live bytes of an unknown category",
         [](Subject& s) { s.program.always_live[0].category = 1; });
  refuse("memory0: always live bytes below 0", [](Subject& s) { s.program.always_live[0].bytes = Bytes(-1); });
}

TEST_CASE("verify: blocks and marks name segments of the program") {
  refuse("a block of an unknown segment", [](Subject& s) { repeat(s).blocks = {SegmentId(1)}; });
  refuse("mark \"cycle\": unknown segment", [](Subject& s) { s.program.marks["cycle"] = {SegmentId(1)}; });
}

TEST_CASE("verify: repeats run at least once and leave memory as it was") {
  refuse("repeat \"cycles\": a count of 0", [](Subject& s) { repeat(s).count = 0; });
  refuse("repeat \"cycles\": memory \"memory0\" changes by 1 bytes of activations in every iteration",
         [](Subject& s) { s.segment().memory_steps[1].change = Bytes(-4); });
}

TEST_CASE("verify: memory may change over segments that cancel out in the repeat around them") {
  Subject subject = valid();
  Segment grow = subject.segment();
  Segment shrink = subject.segment();
  grow.memory_steps[1].change = Bytes(-4);
  shrink.memory_steps[1].change = Bytes(-6);
  subject.program.segments = {grow, shrink};
  subject.program.blocks = {Repeat{3, "updates", {SegmentId(0), SegmentId(1)}}};
  CHECK_NOTHROW(verify(subject.program, subject.platform));
  subject.program.blocks = {Repeat{3, "updates", {Repeat{2, "cycles", {SegmentId(0)}}, SegmentId(1)}}};
  CHECK_THROWS_WITH_AS(verify(subject.program, subject.platform), doctest::Contains("repeat \"cycles\""),
                       InternalError);
}
