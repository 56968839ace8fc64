#include <doctest/doctest.h>

#include <csignal>
#include <string>
#include <vector>

#include "sim/core/check.hpp"
#include "sim/core/diagnostics.hpp"
#include "sim/engine/engine.hpp"
#include "sim/program/builder.hpp"
#include "tests/support/paths.hpp"

using namespace podsim;

namespace {

CostVector compute(std::int64_t time) {
  CostVector cost;
  cost[CostCategory::compute] = SimTime(time);
  return cost;
}

Platform one_device() {
  Platform platform;
  platform.add(Device{"chip"});
  return platform;
}

SegmentId add_work(ProgramBuilder& builder, const std::string& name, std::int64_t time) {
  SegmentBuilder segment = builder.segment(name);
  segment.local(DeviceId(0), compute(time), name);
  return builder.add(std::move(segment));
}

struct Call {
  std::uint32_t segment;
  std::int64_t begin;
  std::int64_t iterations;
  friend bool operator==(const Call&, const Call&) = default;
};

class Calls final : public Observer {
 public:
  void begin(const Platform&, const Program&) override { ++begins; }
  void segment(const SegmentRun& run) override {
    calls.push_back({run.id.value(), run.begin.picoseconds(), run.iterations});
  }
  void end(SimTime time) override { total = time; }
  std::vector<Call> calls;
  int begins = 0;
  SimTime total;
};

// a (10 ps), then 3 updates of 4 cycles of b (100 ps) and one c (1000 ps), then a again.
Program nested() {
  ProgramBuilder builder;
  const SegmentId a = add_work(builder, "a", 10);
  const SegmentId b = add_work(builder, "b", 100);
  const SegmentId c = add_work(builder, "c", 1000);
  return std::move(builder).build({a, Repeat{3, "updates", {Repeat{4, "cycles", {b}}, c}}, a});
}

constexpr std::int64_t k_nested_total = 10 + 3 * (4 * 100 + 1000) + 10;

}  // namespace

TEST_CASE("engine: repeats multiply, and every place of a segment is told once") {
  Calls calls;
  Observer* const observers[] = {&calls};
  const RunResult result = make_engine("native").run(one_device(), nested(), observers);
  CHECK(result.total == SimTime(k_nested_total));
  CHECK(calls.calls == std::vector<Call>{{0, 0, 1}, {1, 10, 12}, {2, 410, 3}, {0, 10 + 3 * 1400, 1}});
  CHECK(calls.begins == 1);
  CHECK(calls.total == result.total);
  CHECK(result.segments_executed == 3);
  CHECK(result.events == 3);
  CHECK(result.repeats);
  CHECK(result.segment_duration == std::vector{SimTime(10), SimTime(100), SimTime(1000)});
}

TEST_CASE("engine: exact runs execute every iteration") {
  Calls calls;
  Observer* const observers[] = {&calls};
  const RunResult result = make_engine("native").run(one_device(), nested(), observers, {.exact = true});
  CHECK(result.total == SimTime(k_nested_total));
  CHECK(result.segments_executed == 2 + 3 * (4 + 1));
  CHECK(calls.calls.size() == 2 + 3 * (4 + 1));
  CHECK(calls.calls[2] == Call{1, 110, 1});
  CHECK_FALSE(result.repeats);
}

TEST_CASE("engine: a segment that did not run has no duration") {
  ProgramBuilder builder;
  const SegmentId a = add_work(builder, "a", 10);
  add_work(builder, "idle", 100);
  const RunResult result = make_engine("native").run(one_device(), std::move(builder).build({a}));
  CHECK(result.segment_duration[1] == SimTime(0));
  CHECK(result.total == SimTime(10));
}

TEST_CASE("engine: an empty segment takes no time") {
  ProgramBuilder builder;
  const SegmentId empty = builder.add(builder.segment("empty"));
  const RunResult result = make_engine("native").run(one_device(), std::move(builder).build({empty}));
  CHECK(result.total == SimTime(0));
  CHECK(result.devices[0].breakdown.total() == SimTime(0));
}

