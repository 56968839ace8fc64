// PopART automatic loss scaling: large values of half-precision gradients are counted; too many halve the scale, else
// it doubles. It neither looks for infinities nor skips an update. Source: graphcore/popart,
// willow/src/transforms/automaticlossscaling.cpp and willow/src/popx/op/lossscaleupdatex.cpp.

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <optional>

#include "models/loss_scaling/scheme_support.hpp"
#include "models/loss_scaling/schemes.hpp"
#include "sim/numerics/number_format.hpp"

namespace podsim::loss_scaling {
namespace {

constexpr double k_infinite = std::numeric_limits<double>::infinity();

// What changed from release to release (defaults read at the release tags).
struct Release {
  const char* first;  // of the releases with these defaults
  double bin_edge_location;
  double half_maximum;  // that the location multiplies; 65535 was a mistake
  double clamp;         // of the scale; infinite: none
  bool has_update_period;
};

constexpr Release k_releases[] = {{"2.1", 1.0, 65535, k_infinite, false},
                                  {"2.2", 1.0, 65535, 32768, false},
                                  {"2.4", 0.0625, 65535, k_infinite, false},
                                  {"2.5", 0.125, 65504, k_infinite, true}};

const Release& release_of(const std::string& version) {
  const Release* found = &k_releases[0];
  for (const Release& release : k_releases) {
    if (version >= release.first) found = &release;  // one digit on each side of the point
  }
  return *found;
}

struct Settings {
  float base = 1;
  double edge = 0;
  float threshold = 1e-7F;  // share of values at or above the edge that is still accepted
  std::int64_t period = 1;  // updates from one look at the counts to the next
  float clamp = 0;
};

class PopartAutomatic final : public LossScaleController {
 public:
  explicit PopartAutomatic(const Settings& settings) : settings_(settings), base_(settings.base) {}

  float scale() const override { return base_ * factor_; }
  double edge() const override { return settings_.edge; }
  bool reads_counts() const override { return update_ % settings_.period == 0; }

  bool finish_update(const GradientCounts& counts) override {
    if (reads_counts()) {
      // Counts are compared in single precision. With a threshold of 1 the ratio is infinite and nothing exceeds it.
      const float ratio = settings_.threshold / (1.0F - settings_.threshold);
      const bool too_many = static_cast<float>(counts.at_or_above) > ratio * static_cast<float>(counts.below);
      factor_ = std::min(factor_ * (too_many ? 0.5F : 2.0F), settings_.clamp / base_);
    }
    ++update_;
    return true;
  }

  // The factor is a variable of the program: it stays.
  void set_base_scale(float scale) override { base_ = scale; }

 private:
  Settings settings_;
  float base_;
  float factor_ = 1;
  std::int64_t update_ = 0;
};

class PopartAutomaticScheme final : public LossScalingScheme {
 public:
  std::string_view name() const override { return "popart_als"; }
  std::string_view summary() const override {
    return "PopART: doubles or halves by the share of gradient values above an edge";
  }
  std::vector<std::string_view> reads() const override {
    return {"initial",       "sdk_version", "bin_edge_location", "threshold_upper_count_proportion",
            "update_period", "tracking"};
  }
  bool experimental() const override { return true; }
  bool counts_gradients() const override { return true; }

  std::unique_ptr<LossScaleController> make(SettingsReader& settings, double, const Value& document,
                                            Diagnostics& diagnostics) const override {
    const std::string version = settings.text("loss_scaling.sdk_version", "3.3", "default");
    const Release& release = release_of(version);
    Settings result;
    result.base = initial_scale(settings, 1, "default of the mode", document, diagnostics);
    const double location =
        settings.number("loss_scaling.bin_edge_location", release.bin_edge_location, "default of SDK " + version);
    // The edge is a constant in half precision: 65535 becomes the largest value.
    const auto edge = static_cast<float>(location * release.half_maximum);
    result.edge = static_cast<double>(rounded(edge, NumberFormat::float16, OverflowRule::saturate));
    result.threshold = single_setting(settings, "threshold_upper_count_proportion", 1e-7, "default of the SDK");
    result.clamp = static_cast<float>(release.clamp);
    const Value* period = document.find("loss_scaling.update_period");
    if (release.has_update_period) {
      result.period = settings.integer("loss_scaling.update_period", 1, "default of SDK " + version);
    } else if (period != nullptr) {
      diagnostics.error(period->place(), "loss_scaling.update_period", "SDK " + version + " has no such setting",
                        "loss_scaling.sdk_version = \"2.5\" or later");
    }
    if (result.base > result.clamp) {
      const Value* initial = document.find("loss_scaling.initial");
      diagnostics.error(initial->place(), "loss_scaling.initial",
                        fmt::format("{} is above 32768, where SDK {} clamps the scale", result.base, version),
                        "at most 32768");
    }
    return std::make_unique<PopartAutomatic>(result);
  }
};

}  // namespace

std::unique_ptr<const LossScalingScheme> popart_automatic_scheme() {
  return std::make_unique<PopartAutomaticScheme>();
}

}  // namespace podsim::loss_scaling
