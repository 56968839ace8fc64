#pragma once
// A plan as an IPUConfig file of Optimum Graphcore.

#include <string>

#include "models/ipu/ipu_plan.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::ipu {

// JSON with every key of the run that such a file has; keys beyond IPUConfig are left out.
std::string ipu_config_text(const Plan& plan, const IpuPlan& ipu_plan);

}  // namespace podsim::ipu
