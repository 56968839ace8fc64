#pragma once
// T5 and mT5: encoder-decoders with a bias by relative position instead of positions, root-mean-square norms and no
// biases; Hugging Face model types "t5" and "mt5".

#include "sim/plan/model_kind.hpp"

namespace podsim {

// Class defaults in which the two types differ.
struct T5Defaults {
  std::int64_t vocabulary = 32128;
  std::int64_t feed_forward = 2048;
  std::int64_t layers = 6;
  std::int64_t heads = 8;
  bool gated = false;
  bool tied = true;
};

// Dimensions of its ModelShape: hidden_size (d_model), d_kv, intermediate_size (d_ff), num_hidden_layers (num_layers,
// of the encoder), num_decoder_layers, num_attention_heads (num_heads), vocab_size, relative_buckets, gated,
// tie_word_embeddings.
class T5 : public ModelKind {
 public:
  T5() : T5("t5", "T5", {}) {}

  std::string_view type() const override { return type_; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::vector<std::string> heads() const override;
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  // Relative positions have no end; 512 is what it was trained with.
  std::int64_t maximum_sequence_length(const ModelShape& shape) const override;
  std::int64_t default_sequence_length(const ModelShape&) const override { return 512; }
  WorkloadDefaults workload_defaults(const ModelShape& shape) const override;  // dropout behind the activation
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  // Encoder and decoder both run over the sequence length.
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;

 protected:
  T5(std::string type, std::string family, const T5Defaults& defaults)
      : type_(std::move(type)), family_(std::move(family)), defaults_(defaults) {}

 private:
  std::string type_;
  std::string family_;
  T5Defaults defaults_;
};

class MT5 final : public T5 {
 public:
  MT5() : T5("mt5", "MT5", {250'112, 1024, 8, 6, true, false}) {}
};

}  // namespace podsim
