// Does a table keep to its width, and lose as little as it must?
#include <doctest/doctest.h>

#include <string>

#include "sim/report/text_table.hpp"

using namespace podsim;

namespace {

TextTable table_with(const std::string& first, const std::string& last) {
  TextTable table;
  table.column("name", Align::left);
  table.column("value", Align::right);
  table.column("source", Align::left);
  table.row({first, "12.5", last});
  return table;
}

}  // namespace

TEST_CASE("text table: what fits is left as it is") {
  CHECK(table_with("a", "b").text(100) == "  name  value  source\n  a      12.5  b\n");
}

TEST_CASE("text table: the longest text loses its end first, numbers never") {
  const std::string text = table_with("short", std::string(80, 'x')).text(60);
  // Of 60 columns 2 + 5 go to the name, 2 + 5 to the value and 2 to the gap.
  CHECK(text == "  name   value  source\n  short   12.5  " + std::string(43, 'x') + "…\n");
}

TEST_CASE("text table: texts shrink to 24 columns, then columns are left out and counted") {
  const TextTable table = table_with(std::string(80, 'a'), std::string(80, 'b'));
  CHECK(table.columns_beyond(59) == 0);
  CHECK(table.text(59) == "  name                      value  source\n  " + std::string(23, 'a') + "…   12.5  " +
                              std::string(23, 'b') + "…\n");
  CHECK(table.columns_beyond(58) == 1);
  CHECK(table.text(58) == "  name                      value\n  " + std::string(23, 'a') + "…   12.5\n");
}
