#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/config/value.hpp"
#include "sim/report/report.hpp"
#include "tests/support/hostile_texts.hpp"
#include "tests/support/sample_report.hpp"

using namespace podsim;

namespace {

Value parsed(const Report& report) {
  Diagnostics diagnostics;
  const auto value = parse_json(to_json(report), "report.json", diagnostics);
  REQUIRE(value.has_value());
  REQUIRE(diagnostics.all().empty());
  return *value;
}

void require_keys(const Value* table, const std::vector<std::string>& keys) {
  REQUIRE(table != nullptr);
  for (const std::string& key : keys) CHECK_MESSAGE(table->find(key) != nullptr, key);
}

const Value& first_of(const Value& report, const std::string& path) {
  const Value* list = report.find(path);
  REQUIRE(list != nullptr);
  REQUIRE(!list->elements().empty());
  return list->elements()[0];
}

}  // namespace

TEST_CASE("json report: every promised section is there") {
  const Value report = parsed(test::sample_report());
  require_keys(&report, {"tool", "inputs", "engine", "verdict", "evidence", "batch", "throughput", "latency", "step",
                         "schedule", "training", "compile", "devices", "links", "bottleneck", "loss_scaling", "energy",
                         "provenance", "tables"});
  require_keys(report.find("tool"), {"name", "version", "commit"});
  require_keys(report.find("inputs"), {"sha256", "plan"});
  require_keys(report.find("engine"), {"name", "events", "wall_s", "simulated_s", "folded", "repeats"});
  require_keys(report.find("verdict"), {"fits", "why_not"});
  require_keys(report.find("evidence"), {"nearest_case", "its_error_pct", "outside"});
  require_keys(report.find("batch"), {"micro", "global", "samples_per_call"});
  require_keys(report.find("throughput"), {"samples_per_s", "sequences_per_s", "packs_per_s", "tokens_per_s",
                                           "samples_per_s_per_device", "mfu_pct", "hfu_pct"});
  require_keys(report.find("step"), {"time_s", "time_ps", "samples", "breakdown_s"});
  require_keys(report.find("step.breakdown_s"),
               {"compute", "recompute", "exchange", "sync", "inter_device", "host_io", "off_chip_memory", "collective",
                "weight_update", "launch", "bubble", "other"});
  require_keys(report.find("schedule"),
               {"kind", "forward_stages", "stages", "cycles_per_update", "cycle_time_s", "sections"});
  require_keys(report.find("training"), {"target_samples", "updates", "time_s", "excluded"});
  require_keys(report.find("bottleneck"), {"resource", "share_pct"});
}

TEST_CASE("json report: a compile estimate has its interval, and is null without one") {
  Report sample = test::sample_report();
  CHECK(parsed(sample).find("compile")->is(Value::Kind::null));
  sample.compile = CompileEstimate{seconds(900), seconds(300), seconds(2700), 160, 14, true};
  const Value report = parsed(sample);
  CHECK(report.find("compile.estimate_s")->as_number() == 900);
  CHECK(report.find("compile.low_s")->as_number() == 300);
  CHECK(report.find("compile.high_s")->as_number() == 2700);
  CHECK(report.find("compile.sections")->as_integer() == 160);
  CHECK(report.find("compile.unique_sections")->as_integer() == 14);
  CHECK(report.find("compile.cached")->as_boolean());
}

TEST_CASE("json report: elements of lists have every promised key") {
  const Value report = parsed(test::sample_report());
  const Value& device = first_of(report, "devices");
  require_keys(&device, {"id", "utilisation_pct", "memories"});
  require_keys(&first_of(device, "memories"), {"name", "capacity_bytes", "limit_bytes", "peak_bytes", "peak_time_s",
                                               "always_live_bytes", "categories"});
  require_keys(&first_of(report, "links"), {"name", "bytes", "busy_pct"});
  require_keys(&first_of(report, "provenance"), {"constant", "value", "unit", "source", "confidence"});
  const Value& table = first_of(report, "tables");
  require_keys(&table, {"name", "columns", "rows"});
  require_keys(&first_of(table, "columns"), {"name", "unit"});
  const Value no_fit = parsed(test::sample_check_that_does_not_fit());
  require_keys(&first_of(no_fit, "verdict.why_not"), {"device", "limit", "need", "have", "unit", "remedy"});
}

