// DeepSpeed's dynamic scaler: hysteresis, then halves; an overflow at the minimum ends training. It grows when the
// updates since the last overflow, without the first, are a multiple of the window.
// Source: deepspeedai/DeepSpeed, deepspeed/runtime/fp16/loss_scaler.py.

#include <algorithm>
#include <limits>

#include "models/loss_scaling/scheme_support.hpp"
#include "models/loss_scaling/schemes.hpp"

namespace podsim::loss_scaling {
namespace {

struct Settings {
  float initial = 65536;
  std::int64_t window = 1000;
  std::int64_t hysteresis = 2;
  ScaleBounds bounds;
};

class DeepSpeed final : public LossScaleController {
 public:
  explicit DeepSpeed(const Settings& settings)
      : settings_(settings), scale_(settings.initial), forgiven_(settings.hysteresis) {}

  float scale() const override { return scale_; }
  double edge() const override { return k_half_largest; }
  bool finish_update(const GradientCounts& counts) override {
    const std::int64_t update = update_++;
    if (!counts.non_finite) {
      const std::int64_t clean = update - last_overflow_ - 1;
      if (clean > 0 && clean % settings_.window == 0) {
        forgiven_ = settings_.hysteresis;
        scale_ *= 2;
      }
      return true;
    }
    last_overflow_ = update;
    if (forgiven_ > 1) {
      --forgiven_;
    } else if (scale_ == settings_.bounds.minimum) {
      failed_ = true;
    } else {
      scale_ = std::max(scale_ / 2, settings_.bounds.minimum);
    }
    return false;
  }
  void set_base_scale(float scale) override { scale_ = scale; }
  std::string failure() const override {
    return failed_ ? "the loss scale is at its minimum and gradients still overflow" : "";
  }

 private:
  Settings settings_;
  float scale_;
  std::int64_t forgiven_;
  std::int64_t update_ = 0;
  std::int64_t last_overflow_ = -1;
  bool failed_ = false;
};

class DeepSpeedScheme final : public LossScalingScheme {
 public:
  std::string_view name() const override { return "deepspeed"; }
  std::string_view summary() const override {
    return "DeepSpeed: doubles after clean updates, halves after as many overflows as its hysteresis";
  }
  std::vector<std::string_view> reads() const override {
    return {"initial", "growth_interval", "hysteresis", "minimum"};
  }
  bool looks_for_non_finite() const override { return true; }

  std::unique_ptr<LossScaleController> make(SettingsReader& settings, double, const Value& document,
                                            Diagnostics& diagnostics) const override {
    Settings result;
    result.initial = initial_scale(settings, 65536, "default of the mode", document, diagnostics);
    result.window = settings.integer("loss_scaling.growth_interval", 1000, "default of the mode");
    result.hysteresis = settings.integer("loss_scaling.hysteresis", 2, "default of the mode");
    constexpr float k_none = std::numeric_limits<float>::infinity();
    result.bounds = scale_bounds(settings, result.initial, {1, k_none}, document, diagnostics);
    return std::make_unique<DeepSpeed>(result);
  }
};

}  // namespace

std::unique_ptr<const LossScalingScheme> deepspeed_scheme() {
  return std::make_unique<DeepSpeedScheme>();
}

}  // namespace podsim::loss_scaling
