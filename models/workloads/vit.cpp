#include "models/workloads/vit.hpp"

#include <cmath>

#include "models/workloads/operators.hpp"
#include "models/workloads/shape_reader.hpp"

namespace podsim {

std::vector<std::pair<std::string, std::string>> Vit::architectures() const {
  return with_pipelined_names({{"ViTForImageClassification", "image-classification"}, {"ViTModel", "none"}});
}

std::vector<std::string> Vit::heads() const {
  return {"image-classification", "none"};
}

std::optional<ModelShape> Vit::read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const {
  ShapeReader reader("vit", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  const std::int64_t hidden = reader.read({"hidden_size", {"hidden_size"}, 768});
  const std::int64_t layers = reader.read({"num_hidden_layers", {"num_hidden_layers"}, 12, 1, k_maximum_layers});
  reader.read({"num_attention_heads", {"num_attention_heads"}, 12, 1, k_maximum_heads});
  reader.read({"intermediate_size", {"intermediate_size"}, 3072});
  constexpr std::int64_t k_maximum_pixels = 100'000;
  const std::int64_t image = reader.read({"image_size", {"image_size"}, 224, 1, k_maximum_pixels});
  reader.read({"patch_size", {"patch_size"}, 16, 1, image});
  reader.read({"num_channels", {"num_channels"}, 3, 1, 1000});
  reader.read_labels();
  reader.check_divides("num_attention_heads", "hidden_size");
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = "ViT, " + std::to_string(layers) + " layers, hidden " + std::to_string(hidden);
  return shape;
}

std::int64_t Vit::maximum_sequence_length(const ModelShape& shape) const {
  return image_tokens(shape, shape["image_size"]);
}

WorkloadDefaults Vit::workload_defaults(const ModelShape& shape) const {
  WorkloadDefaults defaults;
  defaults.split_qkv = true;
  defaults.ffn_dropout = true;
  defaults.image_size = shape["image_size"];
  defaults.input_bytes_per_element = 2;  // half precision, as the model computes
  return defaults;
}

std::int64_t Vit::image_tokens(const ModelShape& shape, std::int64_t image_size) const {
  const std::int64_t side = image_size / shape["patch_size"];
  return side > 0 ? side * side + 1 : 0;
}

Block patch_embedding_block(const TransformerShape& shape, const TransformerBatch& batch, const PatchEmbedding& patch) {
  const std::int64_t h = shape.hidden;
  const std::int64_t th = batch.tokens * h;
  const std::int64_t rows = patch.patches * batch.samples;
  Block block;
  block.kind = BlockKind::embedding;
  block.name = "patch embedding";
  add_linear(block.parameters, "patch", patch.patch_values, h);
  block.parameters.push_back({"class_token", h});
  block.parameters.push_back({"position.weight", batch.sequence * h});
  block.forward = {elementwise_operator("patch_layout", patch.image_values * batch.samples, 2, 2),
                   matmul_operator("patch_projection", {1, rows, patch.patch_values, h}),
                   elementwise_operator("bias_and_position_sum", th, 2, 4)};
  if (batch.training) {
    block.backward = {elementwise_operator("bias_and_position_gradient", th, 1, 6),
                      matmul_operator("patch_weight_gradient", {1, patch.patch_values, rows, h})};
  }
  block.output = hidden_bytes(shape, batch, batch.tokens);
  block.live_forward = k_half_layer_activations * block.output;
  return block;
}

ModelGraph Vit::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  check_head(*this, settings.head);
  const std::int64_t image = settings.image_size > 0 ? settings.image_size : shape["image_size"];
  const std::int64_t channels = shape["num_channels"];
  const std::int64_t patch = shape["patch_size"];
  TransformerShape encoder;
  encoder.name = shape.name;
  encoder.layers = shape["num_hidden_layers"];
  encoder.hidden = shape["hidden_size"];
  encoder.heads = shape["num_attention_heads"];
  encoder.feed_forward = shape["intermediate_size"];
  TransformerBatch batch = transformer_batch(encoder, settings);

  TransformerHead head;
  head.parameters = norm_parameters(encoder, "final_norm");
  if (settings.head == "image-classification") {
    head.classifier = true;
    add_linear(head.parameters, "classifier", encoder.hidden, shape["num_labels"]);
  }
  ModelGraph graph = build_transformer(encoder, batch, std::move(head));
  const PatchEmbedding embedding{batch.sequence - 1, patch * patch * channels, image * image * channels};
  graph.blocks.front() = patch_embedding_block(encoder, batch, embedding);
  graph.images = true;
  const double bytes = settings.input_bytes_per_element > 0 ? settings.input_bytes_per_element : 2;
  const double values = static_cast<double>(embedding.image_values * batch.samples);
  graph.host_input = Bytes(static_cast<std::int64_t>(std::ceil(values * bytes)));
  return graph;
}

}  // namespace podsim
