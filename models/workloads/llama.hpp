#pragma once
// Llama and Mistral: decoders with root-mean-square norms, a gated feed-forward, rotary positions and key-value heads
// that several query heads share; Hugging Face model types "llama" and "mistral".

#include "sim/plan/model_kind.hpp"

namespace podsim {

// Class defaults in which the two types differ.
struct LlamaDefaults {
  std::int64_t intermediate_size = 11008;
  std::int64_t key_value_heads = 0;  // 0: as many as heads
  std::int64_t positions = 2048;
  std::int64_t sliding_window = 0;  // 0: none
};

// Dimensions of its ModelShape: hidden_size, num_hidden_layers, num_attention_heads, num_key_value_heads, head_dim,
// intermediate_size, vocab_size, max_position_embeddings, sliding_window (0: none), tie_word_embeddings,
// attention_bias, num_labels.
class Llama : public ModelKind {
 public:
  Llama() : Llama("llama", "Llama", {}) {}

  std::string_view type() const override { return type_; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::vector<std::string> heads() const override;
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  std::int64_t maximum_sequence_length(const ModelShape& shape) const override;
  WorkloadDefaults workload_defaults(const ModelShape& shape) const override;  // no dropout
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;

 protected:
  Llama(std::string type, std::string family, const LlamaDefaults& defaults)
      : type_(std::move(type)), family_(std::move(family)), defaults_(defaults) {}

 private:
  std::string type_;
  std::string family_;
  LlamaDefaults defaults_;
};

class Mistral final : public Llama {
 public:
  Mistral() : Llama("mistral", "Mistral", {14336, 8, 131'072, 4096}) {}
};

}  // namespace podsim
