#pragma once
// Words that the compiler's command and the partition of a model share.

#include <cstdint>

namespace podsim::rdu {

// o0: a section per operator. o1: consecutive operators of one pattern. o3: as many as fit the resources.
enum class OptimizationLevel : std::uint8_t { o0, o1, o3 };

// How the RDUs of one copy of a model share it.
enum class TensorParallel : std::uint8_t {
  none,
  batch,   // each has a part of the batch and all weights; gradients are reduced among them
  weight,  // each has a part of every large weight; activations are reduced among them
};

}  // namespace podsim::rdu
