#pragma once
// BART: encoder-decoder with learned positions on both sides, as in Hugging Face configurations of model_type "bart".

#include "sim/plan/model_kind.hpp"

namespace podsim {

// Dimensions of its ModelShape: hidden_size (d_model), encoder_layers, encoder_attention_heads, encoder_ffn_dim and the
// same of the decoder, vocab_size, max_position_embeddings, num_labels.
class Bart final : public ModelKind {
 public:
  std::string_view type() const override { return "bart"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::vector<std::string> heads() const override;
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  std::int64_t maximum_sequence_length(const ModelShape& shape) const override;
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  // Encoder and decoder both run over the sequence length.
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;
};

}  // namespace podsim
