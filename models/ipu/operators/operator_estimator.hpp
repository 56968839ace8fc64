#pragma once
// What one operator costs on one IPU by itself: cycles by part, the passes behind them, and bytes. Formulas beside each
// constant in configs/constants/ipu-operators.toml; T tiles, N elements:
//
//   convolution, dense   factor * passes + launch * passes + element terms / T (convolution_cost.hpp)
//   octave convolution   factor * (passes and element terms of its two to four parts) + launch
//   embedding            (launch + lookup * lookups / copies), a share of it for the gather alone
//   reduction            stages + element * N / T
//   pooling              forward and backward planned (pooling_cost.hpp)
//   recurrent            steps * (products of one step, weights in place + launch * operations of a step
//                        + output_element of a product * weights / T, their gradient added up)
//   norm                 launch + output_element * N / T over three phases: a third and 2/7 of it each in forward and
//                        recomputation, a third and 3/7 in the backward
//   elementwise          launch + N / (T * elements per cycle)
//
// Bytes: tensors * (inputs, outputs, weights and their gradients) + temporary * (largest pass, all tiles)
//        + per_tile * T * passes.

#include <string>
#include <vector>

#include "models/ipu/operators/convolution_cost.hpp"
#include "models/ipu/operators/operator_description.hpp"
#include "models/ipu/operators/pooling_cost.hpp"

namespace podsim::ipu {

struct NamedPass {
  std::string name;        // "forward", "input gradient", …
  std::int64_t count = 1;  // how often it runs
  PassPlan plan;
};

struct NamedPooling {
  std::string name;
  PoolingPlan plan;
};

struct OperatorCost {
  CostByPart cost;
  Bytes bytes;  // of all tiles: tensors, code and temporaries at their peak
  std::vector<NamedPass> passes;
  std::vector<NamedPooling> poolings;  // none for a window over its whole field
  FlopCount flop;                      // of the passes, without padding: a multiply-add is two
};

// Safe to call from several threads; plans are kept by shape.
class OperatorEstimator {
 public:
  OperatorEstimator(const ChipConstants& chip, const OperatorConstants& constants);

  OperatorCost estimate(const OperatorDescription& description, const PassExecution& execution) const;

 private:
  class Estimate;

  double tiles_;
  OperatorConstants constants_;
  ConvolutionCostModel convolutions_;
  PoolingPlanner poolings_;
};

}  // namespace podsim::ipu
