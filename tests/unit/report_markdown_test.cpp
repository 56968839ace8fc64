// Does a page in Markdown keep its numbers and its shape, whatever stands in names?
#include <doctest/doctest.h>

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include "sim/report/report_page.hpp"
#include "tests/support/hostile_texts.hpp"
#include "tests/support/sample_report.hpp"

using namespace podsim;
using namespace podsim::test;

namespace {

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

// Bars that part columns: those that no backslash escapes.
std::size_t bars_in(const std::string& line) {
  std::size_t bars = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '\\') {
      ++i;
    } else if (line[i] == '|') {
      ++bars;
    }
  }
  return bars;
}

}  // namespace

TEST_CASE("markdown: a report has facts, tables, version and the hash of its inputs") {
  const std::string text = to_markdown(report_page(sample_report(), nullptr));
  CHECK(text.starts_with("# sample\n\nduo, stack-1, tiny, training\n\n- **Throughput**: 10,240 sequences/s"));
  CHECK(text.find("\n## Where the time goes\n") != std::string::npos);
  CHECK(text.find("\n| compute | 150 ms | 75.0 % |\n") != std::string::npos);
  CHECK(text.find("\n| :--- | ---: | ---: |\n") != std::string::npos);
  CHECK(text.ends_with("podsim 1.2.3 (0123abcd), inputs sha256 00112233445566778899aabbccddeeff\n"));
}

TEST_CASE("markdown: no text opens markup, a row or a column") {
  for (const std::string& text : hostile_texts()) {
    CAPTURE(text.substr(0, 60));
    Page page;
    page.title = text;
    page.facts = {{"fact", text}};
    page.sections = {{text, {text}, {}, Table{"t", {{"name", ""}, {"value", ""}}, {{text, text}}}}};
    const std::vector<std::string> lines = lines_of(to_markdown(page));
    CHECK(lines.size() == 15);  // as many as for a text of one letter
    for (const std::string& line : lines) {
      if (line.starts_with("|")) CHECK(bars_in(line) == 3);
      CHECK(line.find('<') == std::string::npos);
      const std::size_t link = line.find("](");
      CHECK((link == std::string::npos || line[link - 1] == '\\'));
    }
  }
}

TEST_CASE("markdown: a long table is cut and says so") {
  Page page;
  Table table{"t", {{"n", ""}}, {}};
  for (std::int64_t i = 0; i < 100; ++i) table.rows.push_back({i});
  page.sections = {{"long", {}, {}, table}};
  const std::string text = to_markdown(page);
  CHECK(text.find("\nRows left out here: 40; --format html or json has them.\n") != std::string::npos);
  CHECK(text.find("\n| 59 |\n") != std::string::npos);
  CHECK(text.find("\n| 60 |\n") == std::string::npos);
}
