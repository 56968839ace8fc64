// Does the page of a sweep show its best point, the front with what does not fit, heat maps and why points fail?
#include <doctest/doctest.h>

#include <algorithm>
#include <string>

#include "sim/study/sweep_page.hpp"
#include "tests/support/hostile_texts.hpp"
#include "tests/support/temporary_folder.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

// A database as a sweep over two inputs writes it, with the columns that a page reads.
class Sweep {
 public:
  explicit Sweep(const std::string& second = "workload.micro_batch_size") {
    identity_.inputs = {"ipu.replication_factor", second};
    for (const std::string& input : identity_.inputs) identity_.columns.push_back({input, ""});
    for (const char* text : {"status", "reason", "name"}) identity_.columns.push_back({text, ""});
    identity_.columns.insert(identity_.columns.end(), {{"devices", ""},
                                                       {"samples_per_s", "1/s"},
                                                       {"mfu_pct", "%"},
                                                       {"fullest_memory_pct", "%"},
                                                       {"bottleneck", ""},
                                                       {"point", ""},
                                                       {"key", ""}});
    identity_.input_sha256 = "0123";
    identity_.tool = "podsim 1";
    identity_.definition = "base = {}\nsweep = {}\n";
  }
  void ok(const Cell& first, const Cell& second, double rate, double memory) {
    add({first, second, std::string("ok"), Cell(), name, 4, rate, rate / 10, memory, std::string("compute")});
  }
  void full(const Cell& first, const Cell& second, double memory) {
    add({first, second, std::string("does_not_fit"), std::string("tile memory"), name, 4, Cell(), Cell(), memory,
         Cell()});
  }
  Page page(std::optional<SweepQuestions> questions = {}) {
    identity_.points = std::ssize(rows_);
    const TemporaryFolder folder;
    SweepStore store = SweepStore::open(folder.path("sweep.sqlite"), identity_);
    store.add(rows_);
    store.set_complete();
    return sweep_page(store, questions ? *questions : usual_questions(store));
  }
  std::string name = "job";

 private:
  void add(std::vector<Cell> cells) {
    const std::int64_t point = std::ssize(rows_);
    cells[5] = std::int64_t{4};
    cells.insert(cells.end(), {point, std::to_string(point)});
    rows_.push_back({point, std::move(cells)});
  }
  SweepIdentity identity_;
  std::vector<PointRow> rows_;
};

Cell whole(std::int64_t number) {
  return number;
}

// Two replications by three batches: 1·1 … 2·2 work, a batch of 4 does not fit.
Sweep small_sweep() {
  Sweep sweep;
  for (const std::int64_t replicas : {1, 2}) {
    for (const std::int64_t batch : {1, 2}) {
      const double rate = 100.0 * static_cast<double>(replicas * batch);
      sweep.ok(whole(replicas), whole(batch), rate, 20.0 * static_cast<double>(batch) + static_cast<double>(replicas));
    }
    sweep.full(whole(replicas), whole(4), 120);
  }
  return sweep;
}

const PageSection& section(const Page& page, const std::string& title) {
  const auto found = std::ranges::find(page.sections, title, &PageSection::title);
  REQUIRE_MESSAGE(found != page.sections.end(), title);
  return *found;
}

std::string text(const Cell& cell) {
  return std::get<std::string>(cell);
}

}  // namespace

TEST_CASE("sweep page: its head names the best point and how to run it") {
  Sweep sweep = small_sweep();
  const Page page = sweep.page();
  CHECK(page.title == "job");
  CHECK(page.facts[0].value == "400 samples per s, point 4");
  CHECK(page.facts[0].tone == Tone::good);
  CHECK(page.facts[1].value == "--set ipu.replication_factor=2 --set workload.micro_batch_size=2");
  CHECK(page.facts[2].value == "6 of 6, 4 ok, 2 does not fit");
  CHECK(section(page, "Best by samples per s").table->rows.size() == 4);
}

TEST_CASE("sweep page: points of the front come first, those without a rate stand at the edge") {
  Sweep sweep = small_sweep();
  const PageSection shown = section(sweep.page(), "Samples per s against fullest memory");
  const Chart& chart = std::get<Chart>(shown.charts.at(0));
  CHECK(chart.at_edge);
  CHECK(chart.joined == "not surpassed");
  CHECK(shown.table->columns[chart.labels].name == "fullest_memory_pct");
  CHECK(shown.table->columns[chart.values.at(0)].name == "samples_per_s");
  REQUIRE(shown.table->rows.size() == 6);
  // (memory, rate): (21, 100), (22, 200), (41, 200), (42, 400): the third is surpassed by the second.
  std::vector<std::string> is;
  for (const auto& row : shown.table->rows) is.push_back(text(row[1]));
  CHECK(is == std::vector<std::string>{"not surpassed", "not surpassed", "not surpassed", "surpassed", "does not fit",
                                       "does not fit"});
  CHECK(shown.table->rows[4][chart.values[0]] == Cell());
  CHECK(text(shown.table->rows[4].back()) == "tile memory");
  CHECK(chart.row_colours.size() == 6);
}

