#pragma once
// One-dimensional convolutions as matrix products over unfolded rows. An approximation: a convolution planner does not
// unfold, and its costs are not those of a product.

#include "models/workloads/transformer.hpp"

namespace podsim {

inline constexpr const char* k_convolution_note = "convolutions are costed as matrix products over unfolded rows";

struct Convolution {
  std::string name;
  std::int64_t frames = 0;  // written per sample
  std::int64_t in_channels = 0;
  std::int64_t out_channels = 0;
  std::int64_t kernel = 1;
  std::int64_t groups = 1;  // divides both channel counts
  bool bias = true;
  bool norm = false;           // a normalisation with weight and bias behind it
  bool input_gradient = true;  // false: nothing before it learns
};

// Adds operators and parameters of the convolution with its activation.
void add_convolution(const Convolution& convolution, const TransformerBatch& batch, Block& block);

// Bytes of what it writes for a micro-batch.
Bytes convolution_output(const Convolution& convolution, const TransformerBatch& batch);

}  // namespace podsim
