#pragma once
// What a controller does over many weight updates, and which constant scale would do: pure functions of a model of the
// gradients.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "models/loss_scaling/gradient_model.hpp"
#include "sim/plan/loss_scaling.hpp"

namespace podsim::loss_scaling {

enum class Statistics {
  expected,  // counts are their expectation; nothing is drawn
  sampled,   // counts, noise and spikes are drawn
};

struct TrajectorySettings {
  std::int64_t updates = 1000;
  Statistics statistics = Statistics::sampled;
  std::uint64_t seed = 1;
  NumberFormat format = NumberFormat::float16;
  OverflowRule overflow = OverflowRule::saturate;
  bool stochastic = false;     // gradients are rounded stochastically
  bool products_only = false;  // only gradients of matrix products and convolutions are tracked
};

struct Range {
  double lowest = 0;
  double median = 0;
  double highest = 0;
};

// Shares of a tensor's non-zero values over the updates.
struct TensorHistory {
  std::string name;
  int layer = -1;
  double values = 0;  // per micro-batch
  bool bounds_window = false;
  Range flushed;
  Range subnormal;
  Range at_edge;  // at or above the controller's edge
  Range overflowed;
};

// What the optimizer did with an update: applied it whole, with clipped values, with infinities or NaN, or not at all.
enum class UpdateOutcome : std::uint8_t { clean, saturated, broken, skipped };

struct Trajectory {
  std::vector<float> scales;                   // used by each update
  std::vector<UpdateOutcome> outcomes;         // of each update
  std::optional<std::int64_t> first_overflow;  // update, from 1: some value did not fit
  std::int64_t overflowed_updates = 0;
  double expected_overflows = 0;  // the sum of the probabilities
  std::int64_t skipped_updates = 0;
  std::int64_t saturated_updates = 0;  // applied with clipped values
  std::int64_t ramp_updates = 0;       // before the first fall of the scale; all without one
  std::int64_t rises = 0;
  std::int64_t falls = 0;
  std::optional<std::pair<float, float>> cycle;  // the two scales between which it goes at the end
  bool runaway = false;                          // beyond 2^100, or 64 rises without a fall at the end
  std::string failure;                           // of the controller; the trajectory ends there
  // With the most values at or above the edge, at the median; empty: none has any.
  std::string limiting_tensor;
  // Of all non-zero values but those of accumulators, each tensor at its median.
  double flushed_share = 0;
  double subnormal_share = 0;
  double update_loss = 0;  // updates skipped; else the largest 1 - cos between a weight gradient and what is left of it
  std::vector<TensorHistory> tensors;
};

// The last half of the updates, behind the ramp of a usual run.
struct LastUpdates {
  std::int64_t updates = 0;
  std::int64_t skipped = 0;
  std::int64_t saturated = 0;
  double share(std::int64_t count) const { return static_cast<double>(count) / static_cast<double>(updates); }
};
LastUpdates last_updates(const Trajectory& trajectory);

// The update, from 1, in which training ends: its controller gives up, or infinities or NaN reach the weights.
std::optional<std::int64_t> ended_update(const Trajectory& trajectory);

Trajectory follow(const GradientModel& model, LossScaleController& controller, const TrajectorySettings& settings);

struct WindowSettings {
  NumberFormat format = NumberFormat::float16;
  bool stochastic = false;
  double flush_limit = 1e-2;     // of the non-zero values of a tensor
  double overflow_limit = 1e-3;  // of any overflow in an update
  double headroom = 0;           // octaves above the values for partial sums and spikes
  double negligible = 0;         // parts of a tensor with less of its sum of squares are not counted as flushed
  std::int64_t updates = 1000;   // over which gradients drift
};

// log2 of the constant scales that keep both limits all the time: whole numbers.
struct Window {
  int low = 0;
  int high = 0;
  std::string low_tensor;   // that would flush below
  std::string high_tensor;  // most likely to overflow above; empty: none does at any scale
  bool feasible() const { return low <= high; }
  double centre() const { return (low + high) / 2.0; }
  int width() const { return high - low; }
};
Window recommended_window(const GradientModel& model, const WindowSettings& settings);

// log2 of the scale at which a share `threshold` of the tracked values is at or above `edge`, at the first update.
double balanced_scale(const GradientModel& model, double edge, double threshold, bool products_only);

}  // namespace podsim::loss_scaling
