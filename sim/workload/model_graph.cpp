#include "sim/workload/model_graph.hpp"

#include <algorithm>

namespace podsim {

namespace {

FlopCount sum_of(const std::vector<Operator>& operators) {
  FlopCount sum;
  for (const Operator& op : operators) sum += op.flop_count();
  return sum;
}

}  // namespace

FlopCount Operator::flop_count() const {
  if (kind == OperatorKind::convolution) return flop(2.0 * static_cast<double>(convolution.multiply_adds()));
  if (kind != OperatorKind::matmul) return flop(0);
  return flop(2.0 * static_cast<double>(matmul.groups) * static_cast<double>(matmul.rows) *
              static_cast<double>(matmul.inner) * static_cast<double>(matmul.columns));
}

std::int64_t ModelGraph::parameter_count() const {
  std::int64_t count = 0;
  for (const Block& block : blocks) {
    for (const ParameterTensor& tensor : block.parameters) count += tensor.tied ? 0 : tensor.elements;
  }
  return count;
}

bool ModelGraph::convolutional() const {
  return std::any_of(blocks.begin(), blocks.end(), [](const Block& block) {
    return std::any_of(block.forward.begin(), block.forward.end(),
                       [](const Operator& op) { return op.kind == OperatorKind::convolution; });
  });
}

Bytes ModelGraph::handed_on(std::size_t block) const {
  return boundary > Bytes() ? boundary : blocks[block].output + blocks[block].carried;
}

FlopCount ModelGraph::forward_flop() const {
  FlopCount sum;
  for (const Block& block : blocks) sum += sum_of(block.forward);
  return sum;
}

FlopCount ModelGraph::backward_flop() const {
  FlopCount sum;
  for (const Block& block : blocks) sum += sum_of(block.backward);
  return sum;
}

}  // namespace podsim
