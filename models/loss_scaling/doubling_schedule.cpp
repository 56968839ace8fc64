// A loss scale that doubles at even distances over the epochs, from an initial to a final value.
// Source: graphcore/examples, vision/cnns/pytorch/train/README.md.

#include <cmath>

#include "models/loss_scaling/scheme_support.hpp"
#include "models/loss_scaling/schemes.hpp"

namespace podsim::loss_scaling {
namespace {

class DoublingSchedule final : public LossScaleController {
 public:
  DoublingSchedule(float initial, int steps, std::int64_t epochs, std::int64_t updates_per_epoch)
      : initial_(initial), steps_(steps), epochs_(epochs), updates_per_epoch_(updates_per_epoch) {}

  float scale() const override {
    // Whole numbers, so that no epoch falls on the wrong side of a step.
    const std::int64_t epoch = std::min(update_ / updates_per_epoch_, epochs_ - 1);
    return std::ldexp(initial_, static_cast<int>(epoch * steps_ / epochs_));
  }
  double edge() const override { return k_half_largest; }
  bool finish_update(const GradientCounts&) override {
    ++update_;
    return true;
  }
  void set_base_scale(float scale) override { initial_ = scale; }

 private:
  float initial_;
  std::int64_t steps_;  // scales that are used
  std::int64_t epochs_;
  std::int64_t updates_per_epoch_;
  std::int64_t update_ = 0;
};

class DoublingScheduleScheme final : public LossScalingScheme {
 public:
  std::string_view name() const override { return "schedule"; }
  std::string_view summary() const override { return "doubles at even distances over the epochs"; }
  std::vector<std::string_view> reads() const override { return {"initial", "final", "epochs", "updates_per_epoch"}; }

  std::unique_ptr<LossScaleController> make(SettingsReader& settings, double, const Value& document,
                                            Diagnostics& diagnostics) const override {
    const float initial = initial_scale(settings, 16, "default of the mode", document, diagnostics);
    const float final_scale = single_setting(settings, "final", 128, "default of the mode");
    const std::int64_t epochs = settings.integer("loss_scaling.epochs", 100, "default of the mode");
    const std::int64_t per_epoch = settings.integer("loss_scaling.updates_per_epoch", 1, "default of the mode");
    int exponent = 0;
    if (final_scale < initial || std::frexp(final_scale / initial, &exponent) != 0.5F) {
      const Value* written = document.find("loss_scaling.final");
      if (written == nullptr) written = document.find("loss_scaling.initial");
      diagnostics.error(written->place(), "loss_scaling.final", "is not reached from the initial scale by doubling",
                        "loss_scaling.initial times a power of two");
      exponent = 1;
    }
    return std::make_unique<DoublingSchedule>(initial, exponent, epochs, per_epoch);
  }
};

}  // namespace

std::unique_ptr<const LossScalingScheme> doubling_schedule_scheme() {
  return std::make_unique<DoublingScheduleScheme>();
}

}  // namespace podsim::loss_scaling
