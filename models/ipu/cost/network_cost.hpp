#pragma once
// What the operators of a convolution network cost on one IPU: convolutions from the pass planner
// (operators/convolution_cost.hpp), norms and poolings from the figures of single operators
// (configs/constants/ipu-operators.toml), each phase with its share:
//
//   norm, forward or recomputed   launch / 3 + 2/7 element * N / T     with its activation and residual sum
//   norm, backward                launch / 3 + 3/7 element * N / T
//   pooling, each way             planned (operators/pooling_cost.hpp); an average over the whole field is a reduction
//
// Rows of channels are whole words of the tile's memory: an image of three channels is read as one of four.

#include "models/ipu/operators/convolution_cost.hpp"
#include "models/ipu/operators/pooling_cost.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim::ipu {

class NetworkCostModel {
 public:
  NetworkCostModel(const ChipConstants& chip, const OperatorConstants& constants);

  // Of a convolution, a normalisation or a pooling. Safe to call from several threads.
  CostByPart cost(const Operator& op, const PassExecution& execution) const;

 private:
  CostByPart convolution(const Operator& op, const PassExecution& execution) const;
  CostByPart normalisation(const Operator& op) const;
  CostByPart pooling(const Operator& op, AmpMode mode) const;

  double tiles_;
  NormConstants norm_;
  ConvolutionCostModel convolutions_;
  PoolingPlanner poolings_;
};

}  // namespace podsim::ipu
