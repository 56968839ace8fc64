// Are trajectories and windows those that formulas give for gradients of a known distribution?
#include <doctest/doctest.h>

#include <cmath>
#include <memory>
#include <string>
#include <vector>

#include "models/catalog.hpp"
#include "models/loss_scaling/share_tables.hpp"
#include "models/loss_scaling/trajectory.hpp"
#include "sim/numerics/normal.hpp"

using namespace podsim;
using namespace podsim::loss_scaling;

namespace {

// One tensor of log-normal values, without drift, noise or spikes.
GradientModel lognormal_model(double location, double spread, double values) {
  GradientTensor tensor;
  tensor.name = "weight_gradient";
  tensor.values = values;
  tensor.components = {{1, {MagnitudeShape::lognormal, location, spread}}};
  tensor.product = true;
  tensor.bounds_window = true;
  GradientModel model;
  model.tensors = {tensor};
  model.process.drift = false;
  return model;
}

std::unique_ptr<LossScaleController> controller(const std::string& mode, const std::string& keys) {
  static const Catalog catalog = make_catalog();
  Diagnostics diagnostics;
  const auto document = parse_toml("[loss_scaling]\n" + keys, "x.toml", diagnostics);
  std::vector<ResolvedKey> resolved;
  SettingsReader settings(*document, resolved, diagnostics);
  return catalog.loss_scaling_scheme(mode)->make(settings, 1, *document, diagnostics);
}

TrajectorySettings expected(std::int64_t updates) {
  TrajectorySettings settings;
  settings.updates = updates;
  settings.statistics = Statistics::expected;
  return settings;
}

struct WindowCase {
  double location, spread, values;
  int low, high;
  bool feasible;
  double balance, balance_24, balance_21;  // log2 of the scale, by the edges of three releases
};

// Log-normal tensors: a hundredth may flush, any overflow once in a thousand updates.
constexpr WindowCase k_windows[] = {
    {-20, 2, 1e6, 0, 24, true, 22.60062, 21.601325, 25.60062},
    {-20, 3, 1e6, 2, 18, true, 17.401283, 16.401987, 20.401283},
    {-24, 2, 1e8, 4, 26, true, 26.60062, 25.601325, 29.60062},
    {-14, 3, 1e6, -4, 12, true, 11.401283, 10.401987, 14.401283},
    {-30, 3, 1e8, 12, 25, true, 27.401283, 26.401987, 30.401283},
    {-20, 4, 1e8, 5, 9, true, 12.201945, 11.20265, 15.201945},
    {-20, 6, 1e8, 9, -5, false, 1.8032699, 0.80397451, 4.8032699},
};

}  // namespace

TEST_CASE("loss scaling: windows and balances of log-normal gradients") {
  for (const WindowCase& row : k_windows) {
    CAPTURE(row.location);
    CAPTURE(row.spread);
    const GradientModel model = lognormal_model(row.location, row.spread, row.values);
    const Window window = recommended_window(model, {});
    CHECK(window.low == row.low);
    CHECK(window.high == row.high);
    CHECK(window.feasible() == row.feasible);
    CHECK(balanced_scale(model, 8188, 1e-7, false) == doctest::Approx(row.balance).epsilon(1e-6));
    CHECK(balanced_scale(model, 4096, 1e-7, false) == doctest::Approx(row.balance_24).epsilon(1e-6));
    CHECK(balanced_scale(model, 65504, 1e-7, false) == doctest::Approx(row.balance_21).epsilon(1e-6));
    // The same by the quantile of the normal distribution.
    CHECK(row.balance == doctest::Approx(std::log2(8188.0) - row.location + normal_quantile(1e-7) * row.spread));
  }
}

TEST_CASE("loss scaling: automatic scaling climbs to the balance and cycles around it") {
  for (const WindowCase& row : k_windows) {
    const GradientModel model = lognormal_model(row.location, row.spread, row.values);
    const auto als = controller("popart_als", "");
    const Trajectory trajectory = follow(model, *als, expected(100));
    CAPTURE(row.location);
    REQUIRE(trajectory.cycle);
    const double floor = std::floor(row.balance);
    CHECK(static_cast<double>(trajectory.cycle->first) == std::exp2(floor));
    CHECK(static_cast<double>(trajectory.cycle->second) == std::exp2(floor + 1));
    // From 1: floor(balance) rises, one beyond it, and the first fall.
    CHECK(trajectory.ramp_updates == static_cast<std::int64_t>(floor) + 2);
    CHECK(trajectory.skipped_updates == 0);
    CHECK_FALSE(trajectory.runaway);
  }
}

