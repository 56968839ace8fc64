#pragma once
// All constants of an IPU run together.

#include "models/ipu/constants.hpp"
#include "models/ipu/operators/pass_constants.hpp"

namespace podsim::ipu {

struct IpuConstants {
  ChipConstants chip;
  CostConstants cost;
  PassConstants passes;
  LossScalingConstants loss_scaling;
  SystemConstants system;
  SoftwareConstants software;
  MemoryConstants memory;
};

// What a program may fill of the memory of one IPU: all tiles, less what imbalance and gaps take.
Bytes usable_memory(const IpuConstants& constants);

}  // namespace podsim::ipu
