#pragma once
// Inference and generation on IPUs as a search space: replicas and their size, batch, proportion, serial steps.

#include <memory>

#include "sim/plan/plan.hpp"
#include "sim/plan/search_space.hpp"

namespace podsim::ipu {

// `plan` is one of this family, without training.
SearchSpace inference_space(const std::shared_ptr<const Plan>& plan, const SearchRequest& request);

}  // namespace podsim::ipu
