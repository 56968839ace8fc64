// A constant loss scale: nothing is looked at, every update is applied.

#include "models/loss_scaling/scheme_support.hpp"
#include "models/loss_scaling/schemes.hpp"

namespace podsim::loss_scaling {
namespace {

class Constant final : public LossScaleController {
 public:
  explicit Constant(float scale) : scale_(scale) {}
  float scale() const override { return scale_; }
  double edge() const override { return k_half_largest; }
  bool finish_update(const GradientCounts&) override { return true; }
  void set_base_scale(float scale) override { scale_ = scale; }

 private:
  float scale_;
};

class ConstantScheme final : public LossScalingScheme {
 public:
  std::string_view name() const override { return "constant"; }
  std::string_view summary() const override { return "one scale for the whole training"; }
  std::vector<std::string_view> reads() const override { return {"initial"}; }
  std::unique_ptr<LossScaleController> make(SettingsReader& settings, double usual, const Value& document,
                                            Diagnostics& diagnostics) const override {
    return std::make_unique<Constant>(
        initial_scale(settings, usual, "default: the middle of the recommended window", document, diagnostics));
  }
};

class NoScheme final : public LossScalingScheme {
 public:
  std::string_view name() const override { return "none"; }
  std::string_view summary() const override { return "no scale: bfloat16, unit scaling, single precision"; }
  std::vector<std::string_view> reads() const override { return {}; }
  std::unique_ptr<LossScaleController> make(SettingsReader&, double, const Value&, Diagnostics&) const override {
    return std::make_unique<Constant>(1.0F);
  }
};

}  // namespace

std::unique_ptr<const LossScalingScheme> constant_scheme() {
  return std::make_unique<ConstantScheme>();
}

std::unique_ptr<const LossScalingScheme> no_scheme() {
  return std::make_unique<NoScheme>();
}

}  // namespace podsim::loss_scaling
