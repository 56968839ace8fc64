#pragma once
// The loss scale of a planned training: from a plan and the `loss_scaling` section to gradients, window and trajectory.

#include <optional>
#include <string>
#include <vector>

#include "models/loss_scaling/gradient_statistics.hpp"
#include "models/loss_scaling/trajectory.hpp"
#include "sim/numerics/partial_sums.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::loss_scaling {

struct Analysis {
  std::string mode;
  bool experimental = false;  // the mode, so its maker says
  bool in_program = false;    // the program itself controls the scale: its time and memory stand in a run
  std::string format;         // "float16", "bfloat16", "float32"
  std::string overflow;       // "saturate", "infinity", "nan"
  bool half_partials = false;
  LossShape loss;
  double micro_batches = 1;  // per update
  TrajectorySettings settings;
  WindowSettings limits;
  Window window;
  std::optional<double> balance;  // log2 of the scale around which counts of large gradients balance
  // Between which the scale ends without noise and spikes: low, high; empty: it does not cycle.
  std::optional<std::pair<double, double>> limit_cycle;
  double lost_limit = 0;          // share of the last updates skipped or clipped that still holds
  double random_sum_error = 0;    // relative, of a weight gradient's sum over tokens by its partial sums alone
  double coherent_sum_error = 0;  // the same for terms of one sign
  Trajectory trajectory;
  // Whether the scale has been as high as its balance.
  bool reaches_balance() const;
  bool needs_scale() const { return format == "float16"; }
  std::vector<ResolvedKey> resolved;
  Diagnostics warnings;
  std::string cost;            // what of the scheme's time and memory a run holds; a clause; empty: it costs nothing
  bool cost_left_out = false;  // a run holds none of it
  std::vector<std::string> notes;  // what a reader should know about the result: whole clauses
};

// Why a plan has no loss that could be scaled, as a clause, and the key that says so; empty: it has one.
struct NothingToScale {
  std::string reason;
  std::string key;
  std::string expected;
};
NothingToScale nothing_to_scale(const Plan& plan);

// `document` is the experiment as written. Throws ConfigError with every problem: inference, a head without a loss,
// automatic loss scaling without half precision, settings that contradict each other.
Analysis analyse(const Plan& plan, const Value& document, const Catalog& catalog, const ConfigFiles& configs);

}  // namespace podsim::loss_scaling
