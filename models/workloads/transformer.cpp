#include "models/workloads/transformer.hpp"

#include <utility>

#include "models/workloads/operators.hpp"
#include "sim/core/check.hpp"

namespace podsim {

Bytes hidden_bytes(const TransformerShape& shape, const TransformerBatch& batch, std::int64_t tokens) {
  return Bytes(tokens * shape.hidden * batch.element_bytes);
}

void add_linear(std::vector<ParameterTensor>& to, const std::string& name, std::int64_t in, std::int64_t out,
                bool bias) {
  to.push_back({name + ".weight", in * out});
  if (bias) to.push_back({name + ".bias", out});
}

std::vector<ParameterTensor> norm_parameters(const TransformerShape& shape, const std::string& name) {
  std::vector<ParameterTensor> tensors = {{name + ".weight", shape.hidden}};
  if (shape.norm_bias) tensors.push_back({name + ".bias", shape.hidden});
  return tensors;
}

// A root-mean-square norm has neither mean nor shift: three of the five passes, one launch and two gradients less.
Operator norm_forward(const TransformerShape& shape, std::int64_t elements) {
  const bool layer = shape.norm == NormKind::layer;
  return elementwise_operator(layer ? "layer_norm" : "rms_norm", elements, layer ? 5 : 3, layer ? 4 : 3);
}

Operator norm_backward(const TransformerShape& shape, std::int64_t elements) {
  const bool layer = shape.norm == NormKind::layer;
  return elementwise_operator(layer ? "layer_norm_gradient" : "rms_norm_gradient", elements, layer ? 8 : 6,
                              layer ? 6 : 5);
}

TransformerBatch transformer_batch(const TransformerShape& shape, const WorkloadSettings& settings) {
  PODSIM_CHECK(settings.micro_batch_size > 0 && settings.sequence_length > 0, "a micro-batch without tokens");
  TransformerBatch batch;
  batch.samples = settings.micro_batch_size;
  batch.sequence = settings.sequence_length;
  batch.tokens = batch.samples * batch.sequence;
  batch.scores = batch.samples * shape.heads * batch.sequence * batch.sequence;
  batch.element_bytes = activation_element_bytes(settings.precision);
  batch.qkv_products = settings.split_qkv ? 3 : 1;
  batch.training = settings.mode == RunMode::training;
  batch.attention_dropout = batch.training && settings.attention_dropout;
  batch.ffn_dropout = batch.training && settings.ffn_dropout;
  return batch;
}

// The pass counts are those of an encoder, whose embedding ends in a normalisation. A decoder has its own in front of
// its head instead; it is counted here, where the published counts have it, and not there.
Block embedding_block(const TransformerShape& shape, const TransformerBatch& batch) {
  const std::int64_t h = shape.hidden;
  const std::int64_t th = batch.tokens * h;
  const bool sums = shape.positions > 0 || shape.types > 0;
  const bool dropout = batch.training && shape.dropout;
  Block block;
  block.kind = BlockKind::embedding;
  block.name = "embedding";
  block.parameters.push_back({"token.weight", shape.vocabulary * h});
  if (shape.positions > 0) block.parameters.push_back({"position.weight", shape.positions * h});
  if (shape.types > 0) block.parameters.push_back({"type.weight", shape.types * h});
  if (shape.embedding_norm) {
    for (ParameterTensor& tensor : norm_parameters(shape, "norm")) block.parameters.push_back(std::move(tensor));
  }
  block.forward.push_back(lookup_operator("token_lookup", batch.tokens));
  block.forward.back().launches_per_serial_step = true;
  if (sums) block.forward.push_back(elementwise_operator("position_and_type_sum", th, 2, 5));
  block.forward.push_back(norm_forward(shape, th));
  if (dropout) block.forward.push_back(elementwise_operator("dropout", th, 1, 1));
  if (batch.training) {
    if (dropout) block.backward.push_back(elementwise_operator("dropout_gradient", th, 1, 1));
    block.backward.push_back(norm_backward(shape, th));
    if (sums) block.backward.push_back(elementwise_operator("position_and_type_accumulate", 0, 0, 3));
    block.backward.push_back(lookup_operator("token_scatter", batch.tokens));
    block.backward.back().launches_per_serial_step = true;
  }
  block.output = hidden_bytes(shape, batch, batch.tokens);
  block.live_forward = k_half_layer_activations * block.output;
  return block;
}

ModelGraph build_transformer(const TransformerShape& shape, const TransformerBatch& batch, TransformerHead head) {
  PODSIM_CHECK(shape.layers > 0 && shape.hidden > 0 && shape.heads > 0, "a transformer without layers");
  PODSIM_CHECK(shape.head_width > 0 || shape.hidden % shape.heads == 0, "heads do not divide the hidden size");
  constexpr std::int64_t k_host_bytes_per_token = 12;  // three 32-bit integers: token, position or type, mask or label
  ModelGraph graph;
  graph.name = shape.name;
  graph.layers = static_cast<int>(shape.layers);
  graph.samples = batch.samples;
  graph.tokens = batch.tokens;
  graph.hidden = shape.hidden;
  graph.sequence_length = batch.sequence;
  graph.vocabulary = shape.vocabulary;
  graph.boundary = hidden_bytes(shape, batch, batch.tokens);
  graph.host_input = Bytes(k_host_bytes_per_token * batch.tokens);
  graph.head_placement = head.placement;
  graph.blocks.push_back(embedding_block(shape, batch));
  for (int layer = 0; layer < graph.layers; ++layer) {
    graph.blocks.push_back(attention_block(shape, batch, layer));
    graph.blocks.push_back(feed_forward_block(shape, batch, layer));
  }
  for (Block& block : head_blocks(shape, batch, std::move(head))) graph.blocks.push_back(std::move(block));
  return graph;
}

}  // namespace podsim
