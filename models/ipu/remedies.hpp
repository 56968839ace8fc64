#pragma once
// Whether a plan fits, and what would make it fit: changes are tried one by one on the plan, and of those that help the
// one that costs the least throughput is named.

#include "models/ipu/ipu_plan.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/verdict.hpp"

namespace podsim::ipu {

// Every IPU in use and, when optimizer state is off-chip, the Streaming Memory of every machine.
MemoryAccount account_plan(const Plan& plan, const IpuPlan& ipu_plan);

Verdict judge(const MemoryAccount& account);

void add_remedies(const Plan& plan, const IpuPlan& ipu_plan, Verdict& verdict);

}  // namespace podsim::ipu
