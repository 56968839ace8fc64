// Dynamic scaling of NVIDIA apex amp: halves on overflow, down to a floor if one is set, doubles after 2000 updates
// without a skip, up to 2^24.
// Source: NVIDIA/apex, apex/amp/scaler.py, before its removal (parent of cb65b8ed).

#include <algorithm>

#include "models/loss_scaling/scheme_support.hpp"
#include "models/loss_scaling/schemes.hpp"

namespace podsim::loss_scaling {
namespace {

class Apex final : public LossScaleController {
 public:
  Apex(float initial, std::int64_t window, ScaleBounds bounds) : scale_(initial), window_(window), bounds_(bounds) {}

  float scale() const override { return scale_; }
  double edge() const override { return k_half_largest; }
  bool finish_update(const GradientCounts& counts) override {
    if (counts.non_finite) {
      scale_ = std::max(bounds_.minimum, scale_ / 2);
      unskipped_ = 0;
      return false;
    }
    if (++unskipped_ == window_) {
      unskipped_ = 0;
      scale_ = std::min(bounds_.maximum, scale_ * 2);
    }
    return true;
  }
  void set_base_scale(float scale) override { scale_ = scale; }

 private:
  float scale_;
  std::int64_t window_;
  ScaleBounds bounds_;
  std::int64_t unskipped_ = 0;
};

class ApexScheme final : public LossScalingScheme {
 public:
  std::string_view name() const override { return "apex"; }
  std::string_view summary() const override {
    return "NVIDIA apex: doubles after clean updates, halves and skips at an overflow";
  }
  std::vector<std::string_view> reads() const override { return {"initial", "growth_interval", "minimum", "maximum"}; }
  bool looks_for_non_finite() const override { return true; }

  std::unique_ptr<LossScaleController> make(SettingsReader& settings, double, const Value& document,
                                            Diagnostics& diagnostics) const override {
    const float initial = initial_scale(settings, 65536, "default of the mode", document, diagnostics);
    const std::int64_t window = settings.integer("loss_scaling.growth_interval", 2000, "default of the mode");
    const ScaleBounds bounds = scale_bounds(settings, initial, {0, 0x1p24F}, document, diagnostics);
    return std::make_unique<Apex>(initial, window, bounds);
  }
};

}  // namespace

std::unique_ptr<const LossScalingScheme> apex_scheme() {
  return std::make_unique<ApexScheme>();
}

}  // namespace podsim::loss_scaling
