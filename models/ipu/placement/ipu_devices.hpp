#pragma once
// Whether a system has the IPUs that the replicas take, and how many of its host processes drive them.
// Rules: poptorch CompilerImpl.cpp (powers of two, 64 IPUs per process), optimum-graphcore trainer.py (n_ipu).

#include "models/ipu/placement/ipu_placement.hpp"

namespace podsim::ipu {

// Sets used_ipus, reserved_ipus and instances from the IPUs and the number of replicas.
void check_devices(const IpuConfig& config, const PlacementRequest& request, Placement& placement,
                   Diagnostics& diagnostics);

}  // namespace podsim::ipu
