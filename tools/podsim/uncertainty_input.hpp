#pragma once
// Intervals and levers of a run, as its command line asks for them.

#include <cstdint>
#include <optional>
#include <vector>

#include "sim/plan/plan.hpp"
#include "sim/report/report.hpp"
#include "sim/study/interval.hpp"
#include "sim/study/varied_runs.hpp"
#include "tools/podsim/options.hpp"

namespace podsim {

// --interval, --draws and --seed, which says `seed_help`.
std::vector<OptionSpec> interval_options(std::string_view seed_help);

// Empty without --interval; throws UsageError where its options stand without it, or out of range.
std::optional<IntervalOptions> interval_options_from(const Arguments& arguments, std::int64_t default_draws);

// A plan that shares with the runs to come, with the hash of its inputs. Throws ConfigError with every problem.
Plan plan_from(const Experiment& experiment, VariedRuns& runs);

// Levers of a run that fits: resources and the main settings; all of them, in a table, for --view sensitivity.
void add_levers(const Arguments& arguments, const Experiment& experiment, const Plan& plan, VariedRuns& runs,
                Report& report);

}  // namespace podsim
