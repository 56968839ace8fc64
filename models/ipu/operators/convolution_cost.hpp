#pragma once
// What the passes of a convolution cost on one IPU, each with its share of what surrounds them. A layer is
//
//   factor * (sum of planned passes) + launch * passes
//     + (input_element * inputs + output_element * outputs + weight_element * weights) / tiles
//
// Scheduled one by one, half of the weight term belongs to the input gradient (weights transposed), half to the weight
// gradient (update), the input term to the weight gradient (activations transposed), a third of the output term to
// each. The split is a judgement; only the sum is validated. Constants: configs/constants/ipu-operators.toml.

#include "models/ipu/operators/operator_constants.hpp"
#include "models/ipu/operators/pass_planner.hpp"
#include "sim/workload/convolution_shape.hpp"

namespace podsim::ipu {

using ConvolutionCost = CostByPart;

// Safe to call from several threads; plans are kept by shape. Every dimension of a shape must be at least 1 and
// `groups` must divide both channel counts.
class ConvolutionCostModel {
 public:
  ConvolutionCostModel(const ChipConstants& chip, const OperatorConstants& constants);

  ConvolutionCost forward(const ConvolutionShape& shape, const PassExecution& execution) const;
  // Not needed where nothing before the layer learns: the first layer of a network.
  ConvolutionCost input_gradient(const ConvolutionShape& shape, const PassExecution& execution) const;
  // With the update of the weights by their gradient.
  ConvolutionCost weight_gradient(const ConvolutionShape& shape, const PassExecution& execution) const;

  const PassPlanner& planner() const { return planner_; }

  PassPlan plan_forward(const ConvolutionShape& shape, const PassExecution& execution) const;
  PassPlan plan_input_gradient(const ConvolutionShape& shape, const PassExecution& execution) const;
  PassPlan plan_weight_gradient(const ConvolutionShape& shape, const PassExecution& execution) const;

 private:
  ConvolutionCost surround(const PassPlan& plan, Cycles elements) const;

  PassPlanner planner_;
  SurroundingConstants constants_;
  Bytes tile_memory_;
};

}  // namespace podsim::ipu
