// PyTorch's GradScaler: an infinite or NaN gradient halves the scale and skips the update; 2000 clean updates in a row
// double it. No floor; growth to infinity is refused.
// Source: pytorch/pytorch, torch/amp/grad_scaler.py and pull request 98876.

#include <cmath>

#include "models/loss_scaling/scheme_support.hpp"
#include "models/loss_scaling/schemes.hpp"

namespace podsim::loss_scaling {
namespace {

class GradScaler final : public LossScaleController {
 public:
  GradScaler(float initial, float growth, float backoff, std::int64_t interval)
      : scale_(initial), growth_(growth), backoff_(backoff), interval_(interval) {}

  float scale() const override { return scale_; }
  double edge() const override { return k_half_largest; }
  bool finish_update(const GradientCounts& counts) override {
    if (counts.non_finite) {
      scale_ *= backoff_;
      clean_ = 0;
      return false;
    }
    if (++clean_ == interval_) {
      clean_ = 0;
      if (std::isfinite(scale_ * growth_)) scale_ *= growth_;
    }
    return true;
  }
  void set_base_scale(float scale) override { scale_ = scale; }

 private:
  float scale_;
  float growth_;
  float backoff_;
  std::int64_t interval_;
  std::int64_t clean_ = 0;
};

class GradScalerScheme final : public LossScalingScheme {
 public:
  std::string_view name() const override { return "grad_scaler"; }
  std::string_view summary() const override {
    return "PyTorch GradScaler: grows after clean updates, shrinks and skips at an overflow";
  }
  std::vector<std::string_view> reads() const override {
    return {"initial", "growth_factor", "backoff_factor", "growth_interval"};
  }
  bool looks_for_non_finite() const override { return true; }

  std::unique_ptr<LossScaleController> make(SettingsReader& settings, double, const Value& document,
                                            Diagnostics& diagnostics) const override {
    const float initial = initial_scale(settings, 65536, "default of the mode", document, diagnostics);
    const float growth = single_setting(settings, "growth_factor", 2, "default of the mode");
    const float backoff = single_setting(settings, "backoff_factor", 0.5, "default of the mode");
    const std::int64_t interval = settings.integer("loss_scaling.growth_interval", 2000, "default of the mode");
    return std::make_unique<GradScaler>(initial, growth, backoff, interval);
  }
};

}  // namespace

std::unique_ptr<const LossScalingScheme> grad_scaler_scheme() {
  return std::make_unique<GradScalerScheme>();
}

}  // namespace podsim::loss_scaling
