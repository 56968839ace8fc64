#include <doctest/doctest.h>

#include "tools/podsim/sweep_axes.hpp"

using namespace podsim;

TEST_CASE("sweep axes: commas separate values, those within lists and quotes do not") {
  Diagnostics diagnostics;
  const auto axes = parse_axes({"a.b=1,2.5,true", "c=[3, 7],[6,6]", "d=\"x,y\",z"}, diagnostics);
  CHECK(diagnostics.all().empty());
  REQUIRE(axes.size() == 3);
  CHECK(axes[0].key == "a.b");
  CHECK(axes[0].assignments == std::vector<std::string>{"a.b=1", "a.b=2.5", "a.b=true"});
  CHECK(axes[1].cells == std::vector<std::string>{"[3, 7]", "[6, 6]"});
  CHECK(axes[2].cells == std::vector<std::string>{"x,y", "z"});
  CHECK(axes[2].assignments == std::vector<std::string>{"d=\"x,y\"", "d=\"z\""});
}

TEST_CASE("sweep axes: a text without key or values is told") {
  Diagnostics diagnostics;
  CHECK(parse_axes({"key", "=1", "key="}, diagnostics).empty());
  CHECK(diagnostics.to_text() ==
        "command line: --axis: \"key\" is no axis; expected KEY=VALUE,VALUE,…\n"
        "command line: --axis: \"=1\" is no axis; expected KEY=VALUE,VALUE,…\n"
        "command line: --axis: \"key=\" is no axis; expected KEY=VALUE,VALUE,…\n");
}

TEST_CASE("sweep axes: a file may write keys as tables or quoted paths") {
  Diagnostics diagnostics;
  const auto document = parse_toml("[sweep.axes]\n\"a.b\" = [1, 2]\nc.d = [\"x\"]\n", "f.toml", diagnostics);
  REQUIRE(document.has_value());
  const auto axes = document_axes(*document, diagnostics);
  CHECK(diagnostics.all().empty());
  REQUIRE(axes.size() == 2);
  CHECK(axes[0].key == "a.b");
  CHECK(axes[1].key == "c.d");
  CHECK(axes[1].assignments == std::vector<std::string>{"c.d=\"x\""});
}

TEST_CASE("sweep axes: a file without a list of values is told") {
  Diagnostics diagnostics;
  const auto no_list = parse_toml("[sweep.axes]\na = 3\n", "f.toml", diagnostics);
  document_axes(*no_list, diagnostics);
  const auto no_axes = parse_toml("[sweep]\nx = 1\n", "g.toml", diagnostics);
  document_axes(*no_axes, diagnostics);
  REQUIRE(diagnostics.all().size() == 2);
  CHECK(to_text(diagnostics.all()[0]) ==
        "f.toml:2:5: sweep.axes.a: is no list of values; expected a list with at least one value");
  CHECK(diagnostics.all()[1].problem == "has no table of axes");
  CHECK(diagnostics.all()[1].expected == "[sweep.axes] with KEY = [VALUE, …]");
}

TEST_CASE("sweep axes: the last axis of the grid varies fastest") {
  Diagnostics diagnostics;
  const auto axes = parse_axes({"a=1,2", "b=1,2,3"}, diagnostics);
  CHECK(grid_size(axes) == 6);
  CHECK(grid_point(axes, 0) == std::vector<std::size_t>{0, 0});
  CHECK(grid_point(axes, 1) == std::vector<std::size_t>{0, 1});
  CHECK(grid_point(axes, 5) == std::vector<std::size_t>{1, 2});
}
