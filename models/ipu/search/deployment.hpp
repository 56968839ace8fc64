#pragma once
// A plan as an IPUConfig file of Optimum Graphcore.

#include "models/ipu/ipu_plan.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::ipu {

// Every key of the run that such a file has; keys beyond IPUConfig are left out.
Deployment ipu_config_of(const Plan& plan, const IpuPlan& ipu_plan);

}  // namespace podsim::ipu
