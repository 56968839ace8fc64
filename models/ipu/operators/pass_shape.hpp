#pragma once
// One pass of a convolution or a matmul over the matrix units, as the planner sees it: channels are those of one group.
// A matmul of rows × inner × columns is a 1 × 1 pass over a field of `rows` positions.

#include <compare>
#include <cstdint>
#include <vector>

#include "sim/workload/convolution_shape.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim::ipu {

struct PassShape {
  std::int64_t groups = 1;
  std::int64_t batch = 1;
  std::int64_t in_channels = 1;   // of a group
  std::int64_t out_channels = 1;  // of a group
  std::int64_t input_height = 1;  // of the field that is read, without padding and without dilation
  std::int64_t input_width = 1;
  std::int64_t output_height = 1;
  std::int64_t output_width = 1;
  std::int64_t kernel_height = 1;
  std::int64_t kernel_width = 1;
  std::int64_t stride = 1;
  std::int64_t dilation = 1;  // of the input field: zeros between what is read, in the gradient of a strided pass
  std::int64_t kernel_dilation = 1;
  bool weights_stay = false;  // of a product: its second operand lies where the plan reads it, run after run

  std::int64_t positions() const { return batch * output_height * output_width; }
  friend auto operator<=>(const PassShape&, const PassShape&) = default;
};

PassShape matmul_pass(const MatmulShape& matmul);

// The layer without an axis along which its kernel spans the whole field: there it is a product over kernel positions
// as channels, forward and backward.
ConvolutionShape without_spanned_axes(const ConvolutionShape& convolution);

// How many groups may be multiplied as one, with zeros off the diagonal: powers of two while the channels are few.
std::vector<std::int64_t> joined_groups_of(const PassShape& pass);
ConvolutionShape join_groups(const ConvolutionShape& convolution, std::int64_t joined);

// The three passes of training. A strided 1 × 1 kernel has its input gradient on the small field; the weight gradient
// is a product over all output positions.
PassShape forward_pass(const ConvolutionShape& convolution);
PassShape input_gradient_pass(const ConvolutionShape& convolution);
PassShape weight_gradient_pass(const ConvolutionShape& convolution);

}  // namespace podsim::ipu
