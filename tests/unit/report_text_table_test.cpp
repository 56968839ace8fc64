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

TEST_CASE("text table: headings that may break do so before a text is cut") {
  TextTable table;
  table.column("point", Align::right);
  table.column("ipu.gradient_accumulation_steps", Align::right, Overflow::wrap);
  table.column("status", Align::left, Overflow::wrap);
  table.row({"1", "256", "ok"});
  CHECK(table.text(100) ==
        "  point  ipu.gradient_accumulation_steps  status\n      1                              256  ok\n");
  CHECK(table.text(36) ==
        "               ipu.gradient_\n"
        "  point   accumulation_steps  status\n"
        "      1                  256  ok\n");
}

TEST_CASE("text table: a text that may break takes several lines and loses nothing") {
  TextTable table;
  table.column("metric", Align::left, Overflow::wrap);
  table.column("A", Align::right);
  table.row({"samples_per_s at ipu.replication_factor = 4, workload.micro_batch_size = 8", "12.5"});
  CHECK(table.text(40) ==
        "  metric                               A\n"
        "  samples_per_s at                  12.5\n"
        "  ipu.replication_factor = 4,\n"
        "  workload.micro_batch_size = 8\n");
}

TEST_CASE("text table: columns without room stand below, behind the first one again") {
  TextTable table;
  table.column("a", Align::right);
  for (const char* name : {"b", "c", "d"}) table.column(name, Align::right);
  table.row({"1", std::string(10, '2'), std::string(10, '3'), std::string(10, '4')});
  CHECK(table.blocks(30) ==
        "  a           b           c\n  1  2222222222  3333333333\n\n  a           d\n  1  4444444444\n");
  CHECK(table.blocks(100) == table.text(100));
}

TEST_CASE("text table: control characters are no part of it") {
  TextTable table;
  table.column("name", Align::left);
  table.row({"red \x1b[31m\nline"});
  CHECK(table.text() == "  name\n  red ?[31m?line\n");
}
