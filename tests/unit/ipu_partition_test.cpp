#include <doctest/doctest.h>

#include <algorithm>
#include <functional>
#include <numeric>

#include "models/ipu/search/partition.hpp"
#include "sim/core/random.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

SimTime time_of(std::int64_t picoseconds) {
  return SimTime(picoseconds);
}

// Every way to share the layers out, in lexicographic order.
std::vector<std::vector<std::int64_t>> all_partitions(std::int64_t layers, const std::vector<std::int64_t>& least) {
  std::vector<std::vector<std::int64_t>> all;
  std::vector<std::int64_t> counts(least.size());
  const std::function<void(std::size_t, std::int64_t)> fill = [&](std::size_t part, std::int64_t left) {
    if (part == least.size()) {
      if (left == 0) all.push_back(counts);
      return;
    }
    for (std::int64_t count = least[part]; count <= left; ++count) {
      counts[part] = count;
      fill(part + 1, left - count);
    }
  };
  fill(0, layers);
  return all;
}

}  // namespace

TEST_CASE("ipu partition: equals the best of all partitions, for random times and rooms") {
  SplitMix64 random(7);
  for (int round = 0; round < 200; ++round) {
    PartitionProblem problem;
    problem.layers = 3 + static_cast<std::int64_t>(random.next() % 6);
    const auto parts = 1 + static_cast<std::size_t>(random.next() % 4);
    for (std::size_t p = 0; p < parts; ++p) problem.least.push_back(static_cast<std::int64_t>(random.next() % 2));
    std::vector<std::int64_t> work;
    for (std::int64_t l = 0; l < problem.layers; ++l) work.push_back(1 + static_cast<std::int64_t>(random.next() % 9));
    std::vector<std::int64_t> fixed, room;
    for (std::size_t p = 0; p < parts; ++p) {
      fixed.push_back(static_cast<std::int64_t>(random.next() % 7));
      room.push_back(problem.layers / 2 + static_cast<std::int64_t>(random.next() % 5));
    }
    problem.time = [&](std::size_t part, std::int64_t first, std::int64_t count) -> std::optional<SimTime> {
      if (count > room[part]) return std::nullopt;
      const auto begin = work.begin() + first;
      return time_of(fixed[part] + std::accumulate(begin, begin + count, std::int64_t{0}));
    };
    std::optional<SimTime> expected;
    for (const std::vector<std::int64_t>& counts : all_partitions(problem.layers, problem.least)) {
      std::int64_t first = 0;
      std::optional<SimTime> longest = SimTime();
      for (std::size_t p = 0; p < parts; ++p) {
        const std::optional<SimTime> own = problem.time(p, first, counts[p]);
        longest = longest && own ? std::optional(std::max(*longest, *own)) : std::nullopt;
        first += counts[p];
      }
      if (longest && (!expected || *longest < *expected)) expected = longest;
    }
    const std::optional<Partition> found = best_partition(problem);
    REQUIRE(found.has_value() == expected.has_value());
    if (!found) continue;
    CHECK(found->longest == *expected);
    for (const std::vector<std::int64_t>& counts : found->counts) {
      CHECK(std::accumulate(counts.begin(), counts.end(), std::int64_t{0}) == problem.layers);
    }
  }
}

TEST_CASE("ipu partition: layers stand as early as the longest part allows, and as late") {
  PartitionProblem problem;
  problem.layers = 5;
  problem.least = {1, 1, 1};
  problem.time = [](std::size_t, std::int64_t, std::int64_t count) { return std::optional(time_of(count)); };
  const std::optional<Partition> found = best_partition(problem);
  REQUIRE(found.has_value());
  CHECK(found->longest == time_of(2));
  CHECK(found->counts == std::vector<std::vector<std::int64_t>>{{2, 2, 1}, {1, 2, 2}});
}
