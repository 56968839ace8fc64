#pragma once
// Time that PopART's automatic loss scaling adds to a micro-batch: every float16 gradient is counted into two bins, and
// the counts are summed over the tiles (graphcore/popart willow/src/transforms/automaticlossscaling.cpp; cycles of a
// vertex: graphcore/poplibs lib/popops/HistogramPerformanceEstimation.cpp). With E elements on the fullest tile and
// six workers:
//
//   by data  = 6 (57 + remainder + 4 ceil(floor(E / 4) / 6))       by limit = 6 (49 + remainder + 4 floor(E / 4))
//   cycles   = sum over gradients of min(by data, by limit) + 1500
//
// Two counts of four bytes of every gradient go to the IPU of the first stage, which sums them: hop by hop with the
// gradients of the activations, each micro-batch. Once per update replicas all-reduce the two sums, and the new factor
// goes forward to every stage. Which IPU sums is assumed. Left out, as microseconds per update: the sum and the factor.

#include <cstdint>
#include <vector>

#include "models/ipu/cost/operator_cost.hpp"
#include "models/ipu/ipu_constants.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/pipeline.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim::ipu {

// Gradients that are tracked by default: what an operator of the backward pass writes, but for changes of view, for
// gradients that are added to an accumulator, and for vectors such as those of biases, too small to count.
struct TrackedGradients {
  std::int64_t tensors = 0;
  std::int64_t elements = 0;
};

TrackedGradients tracked_gradients(const Block& block);

// Cycles of one histogram over `elements` halves on one tile.
Cycles histogram_cycles(std::int64_t elements, const LossScalingConstants& constants);

// Of all gradients of a block's backward, for one micro-batch; nothing in single precision, which is not tracked.
CycleCost loss_scaling_cost(const Block& block, const Execution& execution, const IpuConstants& constants);

// By boundary between forward stages: bytes of counts of one micro-batch that go back over it.
std::vector<Bytes> count_traffic(const ModelGraph& graph, const Pipeline& pipeline);

// What replicas all-reduce in an update, by IPU of a replica: two sums on that of the first stage.
std::vector<PlacedParameters> summed_counts(const Pipeline& pipeline);

inline constexpr Bytes k_loss_scale_factor{4};

}  // namespace podsim::ipu