TEST_CASE("engine: a standstill names who waits for what, on either engine") {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("stuck");
  const OpId fine = segment.local(DeviceId(0), compute(5), "fine");
  std::vector<OpId> ring;
  for (int i = 0; i < 12; ++i) ring.push_back(segment.join("op" + std::to_string(i)));
  for (std::size_t i = 0; i < 12; ++i) segment.depend(ring[i], ring[(i + 1) % 12]);
  const OpId behind = segment.local(DeviceId(0), compute(5), "behind");
  segment.depend(ring[0], behind);
  segment.depend(fine, ring[3]);
  const SegmentId id = builder.add(std::move(segment));
  const Program program = std::move(builder).build({id});
  for (const char* name : {"native", "simgrid"}) {
    CAPTURE(name);
    Engine engine = make_engine(name, test::build_dir());
    std::string text;
    try {
      engine.run(one_device(), program);
    } catch (const InternalError& error) {
      text = error.what();
    }
    CHECK(text.find("segment \"stuck\" stands still:\n  \"op0\" waits for \"op11\"") != std::string::npos);
    CHECK(text.find("\"op3\" waits for \"op2\"\n") != std::string::npos);
    CHECK(text.find("\"op10\"  waits") == std::string::npos);
    CHECK(text.find("and 3 more ops") != std::string::npos);
    CHECK(text.find("fine") == std::string::npos);
  }
}

TEST_CASE("engine: a standstill names the device of a local") {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("stuck");
  const OpId a = segment.local(DeviceId(0), compute(5), "a");
  const OpId b = segment.local(DeviceId(0), compute(5), "b");
  segment.depend(b, a);
  const SegmentId id = builder.add(std::move(segment));
  CHECK_THROWS_WITH_AS(make_engine("native").run(one_device(), std::move(builder).build({id})),
                       doctest::Contains("\"a\" on chip waits for \"b\""), InternalError);
}

TEST_CASE("engine: an engine can be used again after a standstill") {
  ProgramBuilder builder;
  SegmentBuilder segment = builder.segment("stuck");
  const OpId a = segment.join("a");
  segment.depend(a, a);
  const SegmentId id = builder.add(std::move(segment));
  const Program stuck = std::move(builder).build({id});
  for (const char* name : {"native", "simgrid"}) {
    CAPTURE(name);
    Engine engine = make_engine(name, test::build_dir());
    CHECK_THROWS_AS(engine.run(one_device(), stuck), InternalError);
    CHECK(engine.run(one_device(), nested()).total == SimTime(k_nested_total));
  }
}

TEST_CASE("engine: engines have the names they are asked for by") {
  CHECK(make_engine("native").name() == "native");
  CHECK(make_engine("simgrid", test::build_dir()).name() == "simgrid");
}

TEST_CASE("engine: an unknown name is the user's fault, with a suggestion") {
  CHECK_THROWS_WITH_AS(
      make_engine("simgird"),
      doctest::Contains("no engine is called \"simgird\"; expected simgrid or native; did you mean \"simgrid\"?"),
      ConfigError);
}

TEST_CASE("engine: a module that is not there is the user's fault") {
  CHECK_THROWS_WITH_AS(make_engine("simgrid", "/nowhere"), doctest::Contains("the module cannot be opened: "),
                       ConfigError);
  CHECK_THROWS_WITH_AS(make_engine("simgrid", "/nowhere"), doctest::Contains("/nowhere/libpodsim_simgrid.so"),
                       ConfigError);
}

TEST_CASE("engine: the reference leaves the program's signal handlers alone") {
  void (*const mine)(int) = [](int) {};
  const auto before_interrupt = std::signal(SIGINT, mine);
  const auto before_fault = std::signal(SIGSEGV, mine);
  make_engine("simgrid", test::build_dir()).run(one_device(), nested());
  const bool kept_interrupt = std::signal(SIGINT, before_interrupt) == mine;
  const bool kept_fault = std::signal(SIGSEGV, before_fault) == mine;
  CHECK(kept_interrupt);
  CHECK(kept_fault);
}
