#include "models/ipu/cost/network_cost.hpp"

#include "sim/core/check.hpp"

namespace podsim::ipu {
namespace {

constexpr std::int64_t k_word_bytes = 8;  // of a tile's memory

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

ConvolutionShape padded(ConvolutionShape shape, AmpMode mode) {
  const std::int64_t word = k_word_bytes / element_bytes(mode);
  if (shape.groups == 1) shape.in_channels = (shape.in_channels + word - 1) / word * word;
  return shape;
}

}  // namespace

NetworkCostModel::NetworkCostModel(const ChipConstants& chip, const OperatorConstants& constants)
    : tiles_(as_double(chip.tiles)),
      norm_(constants.norm),
      convolutions_(chip, constants),
      poolings_(chip, constants) {}

CostByPart NetworkCostModel::cost(const Operator& op, const PassExecution& execution) const {
  switch (op.kind) {
    case OperatorKind::convolution:
      return convolution(op, execution);
    case OperatorKind::normalisation:
      return normalisation(op);
    case OperatorKind::pooling:
      return pooling(op, execution.mode);
    default:
      break;
  }
  PODSIM_CHECK(false, op.name + " is no operator of a convolution network");
  return {};
}

CostByPart NetworkCostModel::convolution(const Operator& op, const PassExecution& execution) const {
  const ConvolutionShape shape = padded(op.convolution, execution.mode);
  switch (op.pass) {
    case ConvolutionPass::forward:
      return convolutions_.forward(shape, execution);
    case ConvolutionPass::input_gradient:
      return convolutions_.input_gradient(shape, execution);
    case ConvolutionPass::weight_gradient:
      break;
  }
  return convolutions_.weight_gradient(shape, execution);
}

CostByPart NetworkCostModel::normalisation(const Operator& op) const {
  constexpr double k_phases = 3;
  const double sevenths = op.gradient ? 3 : 2;
  CostByPart cost;
  cost.launch = norm_.launch / k_phases;
  cost.vertex = sevenths / 7 * as_double(op.elements) / tiles_ * norm_.output_element;
  return cost;
}

CostByPart NetworkCostModel::pooling(const Operator& op, AmpMode mode) const {
  return op.gradient ? poolings_.gradient(op.convolution, mode)
                     : poolings_.forward(op.convolution, mode, ReductionKind::add);
}

}  // namespace podsim::ipu