TEST_CASE("sweep page: a heat map has the best of each pair and says where nothing works") {
  Sweep sweep = small_sweep();
  const PageSection shown =
      section(sweep.page(), "Samples per s by ipu.replication_factor and workload.micro_batch_size");
  CHECK(shown.heat == HeatMap::higher_is_better);
  REQUIRE(shown.table->rows.size() == 2);
  CHECK(text(shown.table->rows[1][0]) == "2");
  CHECK(std::get<double>(shown.table->rows[1][2]) == 400);
  CHECK(text(shown.table->rows[0][3]) == "does not fit");
  const std::string html = to_html(sweep.page());
  CHECK(html.find("<td class=\"n h9 best\" data-v=\"400\">400</td>") != std::string::npos);
  CHECK(html.find("<td class=\"n h0\" data-v=\"100\">100</td>") != std::string::npos);
  CHECK(html.find("<td class=\"n none\">does not fit</td>") != std::string::npos);
}

TEST_CASE("sweep page: values, failures and the definition have their tables") {
  Sweep sweep = small_sweep();
  const Page page = sweep.page();
  const PageSection& values = section(page, "Value by value");
  REQUIRE(values.table->rows.size() == 5);
  CHECK(text(values.table->rows[4][0]) == "workload.micro_batch_size = 4");
  CHECK(values.table->rows[4][2] == whole(0));
  CHECK(values.table->rows[4][3] == Cell());
  const PageSection& failures = section(page, "Why points do not work");
  REQUIRE(failures.table->rows.size() == 1);
  CHECK(failures.table->rows[0][2] == whole(2));
  CHECK(section(page, "What was swept").table->rows.size() == 2);
}

TEST_CASE("sweep page: a long heat map is thinned and keeps its best cell") {
  Sweep sweep;
  for (std::int64_t i = 0; i < 200; ++i) {
    for (const std::int64_t j : {1, 2}) sweep.ok(whole(i), whole(j), i == 102 && j == 1 ? 1e6 : 100.0, 50);
  }
  const PageSection shown =
      section(sweep.page(), "Samples per s by ipu.replication_factor and workload.micro_batch_size");
  CHECK(shown.table->rows.size() == 61);
  CHECK(shown.notes.back() == "Shown are 61 of 200 by 2 of 2 values, at equal distances in their order.");
  CHECK(std::ranges::count_if(shown.table->rows, [](const auto& row) { return row[1] == Cell(1e6); }) == 1);
}

TEST_CASE("sweep page: of twenty thousand points ten thousand stand in it, and the rest is counted") {
  Sweep sweep;
  for (std::int64_t i = 0; i < 15'000; ++i) {
    sweep.ok(whole(i), whole(1), 1.0 + static_cast<double>(i), static_cast<double>(i) / 200);
  }
  for (std::int64_t i = 0; i < 5'000; ++i) sweep.full(whole(i), whole(2), 120);
  SweepQuestions questions;
  questions.fronts = {{{"fullest_memory_pct", Better::lower}, {"samples_per_s", Better::higher}}};
  const Page page = sweep.page(questions);
  const PageSection& shown = section(page, "Samples per s against fullest memory");
  CHECK(shown.table->rows.size() == 10'000);
  // All that work are on the front: a thousand of it, then the best of the others.
  CHECK(shown.notes[0] ==
        "Left out here: 7,500 points that work, those with the worst samples per s; podsim sweep export has them.");
  CHECK(shown.notes[1] == "Left out here: 2,500 points that do not work; podsim sweep export has them.");
  const std::string html = to_html(page);
  CHECK(html.size() < 3'000'000);
  CHECK(html.find("class=\"rows\"") != std::string::npos);
}

TEST_CASE("sweep page: without a point that works it says so and draws no front") {
  Sweep sweep;
  sweep.full(whole(1), whole(1), 130);
  sweep.full(whole(1), whole(2), 140);
  const Page page = sweep.page();
  CHECK(page.facts[0].value == "no point works");
  CHECK(page.facts[0].tone == Tone::bad);
  CHECK(to_html(page).find("does not fit") != std::string::npos);
}

TEST_CASE("sweep page: names of experiments, axes and their values are text, and an option for the shell") {
  for (const std::string& hostile : hostile_texts()) {
    CAPTURE(hostile.substr(0, 60));
    Sweep sweep("workload." + hostile);
    sweep.name = hostile;
    sweep.ok(whole(1), std::string(hostile), 100, 10);
    sweep.ok(whole(2), std::string("it's"), 200, 20);
    const Page page = sweep.page();
    const std::string html = to_html(page);
    CHECK(html.find(as_html(hostile)) != std::string::npos);
    CHECK(html.find("<script>alert") == std::string::npos);
    CHECK(html.find("<img src=x") == std::string::npos);
    CHECK(page.facts[1].value.ends_with("=it'\\''s'"));
    const std::string markdown = to_markdown(page);
    CHECK(markdown.find("<script") == std::string::npos);
    CHECK(markdown.find("| cell |") == std::string::npos);
  }
}
