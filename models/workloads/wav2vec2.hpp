#pragma once
// wav2vec2 and HuBERT: convolutions over raw audio, a positional convolution, an encoder; Hugging Face model types
// "wav2vec2" and "hubert".

#include "sim/plan/model_kind.hpp"

namespace podsim {

// How the IPU classes of a type place what stands around the encoder's layers.
enum class SpeechPlacement {
  in_layers,  // every convolution, the positional block and the projections behind the encoder count as layers
  around,     // only the encoder's layers count; the front is on the first device, the head on the last
};

// Dimensions of its ModelShape: hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, vocab_size,
// conv_dim.I, conv_kernel.I, conv_stride.I for seven convolutions, conv_bias, layer_norm_everywhere (else only the
// first convolution has a norm), num_conv_pos_embeddings, num_conv_pos_embedding_groups, and of the quantiser
// num_codevectors_per_group, num_codevector_groups, codevector_dim, proj_codevector_dim.
class Wav2Vec2 : public ModelKind {
 public:
  Wav2Vec2() : Wav2Vec2("wav2vec2", "Wav2Vec2", SpeechPlacement::in_layers) {}

  std::string_view type() const override { return type_; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::vector<std::string> heads() const override;
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  // A sequence is counted in frames of the encoder; audio has no longest length, ten seconds are usual.
  std::int64_t maximum_sequence_length(const ModelShape& shape) const override;
  std::int64_t default_sequence_length(const ModelShape&) const override { return 499; }
  WorkloadDefaults workload_defaults(const ModelShape& shape) const override;  // dropout behind the activation
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;

 protected:
  Wav2Vec2(std::string type, std::string family, SpeechPlacement placement)
      : type_(std::move(type)), family_(std::move(family)), placement_(placement) {}

 private:
  std::string type_;
  std::string family_;
  SpeechPlacement placement_;
};

class Hubert final : public Wav2Vec2 {
 public:
  Hubert() : Wav2Vec2("hubert", "Hubert", SpeechPlacement::around) {}
  std::vector<std::string> heads() const override;
};

}  // namespace podsim
