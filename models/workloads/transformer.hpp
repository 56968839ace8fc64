#pragma once
// Operator graphs of encoder and decoder transformers: full attention, one normalisation after or before each
// half-layer. The operator counts (passes over elements, launched operations) are those of the published
// half-precision programs; the cost constants were fitted with exactly these counts, so they belong together. Counts
// that no published program backs (root-mean-square norms, gates, rotary and relative positions) are assumed, and the
// model's notes say so.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plan/workload_settings.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim {

enum class NormKind { layer, root_mean_square };

struct TransformerShape {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t key_value_heads = 0;  // divides heads; 0: as many as heads
  std::int64_t head_width = 0;       // 0: hidden / heads
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;     // rows of learned positions; 0: none
  std::int64_t types = 0;         // token types; 0: none
  bool fused_qkv_tensor = false;  // query, key and value weights are one tensor
  bool embedding_norm = false;    // a normalisation with parameters behind the embedding

  NormKind norm = NormKind::layer;
  bool norm_bias = true;
  bool shared_norm = false;  // the feed-forward half reads the attention's normalised input
  bool query_bias = true;
  bool key_bias = true;
  bool value_bias = true;
  bool output_bias = true;  // of the attention's output projection
  bool feed_forward_bias = true;
  bool gated = false;              // a third projection, multiplied with the activation
  bool dropout = true;             // behind embedding, attention and feed-forward
  bool score_scale = true;         // scores are divided by the root of the head's width
  int activation_passes = 3;       // over the inner activations, forward (GELU; 1 for a rectifier)
  std::int64_t rotary_width = 0;   // elements of a head that its position rotates; 0: no rotary positions
  bool relative_bias = false;      // a bias by distance is added to the scores
  std::int64_t relative_span = 0;  // distances with embeddings of their own that attend too; 0: none

  std::int64_t width() const { return head_width > 0 ? head_width : hidden / heads; }
  std::int64_t query_width() const { return heads * width(); }
  std::int64_t key_width() const { return (key_value_heads > 0 ? key_value_heads : heads) * width(); }
  bool attention_bias() const { return query_bias || key_bias || value_bias; }
};

// What a head consists of. A kind of model turns the name of a head into these parts.
struct TransformerHead {
  std::vector<ParameterTensor> parameters;  // of all parts
  std::int64_t transform_rows = 0;   // per micro-batch: rows gathered and transformed before the vocabulary; 0: none
  std::int64_t vocabulary_rows = 0;  // per micro-batch: rows projected onto the vocabulary; 0: none
  bool classifier = false;           // classifier or span head over the tokens
  HeadPlacement placement = HeadPlacement::last_device;
};

// Sizes of one micro-batch, and the switches that change the operators.
struct TransformerBatch {
  std::int64_t samples = 1;
  std::int64_t sequence = 0;
  std::int64_t memory = 0;  // tokens per sample of the sequence that cross-attention reads; 0: no cross-attention
  std::int64_t tokens = 0;  // samples * sequence
  std::int64_t scores = 0;  // samples * heads * sequence^2
  std::int64_t element_bytes = 2;
  int qkv_products = 1;  // 3: query, key and value separately
  bool training = true;
  bool attention_dropout = false;  // false outside training, like all dropout
  bool ffn_dropout = false;
};

TransformerBatch transformer_batch(const TransformerShape& shape, const WorkloadSettings& settings);

ModelGraph build_transformer(const TransformerShape& shape, const TransformerBatch& batch, TransformerHead head);

// The parts, for those who need one block only.
Block embedding_block(const TransformerShape& shape, const TransformerBatch& batch);
// With `batch.memory`, self-attention and cross-attention.
Block attention_block(const TransformerShape& shape, const TransformerBatch& batch, int layer);
Block feed_forward_block(const TransformerShape& shape, const TransformerBatch& batch, int layer);
// One block per part; the parameters of the head stand in the first.
std::vector<Block> head_blocks(const TransformerShape& shape, const TransformerBatch& batch, TransformerHead head);

// Parameters of one normalisation; the operators over `elements`, with at most one operator each.
std::vector<ParameterTensor> norm_parameters(const TransformerShape& shape, const std::string& name);
Operator norm_forward(const TransformerShape& shape, std::int64_t elements);
Operator norm_backward(const TransformerShape& shape, std::int64_t elements);

// "name.weight" of in * out elements and, with `bias`, "name.bias" of out.
void add_linear(std::vector<ParameterTensor>& to, const std::string& name, std::int64_t in, std::int64_t out,
                bool bias = true);

// Bytes of one activation of the hidden width over `tokens` tokens.
Bytes hidden_bytes(const TransformerShape& shape, const TransformerBatch& batch, std::int64_t tokens);

// Live activations of a layer while it is recomputed and run backward, in copies of tokens * hidden and of the
// attention scores (fitted on published placements that fit or do not fit). Each half-layer holds half of the first.
inline constexpr std::int64_t k_half_layer_activations = 4;
inline constexpr std::int64_t k_score_activations = 2;

}  // namespace podsim
