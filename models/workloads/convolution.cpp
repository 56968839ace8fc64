#include "models/workloads/convolution.hpp"

#include <algorithm>

#include "models/workloads/operators.hpp"

namespace podsim {

Bytes convolution_output(const Convolution& convolution, const TransformerBatch& batch) {
  return Bytes(batch.samples * convolution.frames * convolution.out_channels * batch.element_bytes);
}

void add_convolution(const Convolution& c, const TransformerBatch& batch, Block& block) {
  const std::int64_t rows = batch.samples * c.frames;
  const std::int64_t inner = c.in_channels / c.groups * c.kernel;
  const std::int64_t columns = c.out_channels / c.groups;
  const std::int64_t unfolded = rows * inner * c.groups;
  const std::int64_t written = rows * c.out_channels;
  block.parameters.push_back({c.name + ".weight", c.groups * inner * columns});
  if (c.bias) block.parameters.push_back({c.name + ".bias", c.out_channels});
  if (c.norm) {
    block.parameters.push_back({c.name + "_norm.weight", c.out_channels});
    block.parameters.push_back({c.name + "_norm.bias", c.out_channels});
  }
  block.forward.push_back(elementwise_operator(c.name + "_unfold", unfolded, 1, 1));
  block.forward.push_back(matmul_operator(c.name, {c.groups, rows, inner, columns}));
  if (c.bias) block.forward.push_back(elementwise_operator(c.name + "_bias", written, 1, 1));
  if (c.norm) block.forward.push_back(elementwise_operator(c.name + "_norm", written, 5, 4));
  block.forward.push_back(elementwise_operator(c.name + "_activation", written, 3, 1));
  block.live_forward = std::max(block.live_forward, k_half_layer_activations * convolution_output(c, batch));
  if (!batch.training) return;
  std::vector<Operator> backward = {elementwise_operator(c.name + "_activation_gradient", written, 4, 1)};
  if (c.norm) backward.push_back(elementwise_operator(c.name + "_norm_gradient", written, 8, 6));
  if (c.bias) backward.push_back(elementwise_operator(c.name + "_bias_gradient", written, 1, 2));
  if (c.input_gradient) {
    backward.push_back(matmul_operator(c.name + "_input_gradient", {c.groups, rows, columns, inner}));
    backward.push_back(elementwise_operator(c.name + "_fold", unfolded, 1, 1));
  }
  backward.push_back(matmul_operator(c.name + "_weight_gradient", {c.groups, inner, rows, columns}));
  backward.push_back(elementwise_operator(c.name + "_weight_accumulate", c.groups * inner * columns, 1, 1));
  block.backward.insert(block.backward.begin(), backward.begin(), backward.end());
}

}  // namespace podsim
