#pragma once
// Device time of the optimizer on one IPU: passes over the state in float32 and launches per parameter tensor (LAMB
// needs more than Adam and SGD, for its norms). Constants: configs/constants/ipu-transformer-cost.toml.

#include <string>

#include "models/ipu/ipu_constants.hpp"
#include "models/ipu/ipu_plan.hpp"

namespace podsim::ipu {

Duration optimizer_time(const PlacedParameters& parameters, const std::string& optimizer,
                        const IpuConstants& constants);

}  // namespace podsim::ipu
