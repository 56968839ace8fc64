#include <doctest/doctest.h>

#include <string>

#include "sim/config/value.hpp"
#include "sim/report/trace.hpp"

using namespace podsim;

namespace {

Trace sample_trace() {
  Trace trace;
  trace.tracks = {{TrackKind::program, "program"}, {TrackKind::device, "d\"0"}, {TrackKind::link, "l0"}};
  trace.names = {"cycle", "work"};
  trace.memories = {"m0"};
  trace.slices = {{0, SimTime(0), SimTime(3'000'001), 0, CostCategory::other, Bytes()},
                  {1, SimTime(1), SimTime(2'000'000), 1, CostCategory::compute, Bytes()},
                  {2, SimTime(1'000'000), SimTime(5), 1, CostCategory::inter_device, Bytes(64)}};
  trace.levels = {{0, SimTime(0), Bytes(7)}};
  trace.total = SimTime(3'000'001);
  trace.limit = 10;
  return trace;
}

}  // namespace

TEST_CASE("trace json: slices and counters stand in microseconds with six decimals") {
  const std::string text = to_trace_json(sample_trace());
  const auto has = [&](const std::string& part) { return text.find(part) != std::string::npos; };
  CHECK(has(R"({"ph":"X","pid":1,"tid":1,"ts":0.000000,"dur":3.000001,"name":"cycle","cat":"program"})"));
  CHECK(has(R"({"ph":"X","pid":2,"tid":2,"ts":0.000001,"dur":2.000000,"name":"work","cat":"compute",)"
            R"("cname":"thread_state_running"})"));
  CHECK(has(R"({"ph":"X","pid":3,"tid":3,"ts":1.000000,"dur":0.000005,"name":"work",)"
            R"("cat":"inter_device","cname":"rail_response","args":{"bytes":64}})"));
  CHECK(has(R"({"ph":"C","pid":4,"tid":0,"ts":0.000000,"name":"m0","args":{"bytes":7}})"));
  CHECK(has(R"({"ph":"M","pid":2,"tid":2,"name":"thread_name","args":{"name":"d\"0"}})"));
  CHECK_FALSE(has("cut here"));
}

TEST_CASE("trace json: the whole is JSON with a list of events") {
  Diagnostics diagnostics;
  const auto value = parse_json(to_trace_json(sample_trace()), "trace.json", diagnostics);
  REQUIRE(value.has_value());
  CHECK(diagnostics.all().empty());
  // 2 per process, 2 per track, 3 slices, 1 level.
  CHECK(value->find("traceEvents")->elements().size() == 2 * 4 + 2 * 3 + 3 + 1);
}

TEST_CASE("trace json: a cut trace says where and how much is missing") {
  Trace trace = sample_trace();
  trace.left_out = 12;
  const std::string text = to_trace_json(trace);
  CHECK(text.find(R"("ts":1.000005,"s":"g","name":"cut here: 12 further slices left out, above the limit of 10")") !=
        std::string::npos);
  CHECK(text.find(R"("left_out":12)") != std::string::npos);
}

TEST_CASE("trace json: what was simulated for others, or is repeated, is marked") {
  Trace trace = sample_trace();
  trace.tracks[1].same_as = "d4";
  trace.slices[0].iterations = 176;
  const std::string text = to_trace_json(trace);
  CHECK(text.find("\"args\":{\"name\":\"d\\\"0 (simulated as d4)\"}}") != std::string::npos);
  CHECK(text.find("\"cat\":\"program\",\"args\":{\"runs\":176,\"shown\":1}}") != std::string::npos);
}
