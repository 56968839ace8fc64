#pragma once
// Finds the best configurations of a forest of branches without looking into those that cannot hold one: the branch
// with the best bound is opened first, and one whose bound is worse than all that is kept is left unopened. As long as
// bounds hold, what is found is what looking at every configuration finds.

#include <compare>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/search_space.hpp"
#include "sim/plan/verdict.hpp"

namespace podsim {

// What a configuration is worth; the larger, the better. The second decides between equal first ones.
struct SearchValue {
  double first = 0;
  double second = 0;
  friend auto operator<=>(const SearchValue&, const SearchValue&) = default;
};

// A configuration that fits and keeps all limits.
struct SearchPoint {
  std::size_t scenario = 0;             // whose experiment it changes
  std::vector<SearchSetting> settings;  // none: the experiment as it is written
  std::vector<std::size_t> path;        // where it stands in the forest; decides between equals
  double samples_per_s = 0;             // sequences, where several are packed into a sample
  std::int64_t devices = 0;
  std::int64_t micro_batch = 0;
  std::int64_t global_batch = 0;
  double headroom_pct = 0;  // of the fullest memory's limit
  double step_s = 0;
  double mfu_pct = 0;
  std::optional<double> latency_s;  // of a request
  std::optional<double> joules_per_sample;
  std::optional<double> cost_per_sample;
  SearchValue value;
};

// What became of a configuration: exactly one of these.
struct SearchJudgement {
  std::optional<SearchPoint> point;
  std::optional<BrokenLimit> broken;  // the first limit that it breaks
  std::string invalid;                // what is wrong, where it cannot run: a key
  std::string reason;                 // why, in words
};

struct SearchRejection {
  std::string limit;  // of an invalid one, what is wrong
  std::int64_t configurations = 0;
  std::optional<BrokenLimit> nearest;   // of the one that missed by least; empty: there is no measure
  std::vector<SearchSetting> settings;  // its own
  std::size_t scenario = 0;
  std::string reason;  // of the first invalid one

  // How much more the nearest needs than it has, as a share.
  double missed_by() const { return nearest->need / nearest->have - 1; }
};

struct SearchCounts {
  std::int64_t configurations = 0;  // in the space
  std::int64_t closed = 0;          // of them: judged, or in branches that were ruled out
  std::int64_t ruled_out = 0;       // of them, by a bound
  std::int64_t judged = 0;          // placements of one configuration counted each
};

struct SearchTree {
  std::vector<SearchPoint> best;            // the best first
  std::vector<SearchPoint> front;           // by ascending devices: faster than all that take as many or fewer
  std::vector<SearchRejection> rejections;  // the most frequent first
  SearchCounts counts;
  bool stopped = false;  // before all branches were looked at
};

struct SearchForest {
  std::vector<std::vector<SearchBranch>> scenarios;
  // Of a configuration of `scenario` with that rate and so many devices: never smaller for a higher rate or for fewer
  // devices.
  std::function<SearchValue(std::size_t scenario, double samples_per_s, std::int64_t devices)> value;
  std::function<SearchJudgement(std::size_t scenario, const std::vector<SearchSetting>&)> judge;
};

struct SearchEffort {
  std::size_t keep = 6;  // best ones
  bool prune = true;     // else every configuration is judged
  std::int64_t most_judged = 1000000;
  std::function<bool()> stop = [] { return false; };
  std::function<void(const SearchCounts&)> progress = {};
};

// The same input gives the same result, whatever the bounds, as long as they hold.
SearchTree explore(const SearchForest& forest, const SearchEffort& effort);

}  // namespace podsim
