#pragma once
// ViT: encoder transformer over the patches of an image, as in Hugging Face configurations of model_type "vit".

#include "models/workloads/transformer.hpp"
#include "sim/plan/model_kind.hpp"

namespace podsim {

// Dimensions of its ModelShape: hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, image_size,
// patch_size, num_channels, num_labels.
class Vit final : public ModelKind {
 public:
  std::string_view type() const override { return "vit"; }
  std::vector<std::pair<std::string, std::string>> architectures() const override;
  std::vector<std::string> heads() const override;
  std::optional<ModelShape> read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const override;
  // Tokens of an image of the model's size.
  std::int64_t maximum_sequence_length(const ModelShape& shape) const override;
  // The published programs drop out behind the activation and compute query, key and value separately.
  WorkloadDefaults workload_defaults(const ModelShape& shape) const override;
  // One per whole patch, and the class token.
  std::int64_t image_tokens(const ModelShape& shape, std::int64_t image_size) const override;
  std::int64_t default_masked_tokens(const WorkloadSettings&) const override { return 0; }
  ModelGraph build(const ModelShape& shape, const WorkloadSettings& settings) const override;
};

// An image as it arrives, cut into patches that are projected to the hidden width.
struct PatchEmbedding {
  std::int64_t patches = 0;       // per image
  std::int64_t patch_values = 0;  // of one patch, all channels
  std::int64_t image_values = 0;  // of one image
};

Block patch_embedding_block(const TransformerShape& shape, const TransformerBatch& batch, const PatchEmbedding& patch);

}  // namespace podsim
