#pragma once
// Whisper: encoder over mel frames behind two convolutions, decoder over text; Hugging Face model_type "whisper".

#include "sim/plan/model_kind.hpp"

namespace podsim {

// Dimensions of its ModelShape: hidden_size (d_model), encoder_layers, encoder_attention_heads, encoder_ffn_dim and the
// same of the decoder, vocab_size, num_mel_bins, max_source_positions, max_target_positions.
class Whisper final : public ModelKind {
 public:
  std::string_view type() const override { return "whisper"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::vector<std::string> heads() const override;
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  // Of the text: the encoder always reads max_source_positions, to which the audio is padded.
  std::int64_t maximum_sequence_length(const ModelShape& shape) const override;
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;
};

}  // namespace podsim
