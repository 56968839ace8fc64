#pragma once
// Training on IPUs as a search space: replicas and their size, micro-batch and accumulation, recomputation, serial
// steps, places of optimizer state; and for each choice of these the contiguous placements with the shortest fullest
// cycle, every IPU with the largest proportion that fits.

#include <memory>

#include "sim/plan/plan.hpp"
#include "sim/plan/search_space.hpp"

namespace podsim::ipu {

// `plan` is one of this family, for training.
SearchSpace training_space(const std::shared_ptr<const Plan>& plan, const SearchRequest& request);

}  // namespace podsim::ipu
