#pragma once
// GPT-J: decoder with rotary positions whose attention and feed-forward read one norm, as in Hugging Face
// configurations of model_type "gptj".

#include "sim/plan/model_kind.hpp"

namespace podsim {

// Dimensions of its ModelShape, whatever the file calls them: hidden_size (n_embd), num_hidden_layers (n_layer),
// num_attention_heads (n_head), intermediate_size (n_inner), vocab_size, max_position_embeddings (n_positions),
// rotary_dim (0: whole heads), tie_word_embeddings, num_labels.
class GptJ final : public ModelKind {
 public:
  std::string_view type() const override { return "gptj"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::vector<std::string> heads() const override;
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  std::int64_t maximum_sequence_length(const ModelShape& shape) const override;
  WorkloadDefaults workload_defaults(const ModelShape& shape) const override;  // no dropout
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;
};

}  // namespace podsim
