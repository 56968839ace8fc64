#include <doctest/doctest.h>

#include "sim/study/sweep_axes.hpp"

using namespace podsim;

namespace {

std::vector<std::string> texts(const SweepAxis& axis) {
  std::vector<std::string> result;
  for (const Value& value : axis.values) result.push_back(toml_text(value));
  return result;
}

struct Read {
  std::vector<SweepGroup> groups;
  Diagnostics diagnostics;
};

Read read(const std::string& toml) {
  Read result;
  const auto document = parse_toml(toml, "f.toml", result.diagnostics);
  REQUIRE(document.has_value());
  result.groups = document_axes(*document, result.diagnostics);
  return result;
}

// The values of a range written as the only axis.
std::vector<std::string> range(const std::string& table) {
  const Read result = read("[sweep.axes]\na = " + table + "\n");
  REQUIRE_MESSAGE(result.groups.size() == 1, result.diagnostics.to_text());
  return texts(result.groups.front().axes.front());
}

std::string told(const std::string& toml) {
  return read(toml).diagnostics.to_text();
}

using Texts = std::vector<std::string>;

}  // namespace

TEST_CASE("sweep axes: commas separate values, those within lists and quotes do not") {
  Diagnostics diagnostics;
  const auto groups = parse_axes({"a.b=1,2.5,true", "c=[3, 7],[6,6]", "d=\"x,y\",z"}, diagnostics);
  CHECK(diagnostics.all().empty());
  REQUIRE(groups.size() == 3);
  CHECK(groups[0].name == "a.b");
  CHECK(texts(groups[0].axes[0]) == Texts{"1", "2.5", "true"});
  CHECK(texts(groups[1].axes[0]) == Texts{"[3, 7]", "[6, 6]"});
  CHECK(texts(groups[2].axes[0]) == Texts{"\"x,y\"", "\"z\""});
}

TEST_CASE("sweep axes: a text without key or values is told") {
  Diagnostics diagnostics;
  CHECK(parse_axes({"key", "=1", "key="}, diagnostics).empty());
  CHECK(diagnostics.to_text() ==
        "command line: --axis: \"key\" is no axis; expected KEY=VALUE,VALUE,…\n"
        "command line: --axis: \"=1\" is no axis; expected KEY=VALUE,VALUE,…\n"
        "command line: --axis: \"key=\" is no axis; expected KEY=VALUE,VALUE,…\n");
}

TEST_CASE("sweep axes: a range may stand on the command line") {
  Diagnostics diagnostics;
  const auto groups = parse_axes({"a={from = 1, to = 8, factor = 2}"}, diagnostics);
  REQUIRE(groups.size() == 1);
  CHECK(texts(groups[0].axes[0]) == Texts{"1", "2", "4", "8"});
}

TEST_CASE("sweep axes: a file may write keys as tables or quoted paths") {
  const Read result = read("[sweep.axes]\n\"a.b\" = [1, 2]\nc.d = [\"x\"]\n");
  CHECK(result.diagnostics.all().empty());
  REQUIRE(result.groups.size() == 2);
  CHECK(result.groups[0].name == "a.b");
  CHECK(result.groups[1].axes[0].key == "c.d");
}

TEST_CASE("sweep axes: a file without a list of values is told") {
  CHECK(
      told("[sweep.axes]\na = 3\nb = []\n") ==
      "f.toml:2:5: sweep.axes.a: is no list of values; expected a list with at least one value, or a range {from, to, "
      "step}\n"
      "f.toml:3:5: sweep.axes.b: is no list of values; expected a list with at least one value, or a range {from, to, "
      "step}\n");
  CHECK(told("[sweep]\nx = 1\n") ==
        "f.toml:1:1: sweep: has no table of axes; expected [sweep.axes] with KEY = [VALUE, …]\n");
}

TEST_CASE("sweep axes: a range has its ends, and steps without dust of rounding") {
  CHECK(range("{from = 1, to = 4}") == Texts{"1", "2", "3", "4"});
  CHECK(range("{from = 16, to = 50, step = 16}") == Texts{"16", "32", "48"});
  CHECK(range("{from = 0.1, to = 0.4, step = 0.1}") == Texts{"0.1", "0.2", "0.3", "0.4"});
  CHECK(range("{from = 0, to = 1, count = 5}") == Texts{"0", "0.25", "0.5", "0.75", "1"});
  CHECK(range("{from = \"16 GB/s\", to = \"48 GB/s\", step = \"16 GB/s\"}") ==
        Texts{"\"16 GB/s\"", "\"32 GB/s\"", "\"48 GB/s\""});
}

