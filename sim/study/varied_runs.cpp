#include "sim/study/varied_runs.hpp"

#include <fmt/format.h>

#include <stdexcept>

namespace podsim {
namespace {

// A cache keeps every set of constants that it met.
constexpr int k_most_uses = 512;

std::string first_problem(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity != Severity::error) continue;
    return diagnostic.key.empty() ? diagnostic.problem : diagnostic.key + ": " + diagnostic.problem;
  }
  return "cannot be planned";
}

}  // namespace

VariedRuns::VariedRuns(const Catalog& catalog, const ConfigFiles& configs, bool unfit)
    : catalog_(catalog),
      configs_(configs),
      unfit_(unfit),
      engine_(make_engine("native")),
      cache_(std::make_unique<PlanCache>()) {}

void VariedRuns::forget_sometimes() {
  if (++used_ % k_most_uses == 0) cache_ = std::make_unique<PlanCache>();
}

PlanResult VariedRuns::make(const Experiment& experiment) {
  return make_plan(experiment, catalog_, configs_, *cache_);
}

std::optional<Plan> VariedRuns::plan(const Experiment& experiment, std::string& problem) {
  PlanResult made = make(experiment);
  if (!made.plan) problem = first_problem(made.diagnostics);
  return std::move(made.plan);
}

VariedRun VariedRuns::run(const Experiment& experiment) {
  forget_sometimes();
  VariedRun run;
  try {
    const std::optional<Plan> planned = plan(experiment, run.problem);
    if (!planned) return run;
    Report report = evaluate_point(*planned, engine_, storage_);
    run.fits = report.verdict.fits();
    if (!run.fits && unfit_) report = simulate_plan(*planned, engine_, {.merge = true, .unfit = true});
    run.report = std::move(report);
  } catch (const ConfigError& error) {
    run.problem = first_problem(error.diagnostics());
  } catch (const std::range_error& error) {
    run.problem = beyond_simulated_time(error);
  }
  return run;
}

}  // namespace podsim
