#pragma once
// What would make a plan fit: changes are tried one by one, then two at a time, on the plan; of those with which no
// limit is broken any more the one that costs the least throughput per replica is named.

#include "models/ipu/ipu_plan.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/verdict.hpp"

namespace podsim::ipu {

void add_remedies(const Plan& plan, const IpuPlan& ipu_plan, Verdict& verdict);

}  // namespace podsim::ipu
