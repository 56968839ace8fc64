#pragma once
// A model as operators with shapes, FLOP and byte counts, tensors and phases, for one micro-batch. It knows no
// hardware: how an operator is planned, split over tiles or placed is the family's business.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "sim/core/shared_vector.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"
#include "sim/workload/convolution_shape.hpp"

namespace podsim {

enum class OperatorKind { matmul, elementwise, lookup, convolution, normalisation, pooling };

// What a convolution's operator computes; its shape is that of the forward pass in all three.
enum class ConvolutionPass { forward, input_gradient, weight_gradient };

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
  std::string name;                                 // "query_key_scores", "layer_norm", …
  MatmulShape matmul;                               // of a matmul
  ConvolutionShape convolution;                     // of a convolution, and of the window of a pooling
  ConvolutionPass pass = ConvolutionPass::forward;  // of a convolution
  bool gradient = false;                            // of a pooling or a normalisation: its backward pass
  std::int64_t channels = 0;                        // of a normalisation: each has a mean and a variance over the batch
  SerialDimension serial = SerialDimension::none;   // may be executed in serial steps (vocabulary-sized operands)
  // Of an elementwise operator or a normalisation: elements of its main operand; of a convolution: of its result.
  std::int64_t elements = 0;
  int passes = 0;                         // of an elementwise operator: how often each element is read and written
  std::int64_t row_length = 0;            // elements of a row whose start must be aligned; 0: no such rows
  std::int64_t lookups = 0;               // rows gathered or scattered
  int launches = 1;                       // separately launched operations it consists of
  bool launches_per_serial_step = false;  // true: `launches` happen once per serial step, whatever its kind

  // Model FLOP: a multiply-add counts as two; all but matmuls and convolutions count as none.
  FlopCount flop_count() const;
};

// A whole layer is a layer of one block: a convolution, a residual unit, a projection that is placed like a layer.
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
  Bytes carried;                  // of this block and those before it, handed on for blocks behind the next one
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
  Bytes boundary;    // activation crossing between two layers, per micro-batch; 0: each block hands on its own output
  Bytes host_input;  // read from the host per micro-batch
  HeadPlacement head_placement = HeadPlacement::last_device;
  bool convolutional() const;                // has operators of kind convolution
  Bytes handed_on(std::size_t block) const;  // what block `block` passes to the next, per micro-batch
  std::int64_t parameter_count() const;      // tied tensors once
  FlopCount forward_flop() const;
  FlopCount backward_flop() const;
};

}  // namespace podsim
