// Megatron-LM's dynamic scaler: the first overflows are forgiven (hysteresis), the next ones halve the scale. Clean
// updates do not restore the forgiveness, growth does; so overflows need not be consecutive, against its doc string.
// Source: NVIDIA/Megatron-LM, megatron/core/optimizer/grad_scaler.py.

#include <algorithm>
#include <limits>

#include "models/loss_scaling/scheme_support.hpp"
#include "models/loss_scaling/schemes.hpp"

namespace podsim::loss_scaling {
namespace {

struct Settings {
  float initial = 0x1p32F;
  float growth = 2;
  float backoff = 0.5F;
  std::int64_t interval = 1000;
  std::int64_t hysteresis = 2;
  ScaleBounds bounds;
};

class Megatron final : public LossScaleController {
 public:
  explicit Megatron(const Settings& settings)
      : settings_(settings), scale_(settings.initial), forgiven_(settings.hysteresis) {}

  float scale() const override { return scale_; }
  double edge() const override { return k_half_largest; }
  bool finish_update(const GradientCounts& counts) override {
    if (counts.non_finite) {
      clean_ = 0;
      if (--forgiven_ <= 0) scale_ = std::max(scale_ * settings_.backoff, settings_.bounds.minimum);
      return false;
    }
    if (++clean_ == settings_.interval) {
      clean_ = 0;
      forgiven_ = settings_.hysteresis;
      scale_ *= settings_.growth;
    }
    return true;
  }
  void set_base_scale(float scale) override { scale_ = scale; }

 private:
  Settings settings_;
  float scale_;
  std::int64_t forgiven_;
  std::int64_t clean_ = 0;
};

class MegatronScheme final : public LossScalingScheme {
 public:
  std::string_view name() const override { return "megatron"; }
  std::string_view summary() const override {
    return "Megatron-LM: grows after clean updates, shrinks after as many overflows as its hysteresis";
  }
  std::vector<std::string_view> reads() const override {
    return {"initial", "growth_factor", "backoff_factor", "growth_interval", "hysteresis", "minimum"};
  }
  bool looks_for_non_finite() const override { return true; }

  std::unique_ptr<LossScaleController> make(SettingsReader& settings, double, const Value& document,
                                            Diagnostics& diagnostics) const override {
    Settings result;
    result.initial = initial_scale(settings, 0x1p32, "default of the mode", document, diagnostics);
    result.growth = single_setting(settings, "growth_factor", 2, "default of the mode");
    result.backoff = single_setting(settings, "backoff_factor", 0.5, "default of the mode");
    result.interval = settings.integer("loss_scaling.growth_interval", 1000, "default of the mode");
    result.hysteresis = settings.integer("loss_scaling.hysteresis", 2, "default of the mode");
    constexpr float k_none = std::numeric_limits<float>::infinity();
    result.bounds = scale_bounds(settings, result.initial, {1, k_none}, document, diagnostics);
    return std::make_unique<Megatron>(result);
  }
};

}  // namespace

std::unique_ptr<const LossScalingScheme> megatron_scheme() {
  return std::make_unique<MegatronScheme>();
}

}  // namespace podsim::loss_scaling
