#pragma once
// Keys that only the other mode reads. Published files carry both modes' keys, so only those of the [ipu] table itself
// are worth a word.

#include "models/ipu/config/ipu_config.hpp"

namespace podsim::ipu {

void warn_of_other_mode(const IpuConfig& config, RunMode mode, Diagnostics& diagnostics);

}  // namespace podsim::ipu
