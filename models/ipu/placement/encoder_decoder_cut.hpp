#pragma once
// Text generation runs the encoder and the decoder as two programs, each on its own IPUs of the replica. Where the cut
// may fall: optimum-graphcore modeling_utils.py (split_encoder_decoder_ipu_config), 0.6.1 to 0.7.1.

#include <cstdint>
#include <optional>
#include <vector>

#include "models/ipu/placement/ipu_placement.hpp"

namespace podsim::ipu {

// IPUs of the encoder: the largest power of two among the positions up to which the counts sum to `encoder_layers`.
// `layers` has one count per IPU, wildcards replaced. Empty when there is no such position.
std::optional<std::int64_t> encoder_ipus(const std::vector<std::int64_t>& layers, std::int64_t encoder_layers);

// A cut that cannot be made, and splits of the embedding or the projection on the wrong side of it: errors in
// generation, in inference warnings, since a forward pass alone needs no cut. Nothing for models of one stack, nor
// where the encoder runs under a condition beside the decoder.
void check_encoder_decoder(const ModeSettings& mode, const PlacementRequest& request,
                           const std::vector<std::int64_t>& layers, Diagnostics& diagnostics);

}  // namespace podsim::ipu
