#pragma once
// Which machine, and how many of them, does a job by a deadline: an experiment moved to other systems at the same
// global batch, with what that costs where the planner knows.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/catalog.hpp"
#include "sim/plan/experiment.hpp"
#include "sim/plan/model_kind.hpp"
#include "sim/report/report.hpp"
#include "sim/study/capacity_costs.hpp"
#include "sim/study/checkpointing.hpp"

namespace podsim {

struct CapacityGoal {
  std::optional<Duration> deadline;    // of training
  std::optional<double> budget;        // in the currency of the costs
  std::optional<Power> power_cap;      // of everything that has a known power
  std::optional<std::int64_t> users;   // of generation: at once
  std::optional<double> tokens_per_s;  // that each of them gets at least
};

struct CapacityCandidate {
  Experiment experiment;   // with the target in its workload
  std::string system;      // empty: as the experiment says
  std::int64_t nodes = 0;  // how many of it; 0: as the experiment says
};

// What must be equal for times to be of the same work.
struct WorkFacts {
  ModelShape shape;             // of a typed row without a type: not stated
  std::int64_t parameters = 0;  // of the model with its head
  std::string head;
  double global_batch = 0;  // sequences
  std::string precision;
  std::int64_t sequence_length = 0;
  double packing_factor = 1;
  std::string mode;
};

enum class CapacityStatus { meets, misses, does_not_fit, invalid };

struct CapacityRow {
  std::string name;    // of the system
  std::string family;  // of its devices; empty: not known
  CapacityStatus status = CapacityStatus::invalid;
  std::vector<std::string> misses;  // which goals and by how much, what does not fit or is wrong
  std::int64_t systems = 1;         // of that kind; of users: as many as they need
  std::int64_t devices = 0, idle_devices = 0, hosts = 0;
  double samples_per_s = 0;
  std::optional<double> tokens_per_s_per_user;
  std::optional<Duration> training;  // without failures
  std::optional<CheckpointPlan> checkpoints;
  std::optional<Duration> time;  // failures included
  std::optional<Power> power;    // hosts included where their power is known
  std::optional<Energy> energy;
  std::optional<double> cost;  // with all that the costs price; empty: a part of it is not known
  std::optional<CompileEstimate> compile;
  std::string power_source;
  std::string changed;  // which keys were set so that the batch stays, as "key = value, …"
  WorkFacts work;
  std::optional<Report> report;  // of one system; none of a typed row
};

struct Capacity {
  std::vector<CapacityRow> rows;      // candidates in their order, then typed rows
  std::optional<std::size_t> chosen;  // the cheapest row that meets the goals; by devices where costs are not known
  bool by_cost = false;               // whether all rows that meet the goals have a cost
  std::vector<std::string> warnings;  // what is not equal or not stated
  std::vector<std::string> reasons;   // why the chosen one is not as many times faster as it is larger
  std::vector<std::string> left_out;  // of times, energy and cost
};

// Throws ConfigError when the work of rows differs and `mixed` is not set.
Capacity plan_capacity(const std::vector<CapacityCandidate>& candidates, const CapacityGoal& goal,
                       const CapacityCosts& costs, bool mixed, const Catalog& catalog, const ConfigFiles& configs);

// A row's name, with how many systems it is of where another row has the same name: "2 × NAME".
std::string label_of(const Capacity& capacity, const CapacityRow& row);

// For one column of many magnitudes: "54.7 h" from two hours on; "20 kW" from a thousand watts on.
std::string plain_time(Duration time);
std::string plain_power(Power power);

// "1,000,000 samples, within 24.0 h".
std::string goals_text(const CapacityGoal& goal, const CapacityCosts& costs, const Capacity& capacity);
// The work of all rows; where it differs a line for each row, with model and head.
std::string work_text(const Capacity& capacity);
// What was set for the batch to stay, and where powers come from.
std::vector<std::string> settings_texts(const Capacity& capacity);

std::string to_text(const Capacity& capacity, const CapacityGoal& goal, const CapacityCosts& costs);
std::string to_json(const Capacity& capacity, const CapacityCosts& costs);

}  // namespace podsim
