#pragma once
// The operator list of a transformer step. With T tokens, hidden width h and bf16 tensors, per layer and forward: norm,
// qkv, three head transposes (rotary positions behind two of them), scores, softmax with scale, mask and dropout
// inside, weighted values, merge, projection, dropout, add, norm, two feed-forward products with the activation
// between, dropout, add. Backward has two products for each, a bias gradient where there is a bias, and reads what was
// saved. The loss of a vocabulary head is in single precision. Optimizer: per parameter tensor one gradient norm and
// one update, Adam's unless told. The list was chosen on measured o0 runs of GPT-2 (see facts.md); it and the constants
// belong together.

#include <cstdint>
#include <string>

#include "models/rdu/operator_graph.hpp"
#include "models/rdu/transformer_description.hpp"

namespace podsim::rdu {

struct StepRequest {
  bool training = true;            // false: forward operators only
  std::int64_t batch = 1;          // sequences
  std::int64_t sequence = 0;       // tokens per sequence that run through the layers
  std::int64_t context = 0;        // tokens each attends to, from a static key-value cache; 0: the sequence itself
  bool keeps_cache = false;        // keys and values are outputs, for later tokens
  std::string optimizer = "adam";  // names its operators
  std::int64_t update_bytes = 26;  // that it moves per weight, besides reading the gradient; Adam's
  bool recompute = false;          // keep each layer's input only and run its forward again before its backward
  friend bool operator==(const StepRequest&, const StepRequest&) = default;
};

// PODSIM_CHECK fails when a dimension is not positive. FLOP and bytes beyond 2^62 throw std::range_error.
OperatorGraph build_transformer_step(const TransformerDescription& model, const StepRequest& request);

}  // namespace podsim::rdu
