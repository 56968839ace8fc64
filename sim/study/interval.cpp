#include "sim/study/interval.hpp"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::int64_t k_most_attempts = 20;  // for one draw
constexpr std::size_t k_least_draws = 20;     // that fit, for quantiles of them
constexpr double k_least_share_pct = 1;
constexpr std::size_t k_most_parts = 8;

// The logarithm of the rate in one draw that fits.
struct Drawn {
  std::int64_t key = 0;  // which draw it was
  double log_rate = 0;
};

double at_share(const std::vector<double>& sorted, double share) {
  const double place = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(place);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (place - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

// Square of the correlation between a constant's draws and the rate's, in per cent.
double share_pct(const std::vector<Drawn>& draws, std::uint64_t seed, const std::string& name) {
  double sum_z = 0;
  double sum_y = 0;
  std::vector<double> zs;
  for (const Drawn& draw : draws) {
    zs.push_back(drawn_z(seed, draw.key, name));
    sum_z += zs.back();
    sum_y += draw.log_rate;
  }
  const auto count = static_cast<double>(draws.size());
  double zz = 0;
  double yy = 0;
  double zy = 0;
  for (std::size_t i = 0; i < draws.size(); ++i) {
    const double z = zs[i] - sum_z / count;
    const double y = draws[i].log_rate - sum_y / count;
    zz += z * z;
    yy += y * y;
    zy += z * y;
  }
  return zz > 0 && yy > 0 ? 100 * zy * zy / (zz * yy) : 0;
}

std::vector<IntervalPart> parts_of(const std::vector<Drawn>& draws, const Plan& plan, const Spreads& spreads,
                                   std::uint64_t seed) {
  // Of a constant that does not matter, less than this in all but few of a hundred: three standard errors.
  const double by_chance = 100 * 9 / static_cast<double>(std::max<std::size_t>(draws.size(), 1));
  const double least = std::max(k_least_share_pct, by_chance);
  std::vector<IntervalPart> parts;
  for (const ConstantId id : plan.family_plan->constants_read()) {
    const Constant& constant = plan.constants[id];
    const ConstantSpread spread = spreads.of(constant);
    if (spread.exact()) continue;
    const double share = share_pct(draws, seed, constant.name);
    if (share < least) continue;
    parts.push_back({constant.name, constant.confidence, text_with_value(constant, constant.base_value * spread.low),
                     text_with_value(constant, constant.base_value * spread.high), share});
  }
  std::ranges::stable_sort(parts, std::ranges::greater(), &IntervalPart::share_pct);
  if (parts.size() > k_most_parts) parts.resize(k_most_parts);
  return parts;
}

// What the runs gave, those that fit in full.
struct Samples {
  std::vector<Drawn> draws;
  std::vector<double> rates;
  std::vector<double> steps;
  std::int64_t runs = 0;
  std::int64_t fits = 0;

  void take(const VariedRun& run, std::int64_t key, std::uint64_t seed, double model_factor) {
    ++runs;
    if (run.fits) ++fits;
    if (!run.fits || !run.report->throughput) return;
    const double rate = run.report->throughput->samples_per_s;
    // What the model leaves out, on top of what its constants may be.
    const double left_out = factor_at({1 / model_factor, model_factor}, drawn_z(seed, key, "model"));
    draws.push_back({key, std::log(rate)});
    rates.push_back(rate * left_out);
    steps.push_back(run.report->step_time.duration().in_base() / left_out);
  }
};

}  // namespace

Quantiles quantiles_of(std::vector<double> values) {
  std::ranges::sort(values);
  return {at_share(values, 0.1), at_share(values, 0.5), at_share(values, 0.9)};
}

IntervalReport interval_of(const Experiment& experiment, const Plan& plan, const Spreads& spreads, VariedRuns& runs,
                           const IntervalOptions& options) {
  IntervalReport interval;
  interval.seed = options.seed;
  interval.model_factor = spreads.model_factor(std::string(plan.family->name()));
  Samples samples;
  Experiment varied = experiment;
  for (std::int64_t draw = 0; draw < options.draws; ++draw) {
    for (std::int64_t attempt = 0; attempt < k_most_attempts; ++attempt) {
      const std::int64_t key = draw + attempt * options.draws;
      varied.varied = drawn_constants(plan.constants, spreads, options.seed, key);
      const VariedRun run = runs.run(varied);
      if (!run.report) continue;
      samples.take(run, key, options.seed, interval.model_factor);
      break;
    }
  }
  interval.draws = samples.runs;
  for (const ConstantId id : plan.family_plan->constants_read()) {
    if (!spreads.of(plan.constants[id]).exact()) ++interval.varied;
  }
  if (interval.draws > 0)
    interval.fits_pct = 100 * static_cast<double>(samples.fits) / static_cast<double>(interval.draws);
  if (samples.rates.size() < k_least_draws) return interval;
  interval.samples_per_s = quantiles_of(std::move(samples.rates));
  interval.step_s = quantiles_of(std::move(samples.steps));
  interval.parts = parts_of(samples.draws, plan, spreads, options.seed);
  return interval;
}

}  // namespace podsim
