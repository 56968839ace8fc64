#pragma once
// The figures of whole operators around their passes, read once from the constant set (cost.operators).

#include <cstdint>

#include "models/ipu/operators/pass_constants.hpp"

namespace podsim::ipu {

// Around the passes of one operator: cycles = factor * sum of passes + launch * passes
//   + (input_element * inputs + output_element * outputs + weight_element * weights) / tiles.
struct SurroundingConstants {
  double factor = 1;
  Cycles launch;
  Cycles input_element;  // transposing, copying and updating, on one tile
  Cycles output_element;
  Cycles weight_element;
  friend bool operator==(const SurroundingConstants&, const SurroundingConstants&) = default;
};

struct OctaveConstants {
  double factor = 1;  // on the sum of its parts
  Cycles launch;      // of the whole
  friend bool operator==(const OctaveConstants&, const OctaveConstants&) = default;
};

struct EmbeddingConstants {
  Cycles launch;
  Cycles lookup;            // a row gathered and its update added, by the tiles that hold a part of it
  double gather_share = 0;  // of all that, for the gather alone
  Bytes copied_table;       // a table's part of a tile up to which the table is copied to several groups of tiles
  Bytes row_part;           // of a row, on one tile
  friend bool operator==(const EmbeddingConstants&, const EmbeddingConstants&) = default;
};

struct ReductionConstants {
  Cycles one_stage;  // fixed part when every tile writes outputs of its own
  Cycles two_stages;
  Cycles element;          // on one tile, of a sum
  Cycles largest_element;  // of a maximum
  friend bool operator==(const ReductionConstants&, const ReductionConstants&) = default;
};

// Turns of a worker.
struct PoolingDirection {
  double start = 0;
  double next_group = 0;  // of channels, per kernel position, after the first
  double word = 0;        // of channels, for the first position along a row
  double element = 0;     // for each further one
  friend bool operator==(const PoolingDirection&, const PoolingDirection&) = default;
};

struct PoolingConstants {
  Cycles launch;  // per direction
  Cycles supervisor;
  double group = 0;           // turns per group of channels
  double row = 0;             // per part of a row
  double position = 0;        // per kernel position of that part
  double position_group = 0;  // and per group of channels
  PoolingDirection forward;
  PoolingDirection gradient;
  friend bool operator==(const PoolingConstants&, const PoolingConstants&) = default;
};

// Operations of one step beside its products, counted in the library.
struct RecurrentConstants {
  std::int64_t forward_operations = 0;
  std::int64_t training_operations = 0;  // forward and backward
  friend bool operator==(const RecurrentConstants&, const RecurrentConstants&) = default;
};

struct NormConstants {
  Cycles launch;          // of forward, recomputation and backward together
  Cycles output_element;  // likewise, on one tile
  friend bool operator==(const NormConstants&, const NormConstants&) = default;
};

struct ElementwiseConstants {
  Cycles launch;
  double half_per_cycle = 0;  // on one tile
  double single_per_cycle = 0;
  friend bool operator==(const ElementwiseConstants&, const ElementwiseConstants&) = default;
};

// bytes = tensors * bytes of all tensors + temporary * temporaries of all tiles at the peak + per_tile * tiles *
// passes.
struct ByteConstants {
  double tensors = 1;
  double temporary = 0;
  Bytes per_tile;
  friend bool operator==(const ByteConstants&, const ByteConstants&) = default;
};

struct EmbeddingByteConstants {
  Bytes per_tile;
  Bytes per_lookup;  // on each tile
  Bytes per_row;     // on each tile, of a copied table
  friend bool operator==(const EmbeddingByteConstants&, const EmbeddingByteConstants&) = default;
};

struct OperatorConstants {
  PassConstants passes;
  SurroundingConstants convolution;
  OctaveConstants octave;
  SurroundingConstants dense;
  SurroundingConstants grouped;
  SurroundingConstants product;
  EmbeddingConstants embedding;
  ReductionConstants reduction;
  PoolingConstants pooling;
  Cycles recurrent_launch;  // per operation of a step
  RecurrentConstants lstm;
  RecurrentConstants gru;
  NormConstants norm;
  ElementwiseConstants elementwise;
  ByteConstants convolution_bytes;
  ByteConstants dense_bytes;
  ByteConstants product_bytes;
  ByteConstants recurrent_bytes;
  ByteConstants pooling_bytes;
  ByteConstants reduction_bytes;
  EmbeddingByteConstants embedding_bytes;
  friend bool operator==(const OperatorConstants&, const OperatorConstants&) = default;
};

OperatorConstants read_operator_constants(ConstantReader& reader);

}  // namespace podsim::ipu
