#pragma once
// From the [ipu] section to a checked IpuPlan.

#include <memory>

#include "models/ipu/ipu_plan.hpp"
#include "sim/plan/family.hpp"

namespace podsim::ipu {

// All problems go to `diagnostics`; null when there are errors.
std::unique_ptr<IpuPlan> resolve_plan(FamilyContext& context, Diagnostics& diagnostics,
                                      std::shared_ptr<SharedParts> parts = nullptr);

// "pod64" for one "bow-pod64" or "systems/pod64.toml"; empty for what is no pod, and for several.
std::string pod_name(const std::string& system, std::int64_t systems);

// "bow-pod16" as people write it: "Bow Pod16".
std::string display_name(const std::string& system);

}  // namespace podsim::ipu
