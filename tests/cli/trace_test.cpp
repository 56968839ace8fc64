// Do traces keep to the documented format, so that viewers show them as they are?
#include <doctest/doctest.h>

#include <string>

#include "sim/config/value.hpp"
#include "tests/support/experiment_folder.hpp"
#include "tests/support/trace_check.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

std::string event(const std::string& members) {
  return R"({"displayTimeUnit":"ns","traceEvents":[)"
         R"({"ph":"M","pid":1,"tid":0,"name":"process_name","args":{"name":"p"}},)"
         R"({"ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"t"}})" +
         (members.empty() ? "" : ",{" + members + "}") + "]}";
}

std::string slice(const std::string& begin, const std::string& duration) {
  return R"("ph":"X","pid":1,"tid":1,"name":"s","cat":"c","ts":)" + begin + R"(,"dur":)" + duration;
}

std::string first_problem(const std::string& members) {
  const std::vector<std::string> problems = trace_problems(event(members));
  return problems.empty() ? "" : problems.front();
}

}  // namespace

TEST_CASE("trace: those of pipelines, sections, folded and whole runs keep to the format") {
  const ExperimentFolder folder;
  for (const char* arguments :
       {"experiment.toml", "experiment.toml --no-fold", "experiment.toml --merge", "resnet50-bow-pod16",
        "gpt2-xl-two-sn30", "llama-3-70b-sn40l-8", "gpt2-caraml-pod4 --exact"}) {
    CAPTURE(arguments);
    const CommandResult result =
        folder.podsim(std::string("run ") + arguments + " --engine native --force --trace t.json --quiet");
    CHECK_MESSAGE(result.exit_code == 0, result.err);
    const std::string trace = folder.read("t.json");
    CHECK(trace.size() < 100'000'000);
    for (const std::string& problem : trace_problems(trace)) FAIL_CHECK(problem);
  }
}

TEST_CASE("trace: both engines write one that keeps to the format") {
  const ExperimentFolder folder;
  CHECK(folder.podsim("run experiment.toml --engine simgrid --trace t.json --quiet").exit_code == 0);
  for (const std::string& problem : trace_problems(folder.read("t.json"))) FAIL_CHECK(problem);
}

TEST_CASE("trace: hostile names of an experiment's device leave it valid") {
  const ExperimentFolder folder;
  folder.change("experiment.toml", "name = \"case\"", "name = \"</script>\\\"\\u0001\"");
  CHECK(folder.podsim("run experiment.toml --engine native --trace t.json --quiet").exit_code == 0);
  for (const std::string& problem : trace_problems(folder.read("t.json"))) FAIL_CHECK(problem);
}

TEST_CASE("trace: what is against the format is found") {
  CHECK(first_problem("").empty());
  CHECK(first_problem(slice("0", "1.5")).empty());
  CHECK(first_problem(slice("0", "2") + "},{" + slice("0.5", "1")).empty());
  CHECK(contains(first_problem(slice("0", "2") + "},{" + slice("1", "2")), "overlaps one that ends at 2000000 ps"));
  CHECK(contains(first_problem(slice("0", "-1")), "dur is no time from 0 on"));
  CHECK(contains(first_problem(slice("\"0\"", "1")), "ts is no time from 0 on"));
  CHECK(
      contains(first_problem(R"("ph":"X","pid":1,"tid":2,"name":"s","cat":"c","ts":0,"dur":1)"), "track 1, 2 has no"));
  CHECK(
      contains(first_problem(R"("ph":"C","pid":2,"tid":0,"name":"m","ts":0,"args":{"bytes":1})"), "process 2 has no"));
  CHECK(contains(first_problem(R"("ph":"C","pid":1,"tid":0,"name":"m","ts":0,"args":{})"), "a counter without values"));
  CHECK(contains(first_problem(R"("ph":"Z","pid":1,"tid":0,"name":"m")"), "an event of kind Z"));
  CHECK(contains(first_problem(slice("0", "1") + R"(,"cname":"pink")"), "unknown colour pink"));
  CHECK(contains(first_problem(R"("ph":"M","pid":1,"tid":1,"name":"thread_name","args":{"name":"u"})"), "two names"));
}