TEST_CASE("json report: values stand in base units") {
  const Value report = parsed(test::sample_report());
  CHECK(report.find("step.time_s")->as_number() == 0.2);
  CHECK(report.find("step.time_ps")->as_integer() == 200'000'000'000);
  CHECK(report.find("engine.simulated_s")->as_number() == 0.4);
  CHECK(report.find("schedule.cycle_time_s")->as_number() == 0.00038);
  CHECK(first_of(report, "provenance").find("value")->as_number() == 64e9);
  CHECK(first_of(report, "provenance").find("unit")->as_string() == "byte/s");
  CHECK(first_of(report, "links").find("bytes")->as_integer() == 64 * 1024 * 1024);
}

TEST_CASE("json report: the plan keeps its types and origins") {
  const Value report = parsed(test::sample_report());
  CHECK(report.find("inputs.plan.workload.micro_batch_size")->as_integer() == 2);
  CHECK(report.find("inputs.plan.workload.optimizer")->as_string() == "lamb");
  CHECK(report.find("inputs.plan.machine.layers")->elements()[1].as_integer() == 2);
  CHECK(report.find("inputs.origins")->members()[2].value.as_string() == "command line");
}

TEST_CASE("json report: what has no meaning is absent and what was not run is null") {
  const Value report = parsed(test::sample_report());
  CHECK(report.find("throughput.images_per_s") == nullptr);
  CHECK(report.find("latency")->is(Value::Kind::null));
  const Value check = parsed(test::sample_check_that_does_not_fit());
  for (const char* section : {"engine", "throughput", "step", "training", "bottleneck"}) {
    CHECK_MESSAGE(check.find(section)->is(Value::Kind::null), section);
  }
  CHECK(check.find("schedule.cycle_time_s")->is(Value::Kind::null));
  CHECK(first_of(check, "devices").find("utilisation_pct") == nullptr);
}

TEST_CASE("json report: cells that are no number are null") {
  Report report = test::sample_report();
  report.tables[0].rows[0][1] = 1.0 / 0.0;
  const Value value = parsed(report);
  const Value& rows = *first_of(value, "tables").find("rows");
  CHECK(rows.elements()[0].elements()[1].is(Value::Kind::null));
  CHECK(rows.elements()[1].elements()[2].is(Value::Kind::null));
  CHECK(rows.elements()[1].elements()[0].as_integer() == 1);
}

TEST_CASE("json report: two runs differ in the wall time alone") {
  Report report = test::sample_report();
  std::string first = to_json(report);
  report.engine->wall_s = 0.5;
  const std::string second = to_json(report);
  CHECK(first != second);
  first.replace(first.find("\"wall_s\": 0.125"), 15, "\"wall_s\": 0.5");
  CHECK(first == second);
}

TEST_CASE("json report: names come back as they were, whatever they hold") {
  for (const std::string& text : test::hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    Report report = test::sample_report();
    report.name = report.links[0].name = text;
    Diagnostics diagnostics;
    const std::optional<Value> value = parse_json(to_json(report), "report.json", diagnostics);
    REQUIRE_MESSAGE(value.has_value(), diagnostics.to_text());
    const std::string name = value->find("inputs.name")->as_string();
    // Bytes that are not UTF-8 cannot stand in JSON.
    CHECK((name == text || text.find('\xFF') != std::string::npos));
    CHECK(value->find("links")->elements()[0].find("name")->as_string() == name);
  }
}
