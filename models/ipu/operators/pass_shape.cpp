#include "models/ipu/operators/pass_shape.hpp"

#include <algorithm>
#include <utility>

namespace podsim::ipu {

namespace {

constexpr std::int64_t k_most_joined = 16;
constexpr std::int64_t k_widest_joined = 32;  // channels of groups that are multiplied as one

}  // namespace

PassShape matmul_pass(const MatmulShape& matmul) {
  PassShape pass;
  pass.groups = matmul.groups;
  pass.in_channels = matmul.inner;
  pass.out_channels = matmul.columns;
  pass.input_width = matmul.rows;
  pass.output_width = matmul.rows;
  return pass;
}

ConvolutionShape without_spanned_axes(const ConvolutionShape& convolution) {
  ConvolutionShape result = convolution;
  const auto fold = [&](std::int64_t& input, std::int64_t& output, std::int64_t& kernel) {
    if (output != 1 || kernel == 1) return;
    result.in_channels *= std::min(input, kernel);
    input = 1;
    kernel = 1;
  };
  fold(result.input_height, result.output_height, result.kernel_height);
  fold(result.input_width, result.output_width, result.kernel_width);
  return result;
}

std::vector<std::int64_t> joined_groups_of(const PassShape& pass) {
  std::vector<std::int64_t> joins = {1};
  const std::int64_t widest = std::max(pass.in_channels, pass.out_channels);
  for (std::int64_t groups = 2; groups <= k_most_joined && groups <= pass.groups && groups * widest <= k_widest_joined;
       groups *= 2) {
    joins.push_back(groups);
  }
  return joins;
}

ConvolutionShape join_groups(const ConvolutionShape& convolution, std::int64_t joined) {
  ConvolutionShape result = convolution;
  result.groups = (convolution.groups + joined - 1) / joined;
  result.in_channels = convolution.in_channels / convolution.groups * joined * result.groups;
  result.out_channels = convolution.out_channels / convolution.groups * joined * result.groups;
  return result;
}

PassShape forward_pass(const ConvolutionShape& convolution) {
  PassShape pass;
  pass.groups = convolution.groups;
  pass.batch = convolution.batch;
  pass.in_channels = convolution.in_channels / convolution.groups;
  pass.out_channels = convolution.out_channels / convolution.groups;
  pass.input_height = convolution.input_height;
  pass.input_width = convolution.input_width;
  pass.output_height = convolution.output_height;
  pass.output_width = convolution.output_width;
  pass.kernel_height = convolution.kernel_height;
  pass.kernel_width = convolution.kernel_width;
  pass.stride = convolution.stride;
  pass.kernel_dilation = convolution.dilation;
  return pass;
}

PassShape input_gradient_pass(const ConvolutionShape& convolution) {
  PassShape pass = forward_pass(convolution);
  std::swap(pass.in_channels, pass.out_channels);
  std::swap(pass.input_height, pass.output_height);
  std::swap(pass.input_width, pass.output_width);
  if (pass.kernel_height == 1 && pass.kernel_width == 1) {
    pass.output_height = pass.input_height;
    pass.output_width = pass.input_width;
  } else {
    pass.dilation = pass.stride;
  }
  pass.stride = 1;
  return pass;
}

PassShape weight_gradient_pass(const ConvolutionShape& convolution) {
  const std::int64_t inputs = convolution.in_channels / convolution.groups;
  return matmul_pass({convolution.groups, inputs * convolution.kernel_height * convolution.kernel_width,
                      convolution.batch * convolution.output_height * convolution.output_width,
                      convolution.out_channels / convolution.groups});
}

}  // namespace podsim::ipu
