#pragma once
// All constants of an IPU run together.

#include <optional>

#include "models/ipu/constants.hpp"
#include "models/ipu/operators/operator_constants.hpp"
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
  std::optional<OperatorConstants> operators;  // of graphs with convolutions only
};

// What a program may fill of the memory of one IPU: all tiles, less what imbalance and gaps take.
Bytes usable_memory(const IpuConstants& constants);

}  // namespace podsim::ipu
