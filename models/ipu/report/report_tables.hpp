#pragma once
// Tables that only this family has: the work of each pipeline stage, the parts of a step, the IPUs held.

#include "models/ipu/ipu_plan.hpp"
#include "sim/observe/run_result.hpp"
#include "sim/observe/table.hpp"
#include "sim/plan/family.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::ipu {

// A row per forward stage: its IPU, layers, and the time of its forward and, in training, recomputation and backward
// per micro-batch.
Table stage_table(const Plan& plan, const IpuPlan& ipu_plan);

// A row per part of one weight update (fill, full cycles, drain, reduction, …) with its time.
Table step_table(const Lowered& lowered, const RunResult& result);

// What a training run leaves of the system for evaluation, which attaches IPUs of its own, as many as a replica with
// this placement; a run that holds all makes it fail to acquire any (graphcore/poptorch issue 3).
Table ipus_table(const Plan& plan, const IpuPlan& ipu_plan);

// A row per block with its time; fill cycles are one row, drain cycles another, copies and results between them
// belong to their cycle.
Table parts_table(const std::string& name, const std::vector<ProgramBlock>& blocks, const Lowered& lowered,
                  const RunResult& result);

}  // namespace podsim::ipu
