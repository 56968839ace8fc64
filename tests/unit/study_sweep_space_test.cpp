#include <doctest/doctest.h>

#include <algorithm>
#include <set>

#include "sim/study/sweep_space.hpp"

using namespace podsim;

namespace {

const Place k_place{"f.toml", 1, 1};

SweepSpace space(const std::string& toml, const SamplingPlan& plan = {}) {
  Diagnostics diagnostics;
  const auto document = parse_toml(toml, "f.toml", diagnostics);
  REQUIRE(document.has_value());
  auto groups = document_axes(*document, diagnostics);
  REQUIRE_MESSAGE(!diagnostics.has_errors(), diagnostics.to_text());
  return SweepSpace(std::move(groups), plan, k_place);
}

std::string point(const SweepSpace& space, std::int64_t index) {
  std::string text;
  for (const Value& value : space.values(index)) text += toml_text(value) + " ";
  return text;
}

std::vector<std::string> points(const SweepSpace& space) {
  std::vector<std::string> all;
  for (std::int64_t p = 0; p < space.size(); ++p) all.push_back(point(space, p));
  return all;
}

std::string told(const std::string& toml, const SamplingPlan& plan) {
  try {
    space(toml, plan);
  } catch (const ConfigError& error) {
    return error.diagnostics().to_text();
  }
  return "";
}

const std::string k_two = "[sweep.axes]\na = [1, 2]\nb = [1, 2, 3]\n";

}  // namespace

TEST_CASE("sweep space: the last group of a grid varies fastest") {
  CHECK(points(space(k_two)) == std::vector<std::string>{"1 1 ", "1 2 ", "1 3 ", "2 1 ", "2 2 ", "2 3 "});
}

TEST_CASE("sweep space: zipped axes advance together") {
  CHECK(points(space("[sweep.axes]\na = [1, 2]\n[sweep.zip.z]\nb = [3, 4]\nc = [5, 6]\n")) ==
        std::vector<std::string>{"1 3 5 ", "1 4 6 ", "2 3 5 ", "2 4 6 "});
}

TEST_CASE("sweep space: a grid too large to count says so") {
  std::string toml = "[sweep.axes]\n";
  for (const char* key : {"a", "b", "c", "d"}) toml += std::string(key) + " = {from = 1, to = 1000000}\n";
  CHECK(space(toml).size() == SweepSpace::k_uncountable);
}

TEST_CASE("sweep space: random points are distinct, of the grid, and the same for a seed") {
  for (const std::int64_t count : {2, 5, 6}) {
    const SamplingPlan plan{Sampling::random, count, 7};
    const std::vector<std::string> drawn = points(space(k_two, plan));
    const std::set<std::string> distinct(drawn.begin(), drawn.end());
    CHECK(distinct.size() == static_cast<std::size_t>(count));
    const std::vector<std::string> grid = points(space(k_two));
    for (const std::string& one : drawn) CHECK(std::find(grid.begin(), grid.end(), one) != grid.end());
    CHECK(points(space(k_two, plan)) == drawn);
  }
  const std::string large = "[sweep.axes]\na = {from = 1, to = 1000}\nb = {from = 1, to = 1000}\n";
  CHECK(points(space(large, {Sampling::random, 50, 1})) != points(space(large, {Sampling::random, 50, 2})));
  CHECK(points(space(large, {Sampling::random, 50, 1})).size() == 50);
}

TEST_CASE("sweep space: a Latin hypercube takes each stratum once") {
  const std::string toml = "[sweep.axes]\na = {from = 0.0, to = 1.0}\nb = {from = 1, to = 8}\n";
  const SweepSpace sampled = space(toml, {Sampling::latin_hypercube, 8, 3});
  REQUIRE(sampled.size() == 8);
  std::set<int> strata;
  std::set<std::int64_t> values;
  for (std::int64_t p = 0; p < sampled.size(); ++p) {
    strata.insert(static_cast<int>(sampled.values(p)[0].as_number() * 8));
    values.insert(sampled.values(p)[1].as_integer());
  }
  CHECK(strata.size() == 8);
  CHECK(values.size() == 8);
}

TEST_CASE("sweep space: a Latin hypercube over short lists has no point twice") {
  const std::vector<std::string> drawn =
      points(space("[sweep.axes]\na = [1, 2]\nb = [1, 2]\n", {Sampling::latin_hypercube, 4, 1}));
  CHECK(std::set<std::string>(drawn.begin(), drawn.end()).size() == drawn.size());
  CHECK(drawn.size() >= 2);
}

TEST_CASE("sweep space: what cannot be sampled is told") {
  CHECK(told("[sweep.axes]\na = {from = 0.0, to = 1.0}\n", {}) ==
        "f.toml:2:5: sweep.axes.a: has no spacing; expected step, count or factor\n");
  CHECK(told(k_two, {Sampling::random, 0, 1}) ==
        "f.toml:1:1: sweep.points: is missing; expected how many points are drawn\n");
  CHECK(told(k_two, {Sampling::random, 7, 1}) ==
        "f.toml:1:1: sweep.points: 7 points of 6; expected at most as many as the grid has\n");
}
