#pragma once
// What the family says of an inference or generation run beside its simulation.

#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "sim/observe/run_result.hpp"
#include "sim/observe/table.hpp"
#include "sim/plan/family.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::ipu {

// A step is one host call; in generation, one request.
StepFacts inference_step_facts(const Plan& plan, const IpuPlan& ipu_plan);
ScheduleFacts inference_schedule(const Plan& plan, const IpuPlan& ipu_plan);

// Stages; parts of the call; what it returns by output mode; sharded and pipelined execution side by side, the one that
// was not simulated by its formula (left out where IPUs differ in speed).
std::vector<Table> inference_tables(const Plan& plan, const IpuPlan& ipu_plan, const Lowered& lowered,
                                    const RunResult& result);

// Results of one host call: one per replica, in mode `all` for each device iteration.
std::int64_t results_per_call(const RunSetup& setup, OutputMode mode);

}  // namespace podsim::ipu
