#include "tools/podsim/uncertainty_input.hpp"

#include <fmt/format.h>

#include <utility>

#include "sim/plan/inputs_hash.hpp"
#include "sim/study/sensitivity.hpp"

namespace podsim {
namespace {

constexpr std::int64_t k_least_draws = 20;
constexpr std::int64_t k_most_draws = 100'000;

void append(std::vector<Lever> more, std::vector<Lever>& levers) {
  levers.insert(levers.end(), std::make_move_iterator(more.begin()), std::make_move_iterator(more.end()));
}

}  // namespace

std::vector<OptionSpec> interval_options(std::string_view seed_help) {
  return {{"interval", "", "P10, P50 and P90 within what is known of the constants"},
          {"draws", "N", "runs for the interval"},
          {"seed", "N", seed_help}};
}

std::optional<IntervalOptions> interval_options_from(const Arguments& arguments, std::int64_t default_draws) {
  const std::optional<std::int64_t> draws = integer_option(arguments, "draws");
  const std::optional<std::int64_t> seed = integer_option(arguments, "seed");
  if (!arguments.has("interval")) {
    if (draws) throw UsageError("option --draws has no effect without --interval");
    return std::nullopt;
  }
  if (arguments.value("format") == "csv") {
    throw UsageError("option --interval: csv has no columns for it; use another --format");
  }
  if (arguments.value("view")) throw UsageError("option --interval has no effect with --view, which prints one table");
  if (draws && (*draws < k_least_draws || *draws > k_most_draws)) {
    throw UsageError(
        fmt::format("option --draws: {} is out of range; expected {} to {}", *draws, k_least_draws, k_most_draws));
  }
  if (seed && *seed < 0) throw UsageError("option --seed: a seed is at least 0");
  return IntervalOptions{static_cast<std::uint64_t>(seed.value_or(1)), draws.value_or(default_draws)};
}

Plan plan_from(const Experiment& experiment, VariedRuns& runs) {
  PlanResult result = runs.make(experiment);
  if (!result.plan) throw ConfigError(std::move(result.diagnostics));
  Plan plan = std::move(*result.plan);
  plan.inputs_sha256 = inputs_hash(plan);
  return plan;
}

void add_levers(const Arguments& arguments, const Experiment& experiment, const Plan& plan, VariedRuns& runs,
                Report& report) {
  const bool all = arguments.value("view") == k_sensitivity_view;
  if (report.verdict.fits()) append(resource_levers(plan), report.levers);
  // Whoever asks for the fast engine has no time for plans made anew.
  const bool quick = !all && report.engine && report.engine->name == "native";
  if ((report.verdict.fits() && !quick) || all) append(main_setting_levers(experiment, plan, runs), report.levers);
  if (all) {
    append(further_setting_levers(experiment, plan, runs), report.levers);
    append(constant_levers(experiment, plan, runs), report.levers);
  }
  if (report.verdict.fits() && !quick) report.assumed_pct = assumed_share(experiment, plan, runs);
  sort_by_strength(report.levers);
  if (all) report.tables.push_back(sensitivity_table(report.levers));
}

}  // namespace podsim
