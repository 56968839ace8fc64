#pragma once
// The best configuration of an experiment for an objective, within limits. What may be changed is the family's to say
// (Family::search_space); whether a configuration fits and how fast it is, a run's: every one that is kept was planned,
// judged and simulated.

#include <cstdint>
#include <functional>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "sim/plan/catalog.hpp"
#include "sim/plan/experiment.hpp"
#include "sim/plan/search_space.hpp"
#include "sim/report/report.hpp"
#include "sim/study/capacity_costs.hpp"
#include "sim/study/search_tree.hpp"
#include "sim/study/sweep_axes.hpp"

namespace podsim {

enum class SearchObjective { throughput, samples_per_joule, cost_per_sample, smallest_system };
// "samples-per-joule".
std::string_view name(SearchObjective objective);

struct SearchLimits {
  std::optional<BatchRange> batch;  // samples of an update in training; empty: as many as the experiment's
  double memory_headroom = 0;       // share of every memory's limit that stays free
  std::optional<Duration> latency;  // longest, of a request
  double least_samples_per_s = 0;
};

// Configurations of one micro-batch on as many devices whose rates differ by less are told once.
inline constexpr double k_alike = 1e-3;

struct SearchTask {
  Experiment experiment;
  std::vector<std::string> systems;  // to try; empty: the experiment's own
  std::vector<SweepGroup> varied;    // keys that take these values, whatever the family tries
  std::set<std::string> fixed;       // keys that stay as the experiment says
  SearchObjective objective = SearchObjective::throughput;
  SearchLimits limits;
  CapacityCosts costs;
  SearchEffort effort;
  bool audit = true;         // run the best one on the reference engine, too
  std::string folder = ".";  // where its plan will be written: paths are relative to it
};

// An experiment whose configurations are searched.
struct SearchScenario {
  Experiment experiment;
  std::string label;   // "system-a, workload.sequence_length = 128"; empty: the only one
  std::string system;  // its name
  std::vector<SearchDimension> dimensions;
  std::vector<std::string> notes;
  std::string problem;                 // why nothing of it can be searched; empty: it is
  std::optional<SearchPoint> written;  // as the experiment says, where it fits; settings are empty
  std::string written_problem;         // else: why it does not run
  double sequences_per_sample = 1;
  double power_w = 0;         // of the machine; 0: not known
  double price_per_hour = 0;  // likewise, electricity included
};

// The best one as a run.
struct SearchWinner {
  Report report;                        // natively simulated
  std::vector<SearchSetting> settings;  // what it says of every key that some configuration told sets
  std::vector<SearchSetting> changes;   // against the experiment as written
  std::vector<Deployment> deployment;
  std::string plan_toml;
  std::optional<std::int64_t> native_ps, reference_ps;  // length of the simulated program run; of an audit
};

struct SearchResult {
  SearchObjective objective = SearchObjective::throughput;
  std::vector<SearchScenario> scenarios;
  std::optional<BatchRange> batch;  // that was kept to; empty: no training
  bool batch_kept = false;          // it is the experiment's own
  SearchTree tree;
  std::optional<SearchWinner> winner;
  std::string currency;
  std::vector<std::string> warnings;
};

// Throws ConfigError: an experiment that nothing can be searched of, an objective without its costs.
SearchResult search(const SearchTask& task, const Catalog& catalog, const ConfigFiles& configs);

// Whether the audit found the engines to agree: within max(1e-9 · T, 16 ps).
bool engines_agree(const SearchWinner& winner);

std::string to_text(const SearchResult& result);
std::string to_json(const SearchResult& result);

}  // namespace podsim
