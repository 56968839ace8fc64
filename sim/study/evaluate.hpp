#pragma once
// One plan, from its verdict to its report. What `check`, `run` and every study share.

#include <span>
#include <stdexcept>
#include <string>

#include "sim/engine/engine.hpp"
#include "sim/observe/observer.hpp"
#include "sim/plan/plan.hpp"
#include "sim/program/builder.hpp"
#include "sim/report/report.hpp"

namespace podsim {

struct EvaluateOptions {
  bool exact = false;     // every iteration of every repeat
  bool fold = true;       // equal replicas once
  bool merge = false;     // chains of local ops as one
  bool remedies = false;  // look for the cheapest change when it does not fit
  bool unfit = false;     // simulate also what does not fit
  bool details = false;   // with the family's long tables
};

// Verdict and memory from the plan alone.
Report check_plan(const Plan& plan, bool remedies);

// Lowers the plan, simulates it and reports. What does not fit is not simulated unless asked for: its report is that of
// check_plan, since the throughput of what cannot run misleads.
// Throws ConfigError when an exact run would execute more than 10^10 operations.
Report simulate_plan(const Plan& plan, Engine& engine, const EvaluateOptions& options,
                     std::span<Observer* const> observers = {});

// What a point leaves to the next one of one evaluator: its program, when its segments ran, on which platform.
struct PointStorage {
  ProgramStorage program;
  SegmentTimes times;
  Platform platform;
  RunResult result;
};

// A point of a sweep or search: what simulate_plan tells with merged chains, without what only a reader of one run
// looks at (make_values): all that result_cells holds is the same. What the point before left in `storage` serves again
// where nothing that decides it has changed.
Report evaluate_point(const Plan& plan, Engine& engine, PointStorage& storage);

// What to tell when a run's numbers are too large to be simulated.
std::string beyond_simulated_time(const std::range_error& error);

}  // namespace podsim
