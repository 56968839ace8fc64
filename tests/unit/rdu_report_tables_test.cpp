// What RDU reports say of tiles, sections and stages, against each other and against the simulated run.

#include <doctest/doctest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "models/rdu/rdu_plan.hpp"
#include "tests/support/run_experiment.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

std::vector<Table> tables_of(const Ran& ran) {
  std::vector<Table> tables = ran.plan.family->tables(ran.plan, ran.lowered, ran.result);
  for (Table& table : ran.plan.family->detail_tables(ran.plan)) tables.push_back(std::move(table));
  return tables;
}

Table table_called(const Ran& ran, const std::string& name) {
  const std::vector<Table> tables = tables_of(ran);
  const auto found = std::ranges::find(tables, name, &Table::name);
  REQUIRE_MESSAGE(found != tables.end(), name);
  return *found;
}

std::size_t column_of(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  REQUIRE_MESSAGE(found != table.columns.end(), name);
  return static_cast<std::size_t>(found - table.columns.begin());
}

double number_in(const Cell& cell) {
  if (const auto* whole = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*whole);
  return std::get<double>(cell);
}

// Of a column, each row `times` another column when that is named.
double sum_of(const Table& table, const std::string& column, const std::string& times = "") {
  double sum = 0;
  for (const std::vector<Cell>& row : table.rows) {
    sum += number_in(row[column_of(table, column)]) * (times.empty() ? 1 : number_in(row[column_of(table, times)]));
  }
  return sum;
}

double value(const Ran& ran, const std::string& name) {
  for (const ReportedValue& reported : ran.plan.family->values(ran.plan, ran.lowered, ran.result)) {
    if (reported.name == name) return reported.value;
  }
  FAIL("no value " << name);
  return 0;
}

std::string gpt2(const std::string& compile, const std::string& more = "", const std::string& system = "sn30") {
  return "system = \"" + system +
         "\"\nsoftware = \"sambaflow-1.18\"\n[model]\nconfig = \"gpt2\"\n[workload]\nsequence_length = 512\n[rdu]\n"
         "compile = \"python app.py compile --pef-name=p " +
         compile + "\"\n" + more;
}

}  // namespace

TEST_CASE("rdu tables: sections sum to the device's time and to the bytes that cross its memory port") {
  for (const char* level : {"-o0", "-o1", "-o3"}) {
    CAPTURE(level);
    const Ran ran = run_of(gpt2(std::string(level) + " -b 16 --num-tiles 4 --grad-accumulation-steps 3"));
    const Table sections = table_called(ran, "sections");
    CHECK(sections.rows.size() == static_cast<std::size_t>(value(ran, "total_sections")));
    CHECK(sum_of(sections, "time_s", "calls") == doctest::Approx(value(ran, "rdu_latency_s")));
    CHECK(sum_of(sections, "ddr_bytes", "calls") == doctest::Approx(value(ran, "ddr_traffic_bytes")));
    CHECK(sum_of(sections, "hbm_bytes") == 0);
    const double parts = sum_of(sections, "load_s") + sum_of(sections, "execute_s") + sum_of(sections, "wait_s");
    CHECK(parts == doctest::Approx(sum_of(sections, "time_s")));
  }
}

TEST_CASE("rdu tables: tensors in HBM and state in DDR cross ports of their own") {
  const Ran ran = run_of(
      "system = \"sn40l-8\"\n[model]\nconfig = \"llama-2-7b\"\n[rdu]\ncompile = \"python app.py compile -b 1 -o1 "
      "--num-tiles 8 --max_seq_length 1024 --pef-name=p\"\n");
  const auto& plan = dynamic_cast<const rdu::RduPlan&>(*ran.plan.family_plan);
  REQUIRE(plan.tiers.tensors_in_hbm);
  REQUIRE_FALSE(plan.tiers.state_in_hbm);
  const Table sections = table_called(ran, "sections");
  CHECK(sum_of(sections, "hbm_bytes", "calls") == doctest::Approx(value(ran, "hbm_traffic_bytes")));
  CHECK(sum_of(sections, "ddr_bytes", "calls") == doctest::Approx(value(ran, "ddr_traffic_bytes")));
  const Table types = table_called(ran, "graph types");
  CHECK(sum_of(types, "ddr_bytes") == sum_of(sections, "ddr_bytes"));
}

TEST_CASE("rdu tables: stages are the operators of their section and share its products") {
  const Ran ran = run_of(gpt2("-o3 -b 16 --num-tiles 4"));
  const Table sections = table_called(ran, "sections");
  const Table stages = table_called(ran, "stages");
  CHECK(stages.view == "sections");
  CHECK(static_cast<double>(stages.rows.size()) == sum_of(sections, "stages"));
  CHECK(sum_of(stages, "flop") == doctest::Approx(sum_of(sections, "flop")));
  const std::size_t section = column_of(stages, "section");
  double first = 0;
  for (const std::vector<Cell>& row : stages.rows) {
    if (number_in(row[section]) == 0) first += number_in(row[column_of(stages, "pcu_share_pct")]);
    CHECK(number_in(row[column_of(stages, "pcus")]) >= 1);
  }
  CHECK(first == doctest::Approx(100));
}

TEST_CASE("rdu tables: a slow device has a row of its own, each row sums to the whole step") {
  const Ran ran = run_of(gpt2("-o3 -b 16 --num-tiles 4 --data-parallel -ws 2", "replicas = 4\n"),
                         {"system.slowdown.rdu1-tiles0-3=1.5"});
  const Table tiles = table_called(ran, "tiles");
  REQUIRE(tiles.rows.size() == 2);
  CHECK(std::get<std::string>(tiles.rows[0][0]) == "rdu0-tiles0-3");
  CHECK(std::get<std::int64_t>(tiles.rows[0][1]) == 3);
  CHECK(std::get<std::string>(tiles.rows[1][0]) == "rdu1-tiles0-3");
  for (const std::vector<Cell>& row : tiles.rows) {
    double sum = 0;
    for (const char* share : {"execute_pct", "program_load_pct", "argument_load_pct", "idle_pct"}) {
      sum += number_in(row[column_of(tiles, share)]);
    }
    CHECK(sum == doctest::Approx(100));
  }
  const std::size_t loads = column_of(tiles, "program_load_pct");
  CHECK(number_in(tiles.rows[1][loads]) == doctest::Approx(1.5 * number_in(tiles.rows[0][loads])));
}
