#pragma once
// Whether a system has the IPUs that the replicas take, and how many of its host processes drive them.
// Rules: poptorch CompilerImpl.cpp (powers of two, 64 IPUs per process), optimum-graphcore trainer.py (n_ipu).

#include <cstdint>

#include "models/ipu/constants.hpp"
#include "models/ipu/placement/ipu_placement.hpp"

namespace podsim::ipu {

// Sets used_ipus, reserved_ipus and instances from the IPUs and the number of replicas.
void check_devices(const IpuConfig& config, const PlacementRequest& request, Placement& placement,
                   Diagnostics& diagnostics);

// Whether `replicas` can run beside each other on `systems` of that kind: pods fill alike, device counts are powers of
// two, and host processes share the replicas out (0: as many as needed).
bool can_reserve(const SystemConstants& system, std::int64_t systems, std::int64_t ipus_per_replica,
                 std::int64_t replicas, std::int64_t instances);

}  // namespace podsim::ipu