TEST_CASE("sweep axes: a logarithmic range has equal ratios, whole ends give whole values once") {
  CHECK(range("{from = 1, to = 100, count = 3, scale = \"log\"}") == Texts{"1", "10", "100"});
  CHECK(range("{from = 1, to = 3, count = 5, scale = \"log\"}") == Texts{"1", "2", "3"});  // 1, 1.3, 1.7, 2.3, 3
  CHECK(range("{from = 0.25, to = 4.0, factor = 4}") == Texts{"0.25", "1", "4"});
  CHECK(range("{from = \"1 GB/s\", to = \"100 GB/s\", count = 3, scale = \"log\"}") ==
        Texts{"\"1 GB/s\"", "\"10 GB/s\"", "\"100 GB/s\""});
}

TEST_CASE("sweep axes: a range without spacing between numbers is to be drawn from") {
  const Read result = read("[sweep.axes]\na = {from = 1.0, to = 16.0, scale = \"log\"}\n");
  REQUIRE(result.groups.size() == 1);
  const SweepAxis& axis = result.groups[0].axes[0];
  REQUIRE(axis.range.has_value());
  CHECK(toml_text(value_in(*axis.range, 0.5)) == "4");  // 1 * 16^0.5
  CHECK(toml_text(value_in(*axis.range, 1)) == "16");
}

TEST_CASE("sweep axes: each fault of a range is told at its place") {
  const std::string head = "[sweep.axes]\na = ";
  CHECK(
      told(head + "{from = 1}\n") ==
      "f.toml:2:5: sweep.axes.a: is no range; expected from and to: two numbers, or two quantities in the same unit\n");
  CHECK(
      told(head + "{from = \"1 GB/s\", to = \"1 TB/s\"}\n") ==
      "f.toml:2:5: sweep.axes.a: is no range; expected from and to: two numbers, or two quantities in the same unit\n");
  CHECK(told(head + "{from = 1, to = 9223372036854775807}\n") ==
        "f.toml:2:5: sweep.axes.a: is too large a range; expected numbers up to 2^53\n");
  CHECK(told(head + "{from = 4, to = 1}\n") ==
        "f.toml:2:5: sweep.axes.a: goes from 4 to 1; expected a last value not below the first\n");
  CHECK(told(head + "{from = 0, to = 1, factor = 2}\n") ==
        "f.toml:2:5: sweep.axes.a: goes from 0 to 1; expected a first value above 0 and a last that is not below it\n");
  CHECK(told(head + "{from = 1, to = 2, step = 0}\n") ==
        "f.toml:2:31: sweep.axes.a: is no step; expected a value above 0 in the unit of from and to\n");
  CHECK(told(head + "{from = 1, to = 2, factor = 1}\n") ==
        "f.toml:2:33: sweep.axes.a: is no factor; expected a number above 1\n");
  CHECK(told(head + "{from = 1, to = 2, count = 1}\n") ==
        "f.toml:2:32: sweep.axes.a: is no count; expected a whole number of at least 2\n");
  CHECK(told(head + "{from = 1, to = 2, scale = \"ln\"}\n") ==
        "f.toml:2:32: sweep.axes.a: is no scale; expected \"log\" or \"linear\"\n");
  CHECK(told(head + "{from = 1, to = 2, stepp = 1}\n") ==
        "f.toml:2:24: sweep.axes.a.stepp: unknown key; expected from, to and one of step, count, factor; did you mean "
        "\"step\"?\n");
  CHECK(told(head + "{from = 1, to = 2, step = 1, count = 2}\n") ==
        "f.toml:2:5: sweep.axes.a: has more than one spacing; expected one of step, count, factor\n");
  CHECK(told(head + "{from = 1, to = 1000000000}\n") ==
        "f.toml:2:5: sweep.axes.a: has 1e+09 values; expected at most a million\n");
}

TEST_CASE("sweep axes: zipped axes are one group of equal length") {
  const Read result = read("[sweep.zip.placement]\na = [1, 2]\nb = [\"x\", \"y\"]\n");
  REQUIRE(result.groups.size() == 1);
  CHECK(result.groups[0].name == "placement");
  REQUIRE(result.groups[0].axes.size() == 2);
  CHECK(result.groups[0].axes[1].key == "b");
  CHECK(told("[sweep.zip.placement]\na = [1, 2]\nb = [3]\n") ==
        "f.toml:1:1: sweep.zip.placement: \"a\" has 2 values, \"b\" has 1; expected lists of equal length\n");
  CHECK(told("[sweep]\nzip = {placement = 3}\n") ==
        "f.toml:2:20: sweep.zip.placement: is an integer; expected a table of axes that vary together\n");
}

TEST_CASE("sweep axes: a key varies once") {
  CHECK(told("[sweep.axes]\na = [1, 2]\n[sweep.zip.z]\na = [3]\n") ==
        "f.toml:1:1: sweep.axes: \"a\" is an axis twice; expected all its values in one\n");
}
