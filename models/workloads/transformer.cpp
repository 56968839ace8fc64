#include "models/workloads/transformer.hpp"

#include <iterator>
#include <utility>

#include "models/workloads/operators.hpp"
#include "sim/core/check.hpp"

namespace podsim {

namespace {

// Live activations of a layer while it is recomputed and run backward, in copies of tokens * hidden and of the
// attention scores (fitted on published placements that fit or do not fit). Each half-layer holds half of the first.
constexpr std::int64_t k_half_layer_activations = 4;
constexpr std::int64_t k_score_activations = 2;

Bytes activation_bytes(const TransformerShape& shape, const TransformerBatch& batch) {
  return Bytes(batch.tokens * shape.hidden * batch.element_bytes);
}

std::vector<ParameterTensor> attention_parameters(const TransformerShape& shape) {
  const std::int64_t h = shape.hidden;
  std::vector<ParameterTensor> tensors;
  if (shape.fused_qkv_tensor) {
    tensors = {{"qkv.weight", 3 * h * h}, {"qkv.bias", 3 * h}};
  } else {
    tensors = {{"query.weight", h * h}, {"query.bias", h},       {"key.weight", h * h},
               {"key.bias", h},         {"value.weight", h * h}, {"value.bias", h}};
  }
  tensors.insert(tensors.end(), {{"output.weight", h * h}, {"output.bias", h}, {"norm.weight", h}, {"norm.bias", h}});
  return tensors;
}

// The products with weights, forward and backward, of query, key and value: one or three.
std::vector<Operator> qkv_products(const TransformerShape& shape, const TransformerBatch& batch, bool backward) {
  const std::int64_t t = batch.tokens;
  const std::int64_t h = shape.hidden;
  const int count = batch.qkv_products;
  const std::int64_t width = 3 * h / count;
  const std::vector<std::string> names =
      count == 1 ? std::vector<std::string>{"qkv"} : std::vector<std::string>{"query", "key", "value"};
  std::vector<Operator> operators;
  for (const std::string& name : names) {
    if (backward) {
      operators.push_back(matmul_operator(name + "_input_gradient", {1, t, width, h}));
      operators.push_back(matmul_operator(name + "_weight_gradient", {1, h, t, width}));
    } else {
      operators.push_back(matmul_operator(name + "_projection", {1, t, h, width}));
    }
  }
  return operators;
}

void append(std::vector<Operator>& to, std::vector<Operator> from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

std::vector<Operator> attention_forward(const TransformerShape& shape, const TransformerBatch& batch) {
  const std::int64_t s = batch.sequence;
  const std::int64_t d = shape.hidden / shape.heads;
  const std::int64_t groups = batch.samples * shape.heads;
  const std::int64_t th = batch.tokens * shape.hidden;
  const std::int64_t x = batch.scores;
  std::vector<Operator> ops = qkv_products(shape, batch, false);
  ops.push_back(elementwise_operator("qkv_bias", 3 * th, 1, batch.qkv_products));
  ops.push_back(elementwise_operator("split_heads", 3 * th, 1, 3));
  ops.push_back(matmul_operator("query_key_scores", {groups, s, d, s}));
  ops.push_back(score_operator("scale", x, s, 1));
  ops.push_back(score_operator("mask", x, s, 1));
  ops.push_back(score_operator("softmax", x, s, 5));
  ops.back().launches = 4;
  if (batch.attention_dropout) ops.push_back(score_operator("attention_dropout", x, s, 1));
  ops.push_back(matmul_operator("scores_value_context", {groups, s, s, d}));
  ops.push_back(elementwise_operator("merge_heads", th, 1, 1));
  ops.push_back(matmul_operator("output_projection", {1, batch.tokens, shape.hidden, shape.hidden}));
  ops.push_back(elementwise_operator("output_bias", th, 1, 1));
  if (batch.training) ops.push_back(elementwise_operator("dropout", th, 1, 1));
  ops.push_back(elementwise_operator("residual", th, 1, 1));
  ops.push_back(elementwise_operator("layer_norm", th, 5, 4));
  return ops;
}

std::vector<Operator> attention_backward(const TransformerShape& shape, const TransformerBatch& batch) {
  const std::int64_t s = batch.sequence;
  const std::int64_t t = batch.tokens;
  const std::int64_t h = shape.hidden;
  const std::int64_t d = h / shape.heads;
  const std::int64_t groups = batch.samples * shape.heads;
  const std::int64_t x = batch.scores;
  const int q = batch.qkv_products;
  std::vector<Operator> ops;
  ops.push_back(elementwise_operator("layer_norm_gradient", t * h, 8, 6));
  ops.push_back(elementwise_operator("residual_gradient", t * h, 1, 1));
  ops.push_back(elementwise_operator("dropout_gradient", t * h, 1, 1));
  ops.push_back(elementwise_operator("output_bias_gradient", t * h, 1, 1));
  ops.push_back(matmul_operator("output_input_gradient", {1, t, h, h}));
  ops.push_back(matmul_operator("output_weight_gradient", {1, h, t, h}));
  ops.push_back(elementwise_operator("split_heads_gradient", t * h, 1, 1));
  ops.push_back(matmul_operator("scores_gradient", {groups, s, d, s}));
  ops.push_back(matmul_operator("value_gradient", {groups, s, s, d}));
  if (batch.attention_dropout) ops.push_back(score_operator("attention_dropout_gradient", x, s, 1));
  ops.push_back(score_operator("softmax_gradient", x, s, 4));
  ops.back().launches = 3;
  ops.push_back(score_operator("scale_gradient", x, s, 1));
  ops.push_back(matmul_operator("query_gradient", {groups, s, s, d}));
  ops.push_back(matmul_operator("key_gradient", {groups, s, s, d}));
  ops.push_back(elementwise_operator("merge_heads_gradient", 3 * t * h, 1, 3));
  ops.push_back(elementwise_operator("qkv_bias_gradient", 3 * t * h, 1, q));
  append(ops, qkv_products(shape, batch, true));
  ops.push_back(elementwise_operator("qkv_weight_accumulate", 3 * h * h, 1, q));
  ops.push_back(elementwise_operator("output_weight_accumulate", h * h, 1, 1));
  ops.push_back(elementwise_operator("bias_accumulate", 0, 0, q + 1));
  return ops;
}

std::vector<Operator> feed_forward_forward(const TransformerShape& shape, const TransformerBatch& batch) {
  const std::int64_t t = batch.tokens;
  const std::int64_t h = shape.hidden;
  const std::int64_t f = shape.feed_forward;
  std::vector<Operator> ops;
  ops.push_back(matmul_operator("up_projection", {1, t, h, f}));
  ops.push_back(elementwise_operator("up_bias", t * f, 1, 1));
  ops.push_back(elementwise_operator("activation", t * f, 3, 1));
  if (batch.ffn_dropout) ops.push_back(elementwise_operator("activation_dropout", t * f, 1, 0));
  ops.push_back(matmul_operator("down_projection", {1, t, f, h}));
  ops.push_back(elementwise_operator("down_bias", t * h, 1, 1));
  if (batch.training) ops.push_back(elementwise_operator("dropout", t * h, 1, 1));
  ops.push_back(elementwise_operator("residual", t * h, 1, 1));
  ops.push_back(elementwise_operator("layer_norm", t * h, 5, 4));
  return ops;
}

std::vector<Operator> feed_forward_backward(const TransformerShape& shape, const TransformerBatch& batch) {
  const std::int64_t t = batch.tokens;
  const std::int64_t h = shape.hidden;
  const std::int64_t f = shape.feed_forward;
  std::vector<Operator> ops;
  ops.push_back(elementwise_operator("layer_norm_gradient", t * h, 8, 6));
  ops.push_back(elementwise_operator("residual_gradient", t * h, 1, 1));
  ops.push_back(elementwise_operator("dropout_gradient", t * h, 1, 1));
  ops.push_back(elementwise_operator("down_bias_gradient", t * h, 1, 1));
  ops.push_back(matmul_operator("down_input_gradient", {1, t, h, f}));
  ops.push_back(matmul_operator("down_weight_gradient", {1, f, t, h}));
  if (batch.ffn_dropout) ops.push_back(elementwise_operator("activation_dropout_gradient", t * f, 1, 0));
  ops.push_back(elementwise_operator("activation_gradient", t * f, 4, 1));
  ops.push_back(elementwise_operator("up_bias_gradient", t * f, 1, 1));
  ops.push_back(matmul_operator("up_input_gradient", {1, t, f, h}));
  ops.push_back(matmul_operator("up_weight_gradient", {1, h, t, f}));
  ops.push_back(elementwise_operator("weight_accumulate", 2 * h * f, 1, 2));
  ops.push_back(elementwise_operator("bias_accumulate", 0, 0, 2));
  return ops;
}

}  // namespace

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
  Block block;
  block.kind = BlockKind::embedding;
  block.name = "embedding";
  block.parameters.push_back({"token.weight", shape.vocabulary * h});
  block.parameters.push_back({"position.weight", shape.positions * h});
  if (shape.types > 0) block.parameters.push_back({"type.weight", shape.types * h});
  if (shape.embedding_norm) {
    block.parameters.push_back({"norm.weight", h});
    block.parameters.push_back({"norm.bias", h});
  }
  block.forward.push_back(lookup_operator("token_lookup", batch.tokens));
  block.forward.back().launches_per_serial_step = true;
  block.forward.push_back(elementwise_operator("position_and_type_sum", th, 2, 5));
  block.forward.push_back(elementwise_operator("layer_norm", th, 5, 4));
  if (batch.training) block.forward.push_back(elementwise_operator("dropout", th, 1, 1));
  if (batch.training) {
    block.backward.push_back(elementwise_operator("dropout_gradient", th, 1, 1));
    block.backward.push_back(elementwise_operator("layer_norm_gradient", th, 8, 6));
    block.backward.push_back(elementwise_operator("position_and_type_accumulate", 0, 0, 3));
    block.backward.push_back(lookup_operator("token_scatter", batch.tokens));
    block.backward.back().launches_per_serial_step = true;
  }
  block.output = activation_bytes(shape, batch);
  block.live_forward = k_half_layer_activations * activation_bytes(shape, batch);
  return block;
}

Block attention_block(const TransformerShape& shape, const TransformerBatch& batch, int layer) {
  Block block;
  block.kind = BlockKind::attention;
  block.name = "layer " + std::to_string(layer) + " attention";
  block.layer = layer;
  block.forward = attention_forward(shape, batch);
  if (batch.training) block.backward = attention_backward(shape, batch);
  block.parameters = attention_parameters(shape);
  block.output = activation_bytes(shape, batch);
  block.live_forward = k_half_layer_activations * activation_bytes(shape, batch) +
                       k_score_activations * Bytes(batch.scores * batch.element_bytes);
  return block;
}

Block feed_forward_block(const TransformerShape& shape, const TransformerBatch& batch, int layer) {
  const std::int64_t h = shape.hidden;
  const std::int64_t f = shape.feed_forward;
  Block block;
  block.kind = BlockKind::feed_forward;
  block.name = "layer " + std::to_string(layer) + " feed-forward";
  block.layer = layer;
  block.forward = feed_forward_forward(shape, batch);
  if (batch.training) block.backward = feed_forward_backward(shape, batch);
  block.parameters = {{"up.weight", h * f}, {"up.bias", f},     {"down.weight", f * h},
                      {"down.bias", h},     {"norm.weight", h}, {"norm.bias", h}};
  block.output = activation_bytes(shape, batch);
  block.live_forward = k_half_layer_activations * activation_bytes(shape, batch);
  return block;
}

ModelGraph build_transformer(const TransformerShape& shape, const TransformerBatch& batch, TransformerHead head) {
  PODSIM_CHECK(shape.layers > 0 && shape.hidden > 0 && shape.heads > 0, "a transformer without layers");
  PODSIM_CHECK(shape.hidden % shape.heads == 0, "heads do not divide the hidden size");
  constexpr std::int64_t k_host_bytes_per_token = 12;  // three 32-bit integers: token, position or type, mask or label
  ModelGraph graph;
  graph.name = shape.name;
  graph.layers = static_cast<int>(shape.layers);
  graph.samples = batch.samples;
  graph.tokens = batch.tokens;
  graph.hidden = shape.hidden;
  graph.sequence_length = batch.sequence;
  graph.vocabulary = shape.vocabulary;
  graph.boundary = activation_bytes(shape, batch);
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
