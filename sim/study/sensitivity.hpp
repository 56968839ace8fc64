#pragma once
// What would change the result of a run: a tenth more of each resource, the next legal setting of each key.
//
// Resources are first changed in the program as it is planned: all time and traffic of a category is a tenth faster,
// and the native engine runs it again, so that what is hidden behind other work gains nothing. Nothing is planned anew;
// constants and settings are, and their verdicts with them.

#include <optional>
#include <string_view>
#include <vector>

#include "sim/observe/table.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/uncertainty.hpp"
#include "sim/study/varied_runs.hpp"

namespace podsim {

inline constexpr std::string_view k_sensitivity_view = "sensitivity";

// Of a program; resources that it does not use are left out.
std::vector<Lever> resource_levers(const Platform& platform, const Program& program);
// Of a plan that fits.
std::vector<Lever> resource_levers(const Plan& plan);

// The settings whose next value is tried in every run: micro-batches per update, recomputation and, unless `quick`, the
// micro-batch, for which all operators are planned anew.
std::vector<Lever> main_setting_levers(const Experiment& experiment, const Plan& plan, VariedRuns& runs, bool quick);
// The family's own switches and counts, as their descriptions tell.
std::vector<Lever> further_setting_levers(const Experiment& experiment, const Plan& plan, VariedRuns& runs);

// Rates, clocks and memories of chip and system that the plan read, a tenth larger each.
std::vector<Lever> constant_levers(const Experiment& experiment, const Plan& plan, VariedRuns& runs);

// How much of the step rests on assumed constants: Σ |∂ ln step / ∂ ln constants| in per cent, from a hundredth more of
// all rates, all times and all plain numbers among them. Within each of the three, those that work against each other
// cancel out. Empty: a run under such constants is not legal.
std::optional<double> assumed_share(const Experiment& experiment, const Plan& plan, VariedRuns& runs);

// The largest change of throughput first; then those that change the verdict alone.
void sort_by_strength(std::vector<Lever>& levers);

// For the view of that name.
Table sensitivity_table(const std::vector<Lever>& levers);

}  // namespace podsim
