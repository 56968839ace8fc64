// Does the page of a comparison tell what is worse, the step before and after, and which input did it?
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "sim/study/comparison_page.hpp"
#include "tests/support/hostile_texts.hpp"

using namespace podsim;

namespace {

Comparison two_runs() {
  Comparison comparison{"runs", {}, {"the step changes by +10.0 % (+20 ms): compute +20 ms"}};
  comparison.metrics = {compare_numbers("throughput.samples_per_s", 200, 180, 0.02),
                        compare_numbers("throughput.packs_per_s", 100, 90, 0.02),
                        compare_numbers("step.time_s", 0.2, 0.22, 0.02)};
  comparison.before_is = "job, podsim 1";
  comparison.parts = {
      {"compute", seconds(0.15), seconds(0.17)}, {"host_io", seconds(0.05), seconds(0.05)}, {"bubble", {}, {}}};
  comparison.effects = {{"ipu.replication_factor", -0.09, std::nullopt, true, "copies of the model"},
                        {"model.vocab_size", std::nullopt, std::nullopt, false, ""}};
  comparison.beyond = {"together they give -1.0 % beyond the product of these"};
  return comparison;
}

const PageSection& section(const Page& page, const std::string& title) {
  const auto found = std::ranges::find(page.sections, title, &PageSection::title);
  REQUIRE_MESSAGE(found != page.sections.end(), title);
  return *found;
}

std::string fact(const Page& page, const std::string& label) {
  const auto found = std::ranges::find(page.facts, label, &PageFact::label);
  REQUIRE_MESSAGE(found != page.facts.end(), label);
  return found->value;
}

std::string text(const Cell& cell) {
  return std::get<std::string>(cell);
}

}  // namespace

TEST_CASE("comparison page: its head says what is worse, and by how much") {
  const Page page = comparison_page(two_runs(), "a.json", "b.json", 0.02);
  CHECK(page.title == "a.json → b.json");
  CHECK(page.facts[0].value == "3 metrics worse");
  CHECK(page.facts[0].tone == Tone::bad);
  CHECK(fact(page, "throughput.samples_per_s") == "200 → 180 (-10.0 %)");
  CHECK(fact(page, "step.time_s") == "200 ms → 220 ms (+10.0 %)");
  CHECK(fact(page, "A") == "a.json: job, podsim 1");
  CHECK(fact(page, "B") == "b.json");
  CHECK(fact(page, "Tolerance") == "2.0 %");
  // The same change under another name.
  CHECK(std::ranges::find(page.facts, "throughput.packs_per_s", &PageFact::label) == page.facts.end());
}

TEST_CASE("comparison page: a bar for each metric, coloured by its verdict and named by a column") {
  const PageSection shown = section(comparison_page(two_runs(), "a", "b", 0.02), "Before and after");
  REQUIRE(shown.table->rows.size() == 3);
  CHECK(text(shown.table->rows[2][1]) == "200 ms");
  CHECK(std::get<double>(shown.table->rows[2][3]) == doctest::Approx(10));
  const Chart& chart = std::get<Chart>(shown.charts.at(0));
  CHECK(chart.values == std::vector<std::size_t>{3});
  CHECK(chart.groups == 4);
  CHECK(chart.row_colours.size() == 3);
}

TEST_CASE("comparison page: the step stands side by side, without parts that neither has") {
  const PageSection shown = section(comparison_page(two_runs(), "a", "b", 0.02), "Step");
  REQUIRE(shown.table->rows.size() == 2);
  CHECK(std::get<double>(shown.table->rows[0][3]) == doctest::Approx(0.02));
  // 20 of 200 ms.
  CHECK(std::get<double>(shown.table->rows[0][4]) == doctest::Approx(10));
  CHECK(text(shown.table->rows[1][0]) == "host io");
  CHECK(std::get<Chart>(shown.charts.at(0)).values == std::vector<std::size_t>{1, 2});
  Comparison other = two_runs();
  other.parts_of_sample = true;
  CHECK(section(comparison_page(other, "a", "b", 0.02), "Time per sample").charts.size() == 1);
}

