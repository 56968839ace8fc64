#include <doctest/doctest.h>

#include <string>
#include <vector>

#include "sim/config/csv.hpp"

using namespace podsim;

namespace {

CsvTable table_of(const std::string& text) {
  Diagnostics diagnostics;
  const auto table = parse_csv(text, "t.csv", diagnostics);
  CHECK_MESSAGE(diagnostics.all().empty(), diagnostics.to_text());
  REQUIRE(table.has_value());
  return *table;
}

std::string problems_of(const std::string& text) {
  Diagnostics diagnostics;
  CHECK_FALSE(parse_csv(text, "t.csv", diagnostics).has_value());
  return diagnostics.to_text();
}

using Cells = std::vector<std::string>;

}  // namespace

TEST_CASE("csv: cells are read as they stand, quoted ones without their quotes") {
  const CsvTable table = table_of("a,b,c\n1,\"x, \"\"y\"\"\", z \n,,\n");
  CHECK(table.columns == Cells{"a", "b", "c"});
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].cells == Cells{"1", "x, \"y\"", " z "});
  CHECK(table.rows[1].cells == Cells{"", "", ""});
}

TEST_CASE("csv: a row knows its first line, also behind line ends inside quotes and empty lines") {
  const CsvTable table = table_of("a,b\n\"1\n2\",x\n\n3,y");
  REQUIRE(table.rows.size() == 2);
  CHECK(table.rows[0].line == 2);
  CHECK(table.rows[0].cells[0] == "1\n2");
  CHECK(table.rows[1].line == 5);
  CHECK(table.rows[1].cells == Cells{"3", "y"});
}

TEST_CASE("csv: a byte-order mark and carriage returns are accepted") {
  const CsvTable table = table_of(
      "\xEF\xBB\xBF"
      "a,b\r\n\"1\",2\r\n");
  CHECK(table.columns == Cells{"a", "b"});
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].cells == Cells{"1", "2"});
}

TEST_CASE("csv: lines that begin with # above the header are comments, below it they are rows") {
  const CsvTable table = table_of("# runs.csv\n#\na,b\n#1,2\n");
  CHECK(table.columns == Cells{"a", "b"});
  REQUIRE(table.rows.size() == 1);
  CHECK(table.rows[0].line == 4);
  CHECK(table.rows[0].cells[0] == "#1");
}

TEST_CASE("csv: problems are named with their place") {
  CHECK(problems_of("") == "t.csv:1:1: there is no header line; expected the names of the columns\n");
  CHECK(problems_of("a,b\n1\n1,2,3\n") ==
        "t.csv:2:1: the row has 1 cells, the header 2\nt.csv:3:1: the row has 3 cells, the header 2\n");
  CHECK(problems_of("a,,a\n") == "t.csv:1:1: column 2 has no name\nt.csv:1:1: there are two columns called \"a\"\n");
  CHECK(problems_of("a,b\n1,\"2\n") == "t.csv:2:3: the quote of this cell is never closed\n");
  CHECK(problems_of("a,b\n\"1\"x,2\n") ==
        "t.csv:2:4: there is text behind the closing quote of a cell; expected a comma or a line end\n");
  CHECK(problems_of("a,b\n1\"2,3\n") ==
        "t.csv:2:2: there is a quote inside a cell that does not begin with one; expected the whole cell in quotes, "
        "the inner quote twice\n");
}
