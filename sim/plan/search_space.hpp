#pragma once
// What a family offers to a search: the configurations of one experiment, as a tree. A branch stands for all
// configurations that share its settings; opening it gives smaller branches, down to single configurations.

#include <cstdint>
#include <functional>
#include <limits>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "sim/config/value.hpp"

namespace podsim {

struct SearchSetting {
  std::string key;  // dotted path in the experiment
  Value value;      // null: as if it were not written
};

struct SearchBranch {
  std::vector<SearchSetting> settings;  // of a configuration: all of them, on top of the experiment
  // No configuration of the branch is faster. A bound that is too low loses the best one.
  double most_samples_per_s = std::numeric_limits<double>::infinity();
  std::int64_t devices = 0;         // that each of them takes at least
  std::int64_t configurations = 1;  // in it
  // The branches that it consists of, in a fixed order; empty: it is one configuration.
  std::function<std::vector<SearchBranch>()> open = {};
};

// For people: which values of a key are tried.
struct SearchDimension {
  std::string key;
  std::string values;  // "1, 2, 4", "the fastest that fits on each device"; empty: fixed
};

struct SearchSpace {
  std::vector<SearchDimension> dimensions;
  std::vector<SearchBranch> branches;
  std::vector<std::string> notes;  // what is left out, and why: whole clauses
};

// Samples of one weight update; both ends count.
struct BatchRange {
  std::int64_t least = 1;
  std::int64_t most = 1;
  bool has(std::int64_t batch) const { return least <= batch && batch <= most; }
};

struct SearchRequest {
  std::optional<BatchRange> batch;  // of training; empty: of no account
  std::set<std::string> fixed;      // keys that stay as the experiment says
  double memory_share = 1;          // of each limit that may be used

  bool fixes(const std::string& key) const { return fixed.contains(key); }
  // `offered`, or `own` alone where the key is fixed.
  template <class T>
  std::vector<T> values(const std::string& key, std::vector<T> offered, const T& own) const {
    return fixes(key) ? std::vector<T>{own} : offered;
  }
};

// What a user takes to the machine: a configuration file, a command.
struct Deployment {
  std::string name;  // of the file: "commands.sh"
  std::string text;
  std::set<std::string> keys;  // of an experiment that it says
};

}  // namespace podsim
