// Does the page of a report show what the report holds, grouped and ordered as people look for it?
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "sim/report/report_page.hpp"
#include "tests/support/sample_report.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

const PageSection& section(const Page& page, const std::string& title) {
  const auto found = std::ranges::find(page.sections, title, &PageSection::title);
  REQUIRE_MESSAGE(found != page.sections.end(), title);
  return *found;
}

bool has_section(const Page& page, const std::string& title) {
  return std::ranges::find(page.sections, title, &PageSection::title) != page.sections.end();
}

}  // namespace

TEST_CASE("page: a report that fits begins with its rate, one that does not with its verdict") {
  const Page fits = report_page(sample_report(), nullptr);
  CHECK(fits.facts[0].label == "Throughput");
  CHECK_FALSE(has_section(fits, "Why it does not fit"));
  const Page check = report_page(sample_check_that_does_not_fit(), nullptr);
  CHECK(check.facts[0].label == "Verdict");
  CHECK(check.facts[0].tone == Tone::bad);
  CHECK(check.sections[0].title == "Why it does not fit");
  CHECK(check.sections[0].notes.empty());
  REQUIRE(check.sections[0].table->rows.size() == 2);
  CHECK(check.sections[0].table->rows[0] == std::vector<Cell>{std::string("device memory"), std::string("d1"),
                                                              std::string("850 MiB"), std::string("800 MiB"),
                                                              std::string(), std::string("micro_batch_size = 1")});
  Report many = sample_check_that_does_not_fit();
  many.verdict.broken.push_back(many.verdict.broken[0]);
  CHECK(report_page(many, nullptr).sections[0].notes[0] ==
        "device memory on d1 needs 850 MiB, has 800 MiB (1 more alike); try micro_batch_size = 1");
  CHECK_FALSE(has_section(check, "Where the time goes"));
  CHECK(section(check, "Memory: memory").notes[0].starts_with("By the plan's account"));
}

TEST_CASE("page: the breakdown shows each part that took time, in the colour of its kind") {
  const PageSection shown = section(report_page(sample_report(), nullptr), "Where the time goes");
  REQUIRE(shown.table->rows.size() == 4);
  CHECK(std::get<std::string>(shown.table->rows[0][0]) == "compute");
  CHECK(std::get<double>(shown.table->rows[0][1]) == doctest::Approx(0.15));
  CHECK(std::get<double>(shown.table->rows[0][2]) == doctest::Approx(75));
  const auto& chart = std::get<Chart>(shown.charts[0]);
  CHECK(chart.row_colours == std::vector<int>{0, 2, 8, 10});
}

TEST_CASE("page: memories have their categories as columns, the fullest first, with their limit") {
  const PageSection shown = section(report_page(sample_report(), nullptr), "Memory: memory");
  CHECK(std::get<std::string>(shown.table->rows[0][0]) == "d1.memory");
  CHECK(std::get<double>(shown.table->rows[0][1]) == doctest::Approx(87.5));
  CHECK(shown.table->columns[5].name == "activations");
  CHECK(std::get<std::int64_t>(shown.table->rows[0][5]) == 400 * 1024 * 1024);
  CHECK(std::get<Chart>(shown.charts[0]).limit == 4);
}

TEST_CASE("page: memories of different kinds do not share a chart") {
  Report report = sample_report();
  report.devices[0].memories.push_back(report.devices[0].memories[0]);
  report.devices[0].memories[1].name = "d0.off_chip";
  const Page page = report_page(report, nullptr);
  CHECK(section(page, "Memory: memory").table->rows.size() == 2);
  CHECK(section(page, "Memory: off chip").table->rows.size() == 1);
}

TEST_CASE("page: equal links share a row that says how many there are") {
  const PageSection shown = section(report_page(sample_report(), nullptr), "Links");
  REQUIRE(shown.table->rows.size() == 1);
  CHECK(std::get<std::string>(shown.table->rows[0][0]) == "d0 to d1 and 1 alike");
}

