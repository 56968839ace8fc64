#pragma once
// What only networks of convolutions have: constants of their own in place of the transformers', recomputation in
// segments on one IPU, norms over several replicas.

#include "models/ipu/config/ipu_config.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/placement/ipu_placement.hpp"
#include "sim/plan/family.hpp"

namespace podsim::ipu {

// In which one host process makes an image ready.
inline constexpr const char* k_image_pace = "software.convolution.instance_sample_time";

// Where their optimizer state lives unless said, where it is not where that of other models does.
inline constexpr const char* k_network_state = "software.convolution.optimizer_state";

// Framework factor, overheads, host pace and code as the software runs such networks (software.convolution.*), where
// its profile tells; the ring of replicas of one IPU; the cost of their operators.
void read_network_constants(ConstantReader& reader, IpuConstants& constants);

// The keys that only these networks heed: recompute_segments, recompute_checkpoints, distributed_batch_norm_replicas.
void check_network(const FamilyContext& context, const IpuConfig& config, const Placement& placement,
                   Diagnostics& diagnostics);

// Puts them into the setup and among the resolved keys.
void fill_network(const FamilyContext& context, const IpuConfig& config, IpuPlan& plan);

}  // namespace podsim::ipu
