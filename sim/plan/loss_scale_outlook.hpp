#pragma once
// What the loss scale does to a training, as reports tell it: a value, made from a plan by the model of gradients.

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace podsim {

// The constant scales that neither flush nor overflow, log2; whole numbers. None when low is above high.
struct ScaleWindow {
  int low_log2 = 0;
  int high_log2 = 0;
  std::string low_tensor;   // that flushes below
  std::string high_tensor;  // most likely to overflow above; empty: none does at any scale
  bool feasible() const { return low_log2 <= high_log2; }
  bool contains(double scale) const { return scale >= std::exp2(low_log2) && scale <= std::exp2(high_log2); }
};

enum class ScaleVerdict {
  holds,
  flushes,    // most values of some tensor become zero
  overflows,  // training ends, or too many updates are skipped or clipped
  runaway,    // the scale grows without end
};

struct LossScaleOutlook {
  std::string scheme;             // as `loss_scaling.mode` names it
  bool experimental = false;      // so its maker says
  std::string number_format;      // of gradients: "float16", "bfloat16", "float32"
  std::string overflow;           // what becomes of values that do not fit: "saturate", "infinity", "nan"
  std::int64_t updates = 0;       // weight updates followed, from the first of a training
  std::int64_t last_updates = 0;  // the last half of them, over which shares of updates are taken
  double initial_scale = 1;
  std::string initial_origin;           // "experiment.toml:12:5", "default: …"
  std::optional<double> reached_scale;  // of the last update; empty: infinite
  // Low and high, between which an automatic scale ends without noise and spikes; empty: it rests or grows.
  std::optional<std::pair<double, double>> limit_cycle;
  std::int64_t ramp_updates = 0;                      // before the first fall of the scale
  std::optional<std::int64_t> first_overflow_update;  // from 1
  // From 1: training ends there, since its controller gives up or infinities reach the weights.
  std::optional<std::int64_t> ended_update;
  double skipped_share = 0;           // of the last updates: not applied
  double saturated_share = 0;         // of the last updates: applied with clipped values
  double flushed_share = 0;           // of all non-zero gradient values, at the median update
  double subnormal_share = 0;         // of the same: kept with less precision
  std::optional<ScaleWindow> window;  // empty where no scale is needed
  std::string limiting_tensor;        // with the most large values; empty: none has any
  ScaleVerdict verdict = ScaleVerdict::holds;
  std::vector<std::string> notes;  // whole clauses
  std::string cost_left_out;       // why a run's time and memory do not hold the scheme's, a clause; empty: they do

  // Of the samples worked on: those of updates that are neither skipped nor clipped; none where training ends.
  double effective_share() const { return ended_update ? 0 : 1 - skipped_share - saturated_share; }
};

inline std::string_view name(ScaleVerdict verdict) {
  switch (verdict) {
    case ScaleVerdict::holds:
      return "holds";
    case ScaleVerdict::flushes:
      return "flushes";
    case ScaleVerdict::overflows:
      return "overflows";
    case ScaleVerdict::runaway:
      return "runaway";
  }
  return "";
}

}  // namespace podsim
