#pragma once
// How a rule for the loss scale plugs in. Gradients are multiplied by the scale so that small ones survive a narrow
// number format; a controller moves the scale by what it sees of them.

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/diagnostics.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim {

// What one weight update shows a controller.
struct GradientCounts {
  double below = 0;         // tracked values whose magnitude is below the controller's edge
  double at_or_above = 0;   // the others; NaN counts here
  bool non_finite = false;  // some gradient is infinite or NaN
};

class LossScaleController {
 public:
  virtual ~LossScaleController() = default;
  // Of the next update; single precision, may be infinite.
  virtual float scale() const = 0;
  // The magnitude from which tracked values count as large.
  virtual double edge() const = 0;
  // Whether the next update's counts will be looked at.
  virtual bool reads_counts() const { return false; }
  // Ends an update; whether its step was applied to the weights.
  virtual bool finish_update(const GradientCounts& counts) = 0;
  // The optimizer is replaced by one with another loss scale.
  virtual void set_base_scale(float scale) = 0;
  // Why training stops here, as a clause; empty: it goes on.
  virtual std::string failure() const { return {}; }
};

// A kind of controller, chosen by `loss_scaling.mode`.
class LossScalingScheme {
 public:
  virtual ~LossScalingScheme() = default;
  virtual std::string_view name() const = 0;
  virtual std::string_view summary() const = 0;
  // Keys below `loss_scaling` that it reads, beside those that every scheme shares.
  virtual std::vector<std::string_view> reads() const = 0;
  // Whether its maker calls it experimental or a preview.
  virtual bool experimental() const { return false; }
  // Whether it compares counts of tracked gradients with an edge.
  virtual bool counts_gradients() const { return false; }
  // Whether it needs infinities to see an overflow.
  virtual bool looks_for_non_finite() const { return false; }
  // From `loss_scaling` keys that have passed their check; `usual` is the scale to start from when a user of a fixed
  // scale names none. Settings that contradict each other go to `diagnostics`.
  virtual std::unique_ptr<LossScaleController> make(SettingsReader& settings, double usual, const Value& document,
                                                    Diagnostics& diagnostics) const = 0;
};

}  // namespace podsim
