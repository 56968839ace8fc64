#pragma once
// What resolving has to do beyond training when nothing is trained.

#include "models/ipu/config/ipu_config.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "sim/plan/family.hpp"

namespace podsim::ipu {

// Before the checks against model and system: settles the keys whose meaning depends on the mode, and says what the
// result cannot be held against.
void prepare_inference(const FamilyContext& context, IpuConfig& config, Diagnostics& diagnostics);

// Once the shared keys of `plan.setup` stand: how inference runs and what it returns.
void fill_inference(const FamilyContext& context, const IpuConfig& config, IpuPlan& plan, Diagnostics& diagnostics);

}  // namespace podsim::ipu
