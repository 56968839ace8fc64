#pragma once
// A model as operators with shapes, FLOP and byte counts, tensors and phases, for one micro-batch. It knows no
// hardware: how an operator is planned, split over tiles or placed is the family's business.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/shared_vector.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"

namespace podsim {

enum class OperatorKind { matmul, elementwise, lookup };

// `groups` independent products of rows × inner times inner × columns.
struct MatmulShape {
  std::int64_t groups = 1;
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
  friend auto operator<=>(const MatmulShape&, const MatmulShape&) = default;
};

// Which matmul dimension a serialised execution in f steps divides.
enum class SerialDimension { none, rows, inner, columns };

struct Operator {
  OperatorKind kind = OperatorKind::elementwise;
  std::string name;                                // "query_key_scores", "layer_norm", …
  MatmulShape matmul;                              // of a matmul
  SerialDimension serial = SerialDimension::none;  // may be executed in serial steps (vocabulary-sized operands)
  std::int64_t elements = 0;                       // of an elementwise operator: elements of its main operand
  int passes = 0;                         // of an elementwise operator: how often each element is read and written
  std::int64_t row_length = 0;            // elements of a row whose start must be aligned; 0: no such rows
  std::int64_t lookups = 0;               // rows gathered or scattered
  int launches = 1;                       // separately launched operations it consists of
  bool launches_per_serial_step = false;  // true: `launches` happen once per serial step, whatever its kind

  // Model FLOP: a multiply-add counts as two; elementwise work and look-ups count as none.
  FlopCount flop_count() const;
};

// A whole layer is a layer of one block: a convolution, a projection that is placed like a layer.
enum class BlockKind { embedding, attention, feed_forward, whole_layer, head };

struct ParameterTensor {
  std::string name;
  std::int64_t elements = 0;
  bool tied = false;  // the same memory as a tensor of an earlier block; not counted again
};

// The unit of placement: a run of operators that stays on one device.
struct Block {
  BlockKind kind = BlockKind::attention;
  std::string name;  // "layer 3 attention"
  int layer = -1;    // -1: not in a layer
  std::vector<Operator> forward;
  std::vector<Operator> backward;
  std::vector<ParameterTensor> parameters;
  Bytes output;                   // activation handed to the next block, in the model's activation type
  Bytes live_forward;             // activations that live while the block runs forward and, in training, backward
  bool holds_vocabulary = false;  // has a vocabulary-sized product whose live activations shrink when serialised
};

enum class HeadPlacement { last_device, first_device };

struct ModelGraph {
  std::string name;
  SharedVector<Block> blocks;  // in execution order: embedding, layers (attention then feed-forward), heads
  int layers = 0;
  std::int64_t samples = 1;  // sequences, packs or images per micro-batch
  std::int64_t tokens = 0;   // per micro-batch
  std::int64_t hidden = 0;
  std::int64_t sequence_length = 0;
  std::int64_t vocabulary = 0;
  bool images = false;             // samples are images, not token sequences
  std::vector<std::string> notes;  // what is approximated or uncalibrated, for the report: whole clauses
  std::string layer_names;         // what `layers` counts when not plain layers: "6 encoder and 6 decoder layers"
  Bytes boundary;                  // activation crossing between two layers, per micro-batch
  Bytes host_input;                // read from the host per micro-batch
  HeadPlacement head_placement = HeadPlacement::last_device;
  std::int64_t parameter_count() const;  // tied tensors once
  FlopCount forward_flop() const;
  FlopCount backward_flop() const;
};

}  // namespace podsim