TEST_CASE("page: tables of a family follow with a chart of their times") {
  const PageSection shown = section(report_page(sample_report(), nullptr), "Stages");
  CHECK(shown.table->rows.size() == 2);
  REQUIRE(shown.charts.size() == 1);
  CHECK(std::get<Chart>(shown.charts[0]).values == std::vector<std::size_t>{1});
}

TEST_CASE("page: settings and constants tell where they come from") {
  const Page page = report_page(sample_report(), nullptr);
  const PageSection& plan = section(page, "What was run");
  CHECK(std::get<std::string>(plan.table->rows[1][2]) == "default: lamb");
  const PageSection& constants = section(page, "Constants behind it");
  CHECK(std::get<std::string>(constants.table->rows[0][0]) == "machine.link.bandwidth");
  CHECK(std::get<std::string>(constants.table->rows[0][4]) == "a data sheet");
}

TEST_CASE("page: a timeline opens at the cycle, and its parts add up to the run") {
  Report report = sample_report();
  report.engine->simulated = SimTime(400);
  Timeline timeline;
  timeline.length = SimTime(60);
  timeline.lanes = {"d0"};
  timeline.parts = {{"fill", SimTime(), SimTime(40), 1}, {"full cycle", SimTime(40), SimTime(20), 18}};
  timeline.windows = {{"cycle", SimTime(40), SimTime(60)}};
  timeline.devices_alike = 1;
  const PageSection shown = section(report_page(report, &timeline), "Timeline");
  CHECK(std::get<TimelineChart>(shown.charts[0]).window == "cycle");
  CHECK(std::get<double>(shown.table->rows[0][4]) == doctest::Approx(10));
  CHECK(std::get<double>(shown.table->rows[1][4]) == doctest::Approx(90));
  CHECK(shown.notes[1] == "Devices without a lane, since they do the same as one that was simulated: 1.");
}

TEST_CASE("page: memories over time are levels, with the limit where it is one for all") {
  Report report = sample_report();
  Timeline timeline;
  timeline.lanes = {"d0"};
  timeline.parts = {{"cycle", SimTime(), SimTime(20), 1}};
  timeline.instants = {SimTime(0), SimTime(10)};
  timeline.memories = {{"a", Bytes(100), {Bytes(10), Bytes(20)}}, {"b", Bytes(100), {Bytes(5), Bytes(50)}}};
  const PageSection same = section(report_page(report, &timeline), "Memory over time");
  CHECK(std::get<std::int64_t>(same.table->rows[1][2]) == 50);
  CHECK(std::get<Chart>(same.charts[0]).limit == 3);
  timeline.memories.push_back({"c", Bytes(100), {Bytes(10), Bytes(20)}});
  const PageSection alike = section(report_page(report, &timeline), "Memory over time");
  CHECK(alike.table->columns[1].name == "a and 1 alike");
  CHECK(alike.table->columns.size() == 4);
  timeline.memories.pop_back();
  timeline.memories[1].limit = Bytes(200);
  const PageSection shares = section(report_page(report, &timeline), "Memory over time");
  CHECK(std::get<double>(shares.table->rows[1][2]) == doctest::Approx(25));
  CHECK_FALSE(std::get<Chart>(shares.charts[0]).limit.has_value());
}

TEST_CASE("page: cells are written for people, and their unit once") {
  CHECK(cell_text(0.0125, {"time_s", "s"}) == "12.5 ms");
  CHECK(cell_text(7200.0 * 10, {"time_s", "s"}) == "20 h 0 min");
  CHECK(cell_text(std::int64_t{2048}, {"peak_bytes", "byte"}) == "2 KiB");
  CHECK(cell_text(std::int64_t{12288}, {"rows", ""}) == "12,288");
  CHECK(cell_text(-2.5, {"error_pct", "%"}) == "-2.5 %");
  CHECK(cell_text(true, {"host", ""}) == "yes");
  CHECK(cell_text(Cell(), {"rows", ""}).empty());
  CHECK(heading_text({"peak_bytes", "byte"}) == "peak");
  CHECK(heading_text({"rate", "1/s"}) == "rate (1/s)");
  CHECK(heading_text({"flop_per_byte", "flop"}) == "flop per byte (flop)");
}