TEST_CASE("comparison page: inputs are blamed one by one") {
  const Page page = comparison_page(two_runs(), "a", "b", 0.02);
  const PageSection& shown = section(page, "Which input makes the difference");
  REQUIRE(shown.table->rows.size() == 2);
  CHECK(std::get<double>(shown.table->rows[0][1]) == doctest::Approx(-9));
  CHECK(text(shown.table->rows[0][3]) == "the only change from A");
  CHECK(text(shown.table->rows[1][3]) == "cannot be had without the others");
  CHECK(shown.notes.back() == "together they give -1.0 % beyond the product of these.");
  CHECK(section(page, "Why").table->rows.size() == 1);
}

TEST_CASE("comparison page: points stand against each other, those that moved most first") {
  Comparison comparison{"sweeps", {}, {}, "2 points compared"};
  comparison.pairs = {{"samples_per_s", "", {{"x = 1", 100, 101}, {"x = 2", 200, 150}}}};
  const Page page = comparison_page(comparison, "a", "b", 0.05);
  CHECK(page.facts[0].value == "all within the tolerance");
  CHECK(fact(page, "Points") == "2 points compared");
  const PageSection& shown = section(page, "samples_per_s, point by point");
  CHECK(text(shown.table->rows[0][0]) == "x = 2");
  CHECK(std::get<double>(shown.table->rows[0][3]) == doctest::Approx(-25));
  CHECK(std::get<Chart>(shown.charts.at(0)).bands_pct == std::vector<double>{0, 5, -5});
}

TEST_CASE("comparison page: errors of a validation differ by percentage points, worse ones first") {
  Comparison comparison{"validations", {}, {}};
  comparison.metrics = {{"error of a", "3 %", "1 %", -0.02, true, ChangeVerdict::better, true},
                        {"error of b", "3 %", "7 %", 0.04, true, ChangeVerdict::worse, true}};
  comparison.pairs = {{"|error|", "%", {{"a", 3, 1}, {"b", 3, 7}}}};
  const Page page = comparison_page(comparison, "a", "b", 0.01);
  CHECK(page.facts[0].value == "1 metric worse, 1 better");
  CHECK(page.facts[1].label == "error of b");
  CHECK(page.facts[1].value == "3 % → 7 % (+4.00 percentage points)");
  CHECK(fact(page, "Tolerance") == "1.0 %, in percentage points");
  CHECK(std::get<double>(section(page, "Error, case by case").table->rows[0][3]) == doctest::Approx(4));
}

TEST_CASE("comparison page: of a thousand points the table holds those that moved most, and says so") {
  Comparison comparison{"sweeps", {}, {}};
  comparison.pairs = {{"samples_per_s", "", {}}};
  for (int i = 0; i < 1000; ++i) comparison.pairs[0].pairs.push_back({std::to_string(i), 100, 100.0 + i});
  const PageSection shown = section(comparison_page(comparison, "a", "b", 0.05), "samples_per_s, point by point");
  CHECK(shown.table->rows.size() == 500);
  CHECK(text(shown.table->rows[0][0]) == "999");
  CHECK(shown.notes.back() == "Rows left out here: 500; podsim sweep export of each has them.");
}

TEST_CASE("comparison page: names that try to break out are text") {
  for (const std::string& hostile : test::hostile_texts()) {
    CAPTURE(hostile.substr(0, 60));
    Comparison comparison = two_runs();
    comparison.before_is = comparison.reasons[0] = comparison.effects[0].inputs = comparison.effects[0].meaning =
        hostile;
    comparison.metrics[0].name = comparison.parts[0].name = hostile;
    comparison.pairs = {{hostile, "", {{hostile, 1, 2}, {hostile, 2, 1}}}};
    const Page page = comparison_page(comparison, hostile, hostile, 0.02);
    const std::string html = to_html(page);
    CHECK(html.find(test::as_html(hostile)) != std::string::npos);
    CHECK(html.find("<script>alert") == std::string::npos);
    CHECK(html.find("<img src=x") == std::string::npos);
    const std::string markdown = to_markdown(page);
    CHECK(markdown.find("<script") == std::string::npos);
    CHECK(markdown.find("| cell |") == std::string::npos);
    Diagnostics diagnostics;
    const auto json = parse_json(to_json(comparison), "j", diagnostics);
    REQUIRE_MESSAGE(json.has_value(), diagnostics.to_text());
    // A JSON text is the same text, but for bytes that no UTF-8 has.
    const std::string& name = json->find("metrics")->elements()[0].find("name")->as_string();
    if (hostile.find('\xFF') == std::string::npos) CHECK(name == hostile);
    CHECK(to_text(comparison, true).find('\x1b') == std::string::npos);
  }
}