TEST_CASE("loss scaling: a million updates end in the cycle of the drifted gradients") {
  GradientModel model = lognormal_model(-20, 3, 1e6);
  GradientProcess& process = model.process;
  process.drift = true;
  process.initial_loss = 7;
  process.final_loss = 0.1;
  process.loss_time = 100;
  process.loss_exponent = 1;
  process.growth_time = 1;
  const auto als = controller("popart_als", "");
  const Trajectory trajectory = follow(model, *als, expected(1'000'000));
  REQUIRE(trajectory.cycle);
  const double balance = 17.401283 - drift_of(process, Drift::hidden, 1e6);
  CHECK(static_cast<double>(trajectory.cycle->first) == std::exp2(std::floor(balance)));
  CHECK(trajectory.scales.size() == 1'000'000);
}

TEST_CASE("loss scaling: with a period the ramp takes as many times the updates") {
  const GradientModel model = lognormal_model(-20, 3, 1e6);
  const auto als = controller("popart_als", "update_period = 4");
  const Trajectory trajectory = follow(model, *als, expected(400));
  // Rises end updates 1, 5, …, 69 (2^18); the fall ends update 73, so that update 74 is the first below.
  CHECK(trajectory.ramp_updates == 18 * 4 + 1);
  CHECK(trajectory.cycle->first == 0x1p17F);
}

TEST_CASE("loss scaling: gradients of exact zeros let the scale run away and a floor ends training") {
  GradientModel model = lognormal_model(-20, 3, 1e6);
  model.tensors[0].zero_share = 1;
  const auto als = controller("popart_als", "");
  const Trajectory trajectory = follow(model, *als, expected(200));
  CHECK(trajectory.runaway);
  CHECK(std::isinf(trajectory.scales.back()));
  CHECK(trajectory.falls == 0);
  GradientModel large = lognormal_model(30, 1, 1e6);
  TrajectorySettings settings = expected(200);
  settings.overflow = OverflowRule::infinity;
  const auto deepspeed = controller("deepspeed", "initial = 16\nhysteresis = 1\n");
  const Trajectory failed = follow(large, *deepspeed, settings);
  CHECK(failed.failure == "the loss scale is at its minimum and gradients still overflow");
  CHECK(failed.scales == std::vector<float>{16, 8, 4, 2, 1});
  CHECK(failed.first_overflow == 1);
  CHECK(failed.skipped_updates == 5);
  CHECK(failed.update_loss == 1);
}

TEST_CASE("loss scaling: outcomes of updates, the last half of them, and where training ends") {
  const GradientModel large = lognormal_model(20, 1, 1e6);  // overflows at any scale from 1 on
  TrajectorySettings settings = expected(9);
  const auto clipped = controller("constant", "initial = 1");
  const Trajectory saturated = follow(large, *clipped, settings);
  CHECK(saturated.outcomes == std::vector<UpdateOutcome>(9, UpdateOutcome::saturated));
  CHECK(last_updates(saturated).updates == 5);
  CHECK(last_updates(saturated).saturated == 5);
  CHECK(last_updates(saturated).share(2) == 0.4);
  CHECK_FALSE(ended_update(saturated));
  for (const OverflowRule rule : {OverflowRule::infinity, OverflowRule::not_a_number}) {
    settings.overflow = rule;
    const auto constant = controller("constant", "initial = 1");
    const Trajectory broken = follow(large, *constant, settings);
    CHECK(broken.outcomes.front() == UpdateOutcome::broken);
    CHECK(ended_update(broken) == 1);
  }
  const auto scaler = controller("grad_scaler", "initial = 4");
  const Trajectory skipped = follow(large, *scaler, settings);
  CHECK(skipped.outcomes == std::vector<UpdateOutcome>(9, UpdateOutcome::skipped));
  CHECK_FALSE(ended_update(skipped));
  const auto deepspeed = controller("deepspeed", "initial = 2\nhysteresis = 1\n");
  CHECK(ended_update(follow(large, *deepspeed, settings)) == 2);
  const auto none = controller("none", "");
  const Trajectory clean = follow(lognormal_model(-20, 1, 1e6), *none, settings);
  CHECK(clean.outcomes == std::vector<UpdateOutcome>(9, UpdateOutcome::clean));
}

