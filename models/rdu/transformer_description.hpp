#pragma once
// What the operator graph of a transformer depends on, whatever file it was read from.

#include <cstdint>
#include <optional>
#include <string>

#include "sim/plan/model_kind.hpp"
#include "sim/plan/workload_settings.hpp"

namespace podsim::rdu {

enum class RduNorm : std::uint8_t { layer, root_mean_square };
enum class RduHead : std::uint8_t { none, causal_lm, masked_lm, classifier };

struct TransformerDescription {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;
  std::int64_t kv_heads = 0;
  std::int64_t head_dim = 0;
  std::int64_t ffn = 0;  // inner width; a gated block has two such projections in one product
  bool gated = false;
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;  // longest sequence
  RduNorm norm = RduNorm::layer;
  bool norm_bias = true;
  bool post_norm = false;  // normalise behind the residual add (BERT) instead of before the block
  bool embedding_norm = false;
  bool rotary = false;
  bool dropout = true;  // behind projection and feed-forward block, in training
  bool attention_bias = true;
  bool ffn_bias = true;
  bool tied_embedding = true;  // the head's weights are the embedding's
  RduHead head = RduHead::causal_lm;
  std::int64_t head_rows = 0;  // rows per sequence that reach the head; 0: every token
  std::int64_t labels = 0;     // outputs of a classifier
  friend bool operator==(const TransformerDescription&, const TransformerDescription&) = default;

  std::int64_t query_width() const { return heads * head_dim; }
  std::int64_t kv_width() const { return kv_heads * head_dim; }
  // Weights of the products, norms and embedding (positions and token types left out, as in the operator graph).
  std::int64_t parameter_count() const;
  std::int64_t layer_parameters() const;
};

// The largest share of one of `chips` RDUs that split the weights of every product: heads, inner width and vocabulary
// are divided, the hidden width is not. Partial results are then summed over the chips.
TransformerDescription weight_shard(const TransformerDescription& model, std::int64_t chips);

// From a read configuration of model_type gpt2, llama, mistral, bert or roberta; empty for others, whose operators
// this family does not know yet. `settings` gives the head and its masked tokens.
std::optional<TransformerDescription> describe_transformer(const ModelShape& shape, const WorkloadSettings& settings);

}  // namespace podsim::rdu
