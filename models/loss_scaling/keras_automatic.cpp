// ALSOptimizer of the IPU edition of Keras: the share of saturated gradient values, averaged over a period, halves or
// doubles the scale. A value outside of [1, 32768) is not taken, so that powers of two from 1 end at 16384.
// Source: graphcore/keras, keras/ipu/optimizers/als_optimizer.py.

#include <cmath>

#include "models/loss_scaling/scheme_support.hpp"
#include "models/loss_scaling/schemes.hpp"

namespace podsim::loss_scaling {
namespace {

struct Settings {
  float initial = 1;
  float growth = 2;
  float backoff = 0.5F;
  double threshold = 1e-5;
  std::int64_t period = 8;
  ScaleBounds bounds;
};

class KerasAutomatic final : public LossScaleController {
 public:
  explicit KerasAutomatic(const Settings& settings) : settings_(settings), scale_(settings.initial) {}

  float scale() const override { return scale_; }
  // The bin's edge is the largest half minus twice its epsilon, which is the largest half in single precision.
  double edge() const override { return k_half_largest; }
  bool reads_counts() const override { return true; }

  bool finish_update(const GradientCounts& counts) override {
    below_ += counts.below;
    above_ += counts.at_or_above;
    if (++update_ % settings_.period == 0) {
      const bool too_many = above_ > settings_.threshold * (above_ + below_);
      const float next = scale_ * (too_many ? settings_.backoff : settings_.growth);
      if (std::isfinite(next) && next < settings_.bounds.maximum && next >= settings_.bounds.minimum) scale_ = next;
      below_ = 0;
      above_ = 0;
    }
    return true;
  }
  void set_base_scale(float scale) override { scale_ = scale; }

 private:
  Settings settings_;
  float scale_;
  double below_ = 0;
  double above_ = 0;
  std::int64_t update_ = 0;
};

class KerasAutomaticScheme final : public LossScalingScheme {
 public:
  std::string_view name() const override { return "keras_als"; }
  std::string_view summary() const override {
    return "IPU Keras: grows or shrinks at even distances, by the share of saturated gradient values";
  }
  std::vector<std::string_view> reads() const override {
    return {"initial", "growth_factor", "backoff_factor", "growth_interval", "ratio_threshold", "minimum", "maximum"};
  }
  bool counts_gradients() const override { return true; }

  std::unique_ptr<LossScaleController> make(SettingsReader& settings, double, const Value& document,
                                            Diagnostics& diagnostics) const override {
    Settings result;
    result.initial = initial_scale(settings, 1, "default of the mode", document, diagnostics);
    result.growth = single_setting(settings, "growth_factor", 2, "default of the mode");
    result.backoff = single_setting(settings, "backoff_factor", 0.5, "default of the mode");
    result.period = settings.integer("loss_scaling.growth_interval", 8, "default of the mode");
    result.threshold = settings.number("loss_scaling.ratio_threshold", 1e-5, "default of the mode");
    result.bounds = scale_bounds(settings, result.initial, {1, 32768}, document, diagnostics);
    return std::make_unique<KerasAutomatic>(result);
  }
};

}  // namespace

std::unique_ptr<const LossScalingScheme> keras_automatic_scheme() {
  return std::make_unique<KerasAutomaticScheme>();
}

}  // namespace podsim::loss_scaling