TEST_CASE("loss scaling: shares over all tensors weigh each by its non-zero values, without accumulators") {
  GradientModel model = lognormal_model(-24, 3, 1e6);
  model.tensors.push_back(model.tensors[0]);
  model.tensors[1].values = 4e6;
  model.tensors[1].zero_share = 0.5;
  model.tensors[1].components[0].magnitudes.location = -20;
  model.tensors.push_back(model.tensors[0]);
  model.tensors[2].accumulator = true;
  const auto none = controller("none", "");
  const Trajectory trajectory = follow(model, *none, expected(5));
  // P(log2 |g| <= -25) and P(-25 < log2 |g| <= -14) of both.
  const double first = normal_cdf(-1.0 / 3);
  const double second = normal_cdf(-5.0 / 3);
  CHECK(trajectory.flushed_share == doctest::Approx((first + 2 * second) / 3));
  CHECK(trajectory.subnormal_share ==
        doctest::Approx((normal_cdf(10.0 / 3) - first + 2 * (normal_cdf(2) - second)) / 3));
}

TEST_CASE("loss scaling: tables give the shares of the distributions") {
  GradientTensor tensor;
  tensor.components = {{0.25, {MagnitudeShape::gaussian_mixture, -12.3, 0.75, 3}},
                       {0.25, {MagnitudeShape::gaussian_mixture, -17.1, 1.8, 3}},
                       {0.5, {MagnitudeShape::lognormal, -14, 2.5}}};
  const FormatLimits limits = limits_of(NumberFormat::float16);
  ShareTables tables;
  for (double octaves = -20; octaves < 40; octaves += 1.7) {
    CAPTURE(octaves);
    for (const double limit : {limits.flush, limits.normal, limits.overflow}) {
      CHECK(tables.at_most(tensor, limit, octaves) ==
            doctest::Approx(share_at_most(tensor, limit, octaves)).epsilon(1e-4));
      CHECK(tables.at_least(tensor, limit, octaves) ==
            doctest::Approx(share_at_least(tensor, limit, octaves)).epsilon(1e-4));
    }
    for (const bool stochastic : {false, true}) {
      CHECK(tables.flushed(tensor, limits, stochastic, octaves) ==
            doctest::Approx(share_flushed(tensor, limits, stochastic, octaves)).epsilon(1e-4));
    }
  }
  tensor.bound = -10;
  CHECK(tables.at_least(tensor, limits.overflow, 25) == 0);
  CHECK(tables.at_least(tensor, limits.overflow, 27) > 0);
}

TEST_CASE("loss scaling: a scaler of infinities skips at the start as often as it is too high") {
  const GradientModel model = lognormal_model(-20, 3, 1e6);
  // Any overflow is likelier than not from the scale where N P(|g| >= 65520 / S) = ln 2.
  const double share = std::log(2.0) / 1e6;
  const double edge = std::log2(65520.0) + 20 + 3 * normal_quantile(share);
  TrajectorySettings settings = expected(500);
  settings.overflow = OverflowRule::infinity;
  const auto scaler = controller("grad_scaler", "initial = 16777216\n");
  const Trajectory trajectory = follow(model, *scaler, settings);
  CHECK(trajectory.skipped_updates == static_cast<std::int64_t>(std::ceil(24 - edge)));
  CHECK(static_cast<double>(trajectory.scales.back()) == std::exp2(std::floor(edge)));
  // Where values saturate nothing is skipped, and the updates are applied with clipped values.
  settings.overflow = OverflowRule::saturate;
  const auto blind = controller("grad_scaler", "initial = 16777216\n");
  const Trajectory clipped = follow(model, *blind, settings);
  CHECK(clipped.skipped_updates == 0);
  CHECK(clipped.saturated_updates == 500);
}

TEST_CASE("loss scaling: shares over the updates are those of the distribution at the scales used") {
  const GradientModel model = lognormal_model(-20, 4, 1e6);
  const auto constant = controller("constant", "initial = 8");
  const Trajectory trajectory = follow(model, *constant, expected(10));
  REQUIRE(trajectory.tensors.size() == 1);
  const TensorHistory& tensor = trajectory.tensors[0];
  CHECK(tensor.flushed.median == doctest::Approx(0.02275013195).epsilon(1e-9));
  CHECK(tensor.subnormal.lowest == doctest::Approx(0.7506225157).epsilon(1e-9));
  CHECK(tensor.at_edge.highest == doctest::Approx(7.931408719e-17).epsilon(1e-6));  // of a constant scale: 65504
  CHECK(tensor.overflowed.highest == doctest::Approx(7.925564681e-17).epsilon(1e-6));
  CHECK(trajectory.limiting_tensor == "weight_gradient");
}

