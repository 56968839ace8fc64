#pragma once
// Whether the vocabulary divides into the passes of embedding and projection, and where their splits may stand.
// Rules: optimum-graphcore modeling_utils.py (SerializedEmbedding), modeling_gpt2.py (padding), modeling_mt5.py and
// modeling_whisper.py (splits of tied tables); popart, matmul.cpp (divisor of a serialised product).

#include "models/ipu/placement/ipu_placement.hpp"

namespace podsim::ipu {

// Rows of the table, padded where the model pads.
std::int64_t check_serialization(const IpuConfig& config, const PlacementRequest& request, Diagnostics& diagnostics);

}  // namespace podsim::ipu
