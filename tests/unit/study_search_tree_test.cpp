#include <doctest/doctest.h>

#include <algorithm>

#include "sim/study/search_tree.hpp"

using namespace podsim;

namespace {

SearchSetting number(std::int64_t value) {
  return {"n", Value::integer(value, {"test", 0, 0})};
}

// A configuration with that rate, on so many devices; its number is its setting.
struct Leaf {
  std::int64_t number;
  double rate;
  std::int64_t devices;
};

// Two branches of leaves, each with the largest rate in it times `slack` as its bound.
struct Scene {
  SearchForest forest;
  std::vector<std::int64_t> judged;

  Scene(const std::vector<std::vector<Leaf>>& branches, double slack) {
    forest.scenarios.emplace_back();
    for (const std::vector<Leaf>& leaves : branches) {
      SearchBranch branch;
      branch.most_samples_per_s = 0;
      branch.devices = leaves.front().devices;
      branch.configurations = static_cast<std::int64_t>(leaves.size());
      for (const Leaf& leaf : leaves) {
        branch.most_samples_per_s = std::max(branch.most_samples_per_s, slack * leaf.rate);
        branch.devices = std::min(branch.devices, leaf.devices);
      }
      branch.open = [leaves, slack] {
        std::vector<SearchBranch> opened;
        for (const Leaf& leaf : leaves) {
          SearchBranch own;
          own.most_samples_per_s = slack * leaf.rate;
          own.devices = leaf.devices;
          own.settings = {::number(leaf.number)};
          opened.push_back(own);
        }
        return opened;
      };
      forest.scenarios.front().push_back(branch);
    }
    forest.value = [](std::size_t, double rate, std::int64_t) { return SearchValue{rate, 0}; };
    forest.judge = [this, branches](std::size_t, const std::vector<SearchSetting>& settings) {
      const std::int64_t asked = settings.front().value.as_integer();
      judged.push_back(asked);
      SearchJudgement judgement;
      for (const std::vector<Leaf>& leaves : branches) {
        for (const Leaf& leaf : leaves) {
          if (leaf.number != asked) continue;
          if (leaf.rate <= 0) {
            judgement.broken = BrokenLimit{"device0", "memory", 10.0 + static_cast<double>(asked), 10, "byte", ""};
            return judgement;
          }
          judgement.point.emplace();
          judgement.point->samples_per_s = leaf.rate;
          judgement.point->devices = leaf.devices;
        }
      }
      return judgement;
    };
  }
};

std::int64_t number_of(const SearchPoint& point) {
  return point.settings.front().value.as_integer();
}

}  // namespace

TEST_CASE("search tree: branches whose bound is worse than what is kept stay closed") {
  Scene scene({{{1, 10, 4}, {2, 9, 4}}, {{3, 8, 4}, {4, 7, 4}}}, 1);
  const SearchTree tree = explore(scene.forest, {.keep = 1});
  REQUIRE(tree.best.size() == 1);
  CHECK(number_of(tree.best.front()) == 1);
  CHECK(scene.judged == std::vector<std::int64_t>{1});
  CHECK(tree.counts.configurations == 4);
  CHECK(tree.counts.closed == 4);
  CHECK(tree.counts.ruled_out == 3);
  CHECK(tree.counts.judged == 1);
}

TEST_CASE("search tree: as many are kept as asked for, the best first") {
  Scene scene({{{1, 10, 4}, {2, 7, 4}}, {{3, 9, 4}, {4, 8, 4}}}, 1.5);
  const SearchTree tree = explore(scene.forest, {.keep = 3});
  REQUIRE(tree.best.size() == 3);
  CHECK(number_of(tree.best[0]) == 1);
  CHECK(number_of(tree.best[1]) == 3);
  CHECK(number_of(tree.best[2]) == 4);
}

TEST_CASE("search tree: the front holds the fastest of every number of devices, slower than more devices or not") {
  Scene scene({{{1, 10, 8}, {2, 9, 8}}, {{3, 6, 2}, {4, 5, 2}}, {{5, 4, 4}}, {{6, 7, 4}}}, 1);
  const SearchTree tree = explore(scene.forest, {.keep = 1});
  REQUIRE(tree.front.size() == 3);
  CHECK(number_of(tree.front[0]) == 3);
  CHECK(number_of(tree.front[1]) == 6);
  CHECK(number_of(tree.front[2]) == 1);
  // Four devices with a bound of 4 are ruled out by two with 6.
  CHECK(std::ranges::count(scene.judged, 5) == 0);
}

TEST_CASE("search tree: of equal ones the one with fewer devices, then the earlier") {
  Scene scene({{{1, 10, 8}, {2, 10, 4}, {3, 10, 4}}}, 1);
  const SearchTree tree = explore(scene.forest, {.keep = 2});
  CHECK(number_of(tree.best[0]) == 2);
  CHECK(number_of(tree.best[1]) == 3);
}

TEST_CASE("search tree: the rejected are counted by their first broken limit, with the one that missed by least") {
  Scene scene({{{5, 0, 4}, {3, 0, 4}, {4, 0, 4}, {1, 2, 4}}}, 1);
  const SearchTree tree = explore(scene.forest, {.keep = 1, .prune = false});
  REQUIRE(tree.rejections.size() == 1);
  const SearchRejection& rejection = tree.rejections.front();
  CHECK(rejection.limit == "memory");
  CHECK(rejection.configurations == 3);
  CHECK(rejection.missed_by() == doctest::Approx(0.3));
  CHECK(rejection.settings.front().value.as_integer() == 3);
}

TEST_CASE("search tree: it ends after so many judged ones, and says so") {
  Scene scene({{{1, 10, 4}, {2, 9, 4}, {3, 8, 4}}}, 1);
  SearchEffort effort;
  effort.most_judged = 2;
  const SearchTree tree = explore(scene.forest, effort);
  CHECK(tree.stopped);
  CHECK(tree.counts.judged == 2);
  CHECK(number_of(tree.best.front()) == 1);
}
