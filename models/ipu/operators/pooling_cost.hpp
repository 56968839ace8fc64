#pragma once
// How max pooling is spread over the tiles of one IPU, and what it costs. Condensed from the planner and the vertices
// of graphcore/poplibs (lib/popnn: PoolPlan.cpp, PoolVertices.cpp, PerformanceEstimation.hpp). Groups of channels,
// batch, rows and columns of the field that is written are split over tiles. The six workers of a tile share its
// positions as one list, row after row; a worker goes through the kernel positions that reach its part of a row, and
// for each of them along the row, a word of channels at a time. With g groups of c words, r parts of rows, k kernel
// positions that reach a part, n positions of a part that one of them reaches (names of constants in
// configs/constants/ipu-operators.toml):
//
//   worker    start + g (group + positions of the tile * c / 6)
//             + r (row + k (position + position_group g + next_group (g - 1) + g c (word + element (n - 1))))
//   vertex    supervisor + 6 * worker, of the fullest one
//   exchange  bytes read / rate: the field under the windows; for the gradient also what the forward pass read and
//   wrote sync      2 of them launch    fixed
//
// A window as large as its field is a reduction and its gradient a broadcast, as the library has it for averages
// (lib/popnn/Pooling.cpp); here for maxima too.

#include <compare>
#include <map>
#include <shared_mutex>

#include "models/ipu/operators/cost_by_part.hpp"
#include "models/ipu/operators/operator_constants.hpp"
#include "models/ipu/operators/operator_description.hpp"
#include "sim/workload/convolution_shape.hpp"

namespace podsim::ipu {

// Whether the window covers its field.
bool pools_whole_field(const ConvolutionShape& window);

// One direction of a pooling. The gradient is written over the field that the forward pass read.
struct PoolingPass {
  std::int64_t channels = 1;
  std::int64_t batch = 1;
  std::int64_t output_height = 1;  // of the field that is written
  std::int64_t output_width = 1;
  std::int64_t input_height = 1;  // of the field that is read
  std::int64_t input_width = 1;
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  std::int64_t stride = 1;    // of the forward pass
  std::int64_t dilation = 1;  // of the field that a gradient reads: the stride of its forward pass
  bool gradient = false;
  std::int64_t element_bytes = 2;
  friend auto operator<=>(const PoolingPass&, const PoolingPass&) = default;
};

PoolingPass pooling_forward(const ConvolutionShape& window, std::int64_t element_bytes);
PoolingPass pooling_gradient(const ConvolutionShape& window, std::int64_t element_bytes);

inline constexpr std::int64_t k_pooling_word = 8;  // bytes of a tile's memory access

// What the fullest tile writes.
struct PoolingShare {
  std::int64_t words = 1;   // of the channels that lie together
  std::int64_t groups = 1;  // of such channels
  std::int64_t batch = 1;
  std::int64_t rows = 1;
  std::int64_t columns = 1;
  std::int64_t positions() const { return batch * rows * columns; }
  std::int64_t channels(std::int64_t element_bytes) const { return words * k_pooling_word / element_bytes; }
};

struct PoolingPlan {
  PoolingShare share;
  CostByPart cost;
};

// Safe to call from several threads; plans are kept by shape. Dimensions must be at least 1.
class PoolingPlanner {
 public:
  PoolingPlanner(const ChipConstants& chip, const OperatorConstants& constants);

  // Of a window over its field, or of the whole field: then a reduction of that kind, or its broadcast.
  CostByPart forward(const ConvolutionShape& window, AmpMode mode, ReductionKind kind) const;
  CostByPart gradient(const ConvolutionShape& window, AmpMode mode) const;

  // The fastest plan with one or two words of channels together; with four when that takes less than a third longer,
  // for the sake of what reads the result.
  const PoolingPlan& plan(const PoolingPass& pass) const;
  // What one share costs, with launch.
  CostByPart price(const PoolingPass& pass, const PoolingShare& share) const;

 private:
  PoolingPlan search(const PoolingPass& pass, std::int64_t words) const;
  PoolingPlan choose(const PoolingPass& pass) const;
  double worker(const PoolingPass& pass, const PoolingShare& share, std::int64_t first, std::int64_t last) const;

  std::int64_t tiles_;
  PoolingConstants constants_;
  ReductionConstants reduction_;
  ElementwiseConstants elementwise_;
  double exchange_bytes_per_cycle_;
  Cycles superstep_sync_;
  mutable std::shared_mutex mutex_;
  mutable std::map<PoolingPass, PoolingPlan> plans_;
};

}  // namespace podsim::ipu