TEST_CASE("loss scaling: tabulated counts are those of the distribution to a part in ten thousand") {
  // The controller sees the expected counts: their ratio is the share at or above its edge.
  class Witness final : public LossScaleController {
   public:
    explicit Witness(float scale) : scale_(scale) {}
    float scale() const override { return scale_; }
    double edge() const override { return 8188; }
    bool finish_update(const GradientCounts& counts) override {
      share = counts.at_or_above / (counts.at_or_above + counts.below);
      return true;
    }
    void set_base_scale(float scale) override { scale_ = scale; }
    double share = 0;

   private:
    float scale_;
  };
  for (const double spread : {0.0, 0.3, 1.75}) {
    GradientModel model = lognormal_model(-12.34, 1, 1e6);
    model.tensors[0].components[0].magnitudes = {MagnitudeShape::gaussian_mixture, -12.34, spread};
    for (double log = 18; log < 27; log += 0.37) {
      Witness witness(static_cast<float>(std::exp2(log)));
      follow(model, witness, expected(1));
      const double exact = share_at_least(model.tensors[0], std::log2(8188.0), std::log2(double(witness.scale())));
      CAPTURE(spread);
      CAPTURE(log);
      if (exact > 1e-200) CHECK(witness.share == doctest::Approx(exact).epsilon(1e-4));
    }
  }
}

TEST_CASE("loss scaling: sampled runs repeat by their seed and agree with expectation where counts are large") {
  GradientModel model = lognormal_model(-20, 3, 1e6);
  model.process.noise = 0.25;
  model.process.noise_correlation = 0.9;
  model.process.spike_probability = 0.01;
  model.process.spike_height = 2;
  model.process.spike_length = 4;
  TrajectorySettings settings = expected(500);
  settings.statistics = Statistics::sampled;
  const auto run = [&](std::uint64_t seed) {
    settings.seed = seed;
    const auto als = controller("popart_als", "threshold_upper_count_proportion = 0.001");
    return follow(model, *als, settings).scales;
  };
  CHECK(run(1) == run(1));
  CHECK(run(1) != run(2));
  // Balance at a thousandth: 2^13 - 20 - 3.09 * 3; noise moves the scale by an octave or two around it.
  double mean = 0;
  for (const float scale : run(1)) mean += std::log2(static_cast<double>(scale)) / 500;
  const double balance = balanced_scale(model, 8188, 0.001, false);
  CHECK(std::abs(mean - balance) < 1.5);
}

TEST_CASE("loss scaling: tracking of products alone does not see other gradients") {
  GradientModel model = lognormal_model(-20, 3, 1e6);
  model.tensors.push_back(model.tensors[0]);
  model.tensors[1].product = false;
  model.tensors[1].components[0].magnitudes.location = -10;
  const double all = balanced_scale(model, 8188, 1e-7, false);
  const double products = balanced_scale(model, 8188, 1e-7, true);
  CHECK(products == doctest::Approx(17.401283).epsilon(1e-6));
  CHECK(all < products - 9);
}

TEST_CASE("loss scaling: drift moves with the loss and the output weights and can be switched off") {
  GradientProcess process;
  process.initial_loss = std::log(1000.0);
  process.final_loss = 1;
  process.loss_time = 100;
  process.growth_time = 50;
  process.growth_limit = 1;
  CHECK(drift_of(process, Drift::loss, 0) == 0);
  CHECK(drift_of(process, Drift::hidden, 0) == 0);
  const double loss = 1 + (std::log(1000.0) - 1) / 2;  // (1 + 300/100)^-0.5
  const double missed = std::log2((1 - std::exp(-loss)) / (1 - 1e-3));
  CHECK(drift_of(process, Drift::loss, 300) == doctest::Approx(missed));
  CHECK(drift_of(process, Drift::hidden, 300) == doctest::Approx(missed + 1));  // 0.5 log2(7) is beyond the limit
  process.drift = false;
  CHECK(drift_of(process, Drift::hidden, 300) == 0);
}
