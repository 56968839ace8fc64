// Does the page of a capacity plan name the choice, and draw every system against the goals?
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "sim/study/capacity_page.hpp"
#include "tests/support/hostile_texts.hpp"

using namespace podsim;

namespace {

CapacityRow row(const std::string& name, CapacityStatus status, std::int64_t devices, double hours) {
  CapacityRow row;
  row.name = name;
  row.status = status;
  row.devices = devices;
  row.hosts = 1;
  row.samples_per_s = 100;
  row.training = row.time = seconds(hours * 3600);
  if (status == CapacityStatus::misses) row.misses = {"too slow"};
  return row;
}

Capacity two_systems() {
  Capacity capacity;
  capacity.rows = {row("small", CapacityStatus::misses, 16, 50), row("large", CapacityStatus::meets, 64, 13)};
  CapacityRow full = row("tiny", CapacityStatus::does_not_fit, 0, 0);
  full.time = full.training = std::nullopt;
  full.samples_per_s = 0;
  full.misses = {"tile memory"};
  capacity.rows.push_back(full);
  capacity.chosen = 1;
  capacity.reasons = {"each update fills and drains"};
  capacity.left_out = {"evaluation"};
  return capacity;
}

std::size_t column(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  REQUIRE_MESSAGE(found != table.columns.end(), name);
  return static_cast<std::size_t>(found - table.columns.begin());
}

}  // namespace

TEST_CASE("capacity page: the head names the choice and what it takes") {
  CapacityGoal goal;
  goal.deadline = seconds(86400);
  const Page page = capacity_page(two_systems(), goal, {});
  CHECK(page.facts[0].value == "large in 13.0 h");
  CHECK(page.facts[0].tone == Tone::good);
  CHECK(page.facts[1].value == "64 devices, 1 host");
  CHECK(page.facts[2].value == "within 24.0 h");
  Capacity none = two_systems();
  none.chosen.reset();
  CHECK(capacity_page(none, goal, {}).facts[0].value == "none meets the goals");
  CHECK(capacity_page(none, goal, {}).facts[0].tone == Tone::bad);
}

TEST_CASE("capacity page: times are drawn against the deadline, columns without content are left out") {
  CapacityGoal goal;
  goal.deadline = seconds(86400);
  const PageSection shown = capacity_page(two_systems(), goal, {}).sections.at(0);
  const Table& table = *shown.table;
  REQUIRE(table.rows.size() == 3);
  const std::size_t time = column(table, "time_s");
  CHECK(std::get<double>(table.rows[0][time]) == 50 * 3600);
  CHECK(table.rows[2][time] == Cell());
  CHECK(std::get<std::string>(table.rows[1][1]) == "chosen");
  CHECK(std::get<std::string>(table.rows[2][2]) == "tile memory");
  CHECK(std::ranges::find(table.columns, "power", &Column::name) == table.columns.end());
  REQUIRE(shown.charts.size() == 2);
  const Chart& bars = std::get<Chart>(shown.charts[0]);
  CHECK(bars.values == std::vector<std::size_t>{time});
  CHECK(bars.limit == column(table, "deadline_s"));
  const Chart& points = std::get<Chart>(shown.charts[1]);
  CHECK(points.labels == column(table, "devices"));
  CHECK(points.levels == std::vector<double>{86400});
}

TEST_CASE("capacity page: cost and power have their bars when they are known") {
  Capacity capacity = two_systems();
  CapacityCosts costs;
  costs.currency = "EUR";
  capacity.rows[0].cost = 900;
  capacity.rows[1].cost = 1200;
  capacity.rows[1].power = watts(25'000);
  CapacityGoal goal;
  goal.budget = 1500;
  goal.power_cap = watts(30'000);
  const Page page = capacity_page(capacity, goal, costs);
  CHECK(page.facts[1].value == "64 devices, 1 host, 25 kW, 1,200 EUR");
  const PageSection& shown = page.sections.at(0);
  REQUIRE(shown.charts.size() == 4);
  CHECK(std::get<Chart>(shown.charts[1]).values.at(0) == column(*shown.table, "cost, EUR"));
  CHECK(std::get<Chart>(shown.charts[1]).limit == column(*shown.table, "budget"));
  CHECK(std::get<double>(shown.table->rows[1][column(*shown.table, "power")]) == 25);
}

TEST_CASE("capacity page: names that try to break out are text") {
  for (const std::string& hostile : test::hostile_texts()) {
    CAPTURE(hostile.substr(0, 60));
    Capacity capacity = two_systems();
    capacity.rows[0].name = capacity.rows[0].misses[0] = capacity.reasons[0] = hostile;
    CapacityCosts costs;
    costs.currency = hostile;
    capacity.rows[0].cost = 1;
    const Page page = capacity_page(capacity, {}, costs);
    const std::string html = to_html(page);
    CHECK(html.find(test::as_html(hostile)) != std::string::npos);
    CHECK(html.find("<script>alert") == std::string::npos);
    CHECK(html.find("<img src=x") == std::string::npos);
    CHECK(to_markdown(page).find("| cell |") == std::string::npos);
    Diagnostics diagnostics;
    const auto json = parse_json(to_json(capacity, costs), "j", diagnostics);
    REQUIRE_MESSAGE(json.has_value(), diagnostics.to_text());
    if (hostile.find('\xFF') == std::string::npos) CHECK(json->find("currency")->as_string() == hostile);
  }
}
