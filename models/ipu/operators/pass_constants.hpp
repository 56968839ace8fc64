#pragma once
// The figures of the pass planner, read once from the constant set; configs/constants/ipu-operators.toml holds each
// with unit, source, confidence and spread under cost.operators.

#include <array>
#include <cstdint>

#include "models/ipu/constants.hpp"

namespace podsim::ipu {

// One way to multiply: what the matrix unit takes at once, and what that costs.
struct PassMode {
  std::int64_t input_grain = 0;   // input channels multiplied at once
  std::int64_t output_grain = 0;  // output channels computed at once
  std::int64_t element_bytes = 0;
  std::int64_t partial_bytes = 0;
  Cycles weight_load;         // weights of one grain of inputs and outputs
  double row_slots = 0;       // turns of a worker for one output position
  double worker_start = 0;    // turns of a worker before its first position
  double adds_per_cycle = 0;  // partial sums added, or set to zero, by a tile
};

// A 1 × 1 kernel: all workers of a tile share a flat list of positions.
struct FlatVertexConstants {
  Cycles start;
  Cycles group;
  Cycles input_grain;
  Cycles output_grain;
  Cycles shortest;          // of the six workers together
  Cycles zeroing;           // in single precision: of the outputs of a group and an output grain
  Cycles zeroing_position;  // and per position
};

// Any other kernel: workers take rows of the field, and start again for each row and kernel position.
struct FieldVertexConstants {
  Cycles start;
  Cycles group;
  Cycles input_grain;
  Cycles output_grain;
  Cycles kernel_row;
  Cycles kernel_position;
  Cycles kernel_columns;              // divided by the width of the kernel
  std::array<Cycles, 3> packed_rows;  // more per kernel position with 1, 2 and 4 kernel rows in an input grain
  double worker_start = 0;            // turns of a worker
  double worker_segment = 0;          // turns of a worker per row of the field it begins
  Cycles zeroing;                     // of the outputs of a group and an output grain
};

// The sliding-window unit, for few channels in many groups.
struct WindowVertexConstants {
  Cycles start;
  Cycles group;
  Cycles sub_kernel;          // of one row and four columns of a kernel
  double worker_start = 0;    // turns of a worker
  double worker_segment = 0;  // turns of a worker per row of the field
};

struct PassConstants {
  std::array<PassMode, k_amp_modes> modes;
  FlatVertexConstants flat;
  FieldVertexConstants field;
  WindowVertexConstants window;
  double exchange_bytes_per_cycle = 0;  // received by one tile
  double pair_broadcast_factor = 0;     // the same when both tiles of a pair receive the same
  Cycles superstep_sync;                // one internal synchronisation
  Cycles reduction_start;               // per serial step
  Cycles serial_start;                  // per serial step
  double serial_weight_share = 0;       // of all weights, rearranged in each serial step
  Cycles serial_output;                 // per output element of a serial step: written to its place
  Cycles fold_byte;                     // per byte and tile of activations expanded over kernel positions
};

PassConstants read_pass_constants(ConstantReader& reader);

}  // namespace podsim::ipu
