#pragma once
// What a model hands back when it is not trained.

#include "sim/plan/model_kind.hpp"
#include "sim/plan/workload_settings.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim {

// Results of one micro-batch by head, in the model's activation type: labels of a classifier, two scores per token of
// a span, the vocabulary per predicted token; without a head the last activation.
Bytes result_bytes(const ModelGraph& graph, const ModelShape& shape, const WorkloadSettings& settings);

}  // namespace podsim
