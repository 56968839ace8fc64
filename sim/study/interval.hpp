#pragma once
// What a run may come to, within what is known of its constants: a few hundred runs on the native engine, each under
// constants drawn from their spreads (see spread.hpp).

#include <cstdint>

#include "sim/plan/plan.hpp"
#include "sim/report/uncertainty.hpp"
#include "sim/study/spread.hpp"
#include "sim/study/varied_runs.hpp"

namespace podsim {

struct IntervalOptions {
  std::uint64_t seed = 1;
  std::int64_t draws = 256;
};

// Of a valid experiment and its plan. Draws under which the run is not legal are drawn anew.
IntervalReport interval_of(const Experiment& experiment, const Plan& plan, const Spreads& spreads, VariedRuns& runs,
                           const IntervalOptions& options);

// At least one value; between two of them by their distance (Hyndman and Fan's definition 7).
Quantiles quantiles_of(std::vector<double> values);

}  // namespace podsim
