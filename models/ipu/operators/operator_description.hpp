#pragma once
// One operator on its own, as it is costed: what it computes, on shapes.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "sim/workload/convolution_shape.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim::ipu {

struct ConvolutionOperator {
  ConvolutionShape shape;
  bool first_layer = false;  // nothing before it learns: no input gradient
};

// A convolution over two resolutions, the lower half as wide and high: a part of the input and output channels lives at
// each, and what crosses is pooled or repeated.
struct OctaveConvolution {
  ConvolutionShape shape;    // as if all channels were at the high resolution
  double low_inputs = 0.25;  // part of the input channels at the low resolution, from 0 to 1
  double low_outputs = 0.25;
};

// A fully connected layer: rows × inner inputs, inner × columns weights. With groups: products of activations, as in
// attention.
struct DenseOperator {
  MatmulShape shape;
};

// One product added to what is there: C = a A B + b C.
struct ProductOperator {
  MatmulShape shape;
};

// Rows gathered from a table and, in training, their updates added to it.
struct EmbeddingOperator {
  std::int64_t rows = 0;
  std::int64_t width = 0;
  std::int64_t lookups = 0;
};

enum class ReductionKind { add, square_add, largest };

struct ReductionOperator {
  ReductionKind kind = ReductionKind::add;
  std::int64_t elements = 0;  // read
  std::int64_t outputs = 0;   // written
};

// Max pooling over windows of `shape`, whose channels in and out are the same.
struct PoolingOperator {
  ConvolutionShape shape;
};

enum class CellKind { lstm, gru };

struct RecurrentOperator {
  CellKind cell = CellKind::lstm;
  std::int64_t batch = 0;
  std::int64_t inputs = 0;
  std::int64_t outputs = 0;
  std::int64_t steps = 0;
  // Inputs and state against the weights of all gates.
  std::int64_t gates() const { return cell == CellKind::lstm ? 4 : 3; }
};

// A batch norm with its activation and its share of a residual addition.
struct NormOperator {
  std::int64_t elements = 0;
};

struct ElementwiseOperator {
  std::int64_t elements = 0;
};

struct OperatorDescription {
  std::variant<ConvolutionOperator, OctaveConvolution, DenseOperator, ProductOperator, EmbeddingOperator,
               ReductionOperator, PoolingOperator, RecurrentOperator, NormOperator, ElementwiseOperator>
      what;
  bool training = true;    // forward, gradients and update; else forward alone. Without meaning for one-pass operators
  std::int64_t tiles = 0;  // of the chip that it may use; 0: all
};

}  // namespace podsim::ipu
