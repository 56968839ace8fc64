#pragma once
// A plan of one pass: how it is split over tiles and serial steps, what a tile holds of it, and what it costs.

#include <cstdint>

#include "models/ipu/operators/cost_by_part.hpp"
#include "models/ipu/operators/pass_variant.hpp"

namespace podsim::ipu {

// Parts that each axis is cut into.
struct PassSplit {
  std::int64_t groups = 1;
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;  // of the field; of a flat pass: positions
  std::int64_t input_channels = 1;
  std::int64_t output_channels = 1;
  std::int64_t kernel_rows = 1;
  std::int64_t serial_steps = 1;  // over the output channels, one after the other
  std::int64_t tiles() const {
    return groups * batch * rows * columns * input_channels * output_channels * kernel_rows;
  }
  friend bool operator==(const PassSplit&, const PassSplit&) = default;
};

// What one tile holds in one serial step; the fullest tile, so rounded up along every axis.
struct TileShare {
  std::int64_t groups = 1;
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t input_grains = 1;
  std::int64_t output_grains = 1;
  std::int64_t kernel_rows = 1;  // in packs
  std::int64_t positions() const { return batch * rows * columns; }
};

struct PassPlan {
  PassVariant variant;
  PassSplit split;
  TileShare share;
  std::int64_t input_channels = 0;   // on a tile, in whole grains
  std::int64_t output_channels = 0;  // on a tile in one serial step, in whole grains
  CostByPart cost;                   // without launch
};

}  // namespace podsim::ipu
