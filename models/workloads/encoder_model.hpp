#pragma once
// Encoders with a token embedding and a head: one reader and one builder for all of them. What tells them apart is
// data, and each type has its own file with it.

#include "models/workloads/transformer.hpp"
#include "sim/plan/model_kind.hpp"

namespace podsim {

// How the classifier of a sequence is made.
enum class SequenceHead {
  pooler,  // the encoder's own pooler, then a classifier
  dense,   // a dense layer of its own, then a classifier; no pooler
};

struct EncoderSpec {
  std::string type;    // model_type
  std::string family;  // for reports: "BERT"
  std::vector<std::pair<std::string, std::string>> architectures;
  std::vector<std::string> heads;  // the default first
  // Spellings in the configuration file.
  std::string hidden = "hidden_size";
  std::string layers = "num_hidden_layers";
  std::string attention_heads = "num_attention_heads";
  std::string feed_forward = "intermediate_size";
  // Class defaults.
  std::int64_t default_layers = 12;
  std::int64_t default_vocabulary = 30522;
  std::int64_t default_types = 2;
  bool has_types = true;                // reads type_vocab_size
  bool has_relative_buckets = false;    // reads relative_attention_num_buckets: a bias per bucket and head
  bool has_relative_attention = false;  // reads relative_attention, max_relative_positions, position_biased_input
  std::int64_t reserved_positions = 0;  // learned positions that no token takes
  SequenceHead sequence_head = SequenceHead::pooler;
  bool pools = true;                   // bare models and multiple choice have a pooler
  bool dense_multiple_choice = false;  // multiple choice has a dense layer of its own instead
  std::vector<std::string> notes;
};

// Dimensions of its ModelShape: hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, vocab_size,
// max_position_embeddings, type_vocab_size, num_labels and, as the type has them, relative_buckets, relative_span,
// learned_positions.
class EncoderModel : public ModelKind {
 public:
  explicit EncoderModel(EncoderSpec spec) : spec_(std::move(spec)) {}

  std::string_view type() const override { return spec_.type; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::vector<std::string> heads() const override { return spec_.heads; }
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  std::int64_t maximum_sequence_length(const ModelShape& shape) const override;
  std::int64_t default_masked_tokens(const WorkloadSettings& settings) const override;
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;

 private:
  TransformerShape transformer(const ModelShape& shape) const;
  TransformerHead head(const ModelShape& shape, const WorkloadSettings& settings) const;
  void add_classifier(const ModelShape& shape, const std::string& name, TransformerHead& head) const;

  EncoderSpec spec_;
};

}  // namespace podsim
