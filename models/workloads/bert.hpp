#pragma once
// BERT: encoder transformer, as in Hugging Face configurations of model_type "bert".

#include "sim/plan/model_kind.hpp"

namespace podsim {

// Dimensions of its ModelShape: hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, vocab_size,
// max_position_embeddings, type_vocab_size, num_labels.
class Bert final : public ModelKind {
 public:
  std::string_view type() const override { return "bert"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::vector<std::string> heads() const override;
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  std::int64_t maximum_sequence_length(const ModelShape& shape) const override;
  std::int64_t default_masked_tokens(const WorkloadSettings& settings) const override;
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;
};

}  // namespace podsim
