#include <iterator>
#include <utility>

#include "models/workloads/operators.hpp"
#include "models/workloads/transformer.hpp"
#include "sim/core/check.hpp"

namespace podsim {

namespace {

using Operators = std::vector<Operator>;

void append(Operators& to, Operators from) {
  to.insert(to.end(), std::make_move_iterator(from.begin()), std::make_move_iterator(from.end()));
}

// Sizes of one attention: queries of a sequence over the keys of the same or, with `cross`, of another one.
struct Attention {
  bool cross = false;
  std::string prefix;        // of operator and tensor names
  std::int64_t queries = 0;  // tokens per sample
  std::int64_t keys = 0;
  std::int64_t query_tokens = 0;  // per micro-batch
  std::int64_t key_tokens = 0;
  std::int64_t hidden = 0;
  std::int64_t query_width = 0;
  std::int64_t key_width = 0;  // of values too
  std::int64_t head = 0;       // elements of one head
  std::int64_t groups = 0;     // independent products: samples * key-value heads
  std::int64_t rows = 0;       // of one product: the queries of all heads that share its keys
  std::int64_t scores = 0;
  int products = 1;  // that make queries, keys and values
};

Attention attention_of(const TransformerShape& shape, const TransformerBatch& batch, bool cross) {
  Attention a;
  a.cross = cross;
  a.prefix = cross ? "cross_" : "";
  a.queries = batch.sequence;
  a.keys = cross ? batch.memory : batch.sequence;
  a.query_tokens = batch.samples * a.queries;
  a.key_tokens = batch.samples * a.keys;
  a.hidden = shape.hidden;
  a.query_width = shape.query_width();
  a.key_width = shape.key_width();
  a.head = shape.width();
  a.groups = batch.samples * (a.key_width / a.head);
  a.rows = a.queries * (a.query_width / a.key_width);
  a.scores = a.groups * a.rows * a.keys;
  a.products = batch.qkv_products == 1 && cross ? 2 : batch.qkv_products;
  return a;
}

struct Projection {
  std::string name;
  std::int64_t tokens = 0;
  std::int64_t width = 0;
};

// One product for all three, or for keys and values when their tokens are others, or three.
std::vector<Projection> projections(const Attention& a) {
  if (a.products == 1) return {{"qkv", a.query_tokens, a.query_width + 2 * a.key_width}};
  if (a.products == 2) {
    return {{"cross_query", a.query_tokens, a.query_width}, {"cross_key_value", a.key_tokens, 2 * a.key_width}};
  }
  return {{a.prefix + "query", a.query_tokens, a.query_width},
          {a.prefix + "key", a.key_tokens, a.key_width},
          {a.prefix + "value", a.key_tokens, a.key_width}};
}

Operators qkv_products(const Attention& a, bool backward) {
  Operators ops;
  for (const Projection& p : projections(a)) {
    if (backward) {
      ops.push_back(matmul_operator(p.name + "_input_gradient", {1, p.tokens, p.width, a.hidden}));
      ops.push_back(matmul_operator(p.name + "_weight_gradient", {1, a.hidden, p.tokens, p.width}));
    } else {
      ops.push_back(matmul_operator(p.name + "_projection", {1, p.tokens, a.hidden, p.width}));
    }
  }
  return ops;
}

// Rotation of queries and keys: two products and a sum over what is rotated.
Operator rotary_operator(const TransformerShape& shape, const Attention& a, const std::string& name) {
  const std::int64_t rotated = a.query_tokens * (a.query_width + a.key_width) / a.head * shape.rotary_width;
  return elementwise_operator(name, rotated, 3, 6);
}

// Distances attend too: scores of content against positions both ways, gathered by distance and added.
Operators relative_forward(const TransformerShape& shape, const Attention& a) {
  const std::int64_t span = shape.relative_span;
  return {matmul_operator("position_key_projection", {1, span, a.hidden, a.key_width}),
          matmul_operator("position_query_projection", {1, span, a.hidden, a.query_width}),
          matmul_operator("content_position_scores", {a.groups, a.rows, a.head, span}),
          score_operator("content_position_gather", a.scores, a.keys, 2),
          matmul_operator("position_content_scores", {a.groups, a.keys, a.head, span}),
          score_operator("position_content_gather", a.scores, a.keys, 2)};
}

Operators relative_backward(const TransformerShape& shape, const Attention& a) {
  const std::int64_t span = shape.relative_span;
  return {score_operator("content_position_scatter", a.scores, a.keys, 2),
          matmul_operator("content_position_query_gradient", {a.groups, a.rows, span, a.head}),
          matmul_operator("content_position_key_gradient", {a.groups, span, a.rows, a.head}),
          score_operator("position_content_scatter", a.scores, a.keys, 2),
          matmul_operator("position_content_key_gradient", {a.groups, a.keys, span, a.head}),
          matmul_operator("position_content_query_gradient", {a.groups, span, a.keys, a.head}),
          matmul_operator("position_key_input_gradient", {1, span, a.key_width, a.hidden}),
          matmul_operator("position_key_weight_gradient", {1, a.hidden, span, a.key_width}),
          matmul_operator("position_query_input_gradient", {1, span, a.query_width, a.hidden}),
          matmul_operator("position_query_weight_gradient", {1, a.hidden, span, a.query_width}),
          elementwise_operator("position_weight_accumulate", a.hidden * (a.query_width + a.key_width), 1, 2)};
}

Operators scores_forward(const TransformerShape& shape, const TransformerBatch& batch, const Attention& a) {
  Operators ops;
  ops.push_back(matmul_operator(a.prefix + "query_key_scores", {a.groups, a.rows, a.head, a.keys}));
  if (shape.relative_span > 0) append(ops, relative_forward(shape, a));
  if (shape.score_scale) ops.push_back(score_operator(a.prefix + "scale", a.scores, a.keys, 1));
  if (shape.relative_bias && !a.cross) ops.push_back(score_operator("relative_bias", a.scores, a.keys, 1));
  ops.push_back(score_operator(a.prefix + "mask", a.scores, a.keys, 1));
  ops.push_back(score_operator(a.prefix + "softmax", a.scores, a.keys, 5));
  ops.back().launches = 4;
  if (batch.attention_dropout) ops.push_back(score_operator(a.prefix + "attention_dropout", a.scores, a.keys, 1));
  ops.push_back(matmul_operator(a.prefix + "scores_value_context", {a.groups, a.rows, a.keys, a.head}));
  return ops;
}

Operators attention_forward(const TransformerShape& shape, const TransformerBatch& batch, const Attention& a) {
  const std::int64_t th = a.query_tokens * a.hidden;
  const std::int64_t qkv = a.query_tokens * a.query_width + 2 * a.key_tokens * a.key_width;
  Operators ops = qkv_products(a, false);
  if (shape.attention_bias()) ops.push_back(elementwise_operator(a.prefix + "qkv_bias", qkv, 1, a.products));
  if (shape.rotary_width > 0 && !a.cross) ops.push_back(rotary_operator(shape, a, "rotary"));
  ops.push_back(elementwise_operator(a.prefix + "split_heads", qkv, 1, 3));
  append(ops, scores_forward(shape, batch, a));
  ops.push_back(elementwise_operator(a.prefix + "merge_heads", a.query_tokens * a.query_width, 1, 1));
  ops.push_back(matmul_operator(a.prefix + "output_projection", {1, a.query_tokens, a.query_width, a.hidden}));
  if (shape.output_bias) ops.push_back(elementwise_operator(a.prefix + "output_bias", th, 1, 1));
  if (batch.training && shape.dropout) ops.push_back(elementwise_operator(a.prefix + "dropout", th, 1, 1));
  ops.push_back(elementwise_operator(a.prefix + "residual", th, 1, 1));
  ops.push_back(norm_forward(shape, th));
  return ops;
}

Operators scores_backward(const TransformerShape& shape, const TransformerBatch& batch, const Attention& a) {
  const std::string& prefix = a.prefix;
  Operators ops;
  ops.push_back(matmul_operator(prefix + "scores_gradient", {a.groups, a.rows, a.head, a.keys}));
  ops.push_back(matmul_operator(prefix + "value_gradient", {a.groups, a.keys, a.rows, a.head}));
  if (batch.attention_dropout)
    ops.push_back(score_operator(prefix + "attention_dropout_gradient", a.scores, a.keys, 1));
  ops.push_back(score_operator(prefix + "softmax_gradient", a.scores, a.keys, 4));
  ops.back().launches = 3;
  if (shape.relative_bias && !a.cross) ops.push_back(score_operator("relative_bias_gradient", a.scores, a.keys, 1));
  if (shape.score_scale) ops.push_back(score_operator(prefix + "scale_gradient", a.scores, a.keys, 1));
  if (shape.relative_span > 0) append(ops, relative_backward(shape, a));
  ops.push_back(matmul_operator(prefix + "query_gradient", {a.groups, a.rows, a.keys, a.head}));
  ops.push_back(matmul_operator(prefix + "key_gradient", {a.groups, a.keys, a.rows, a.head}));
  return ops;
}

Operators attention_backward(const TransformerShape& shape, const TransformerBatch& batch, const Attention& a) {
  const std::string& prefix = a.prefix;
  const std::int64_t t = a.query_tokens;
  const std::int64_t h = a.hidden;
  const std::int64_t qkv = a.query_tokens * a.query_width + 2 * a.key_tokens * a.key_width;
  Operators ops;
  ops.push_back(norm_backward(shape, t * h));
  ops.push_back(elementwise_operator(prefix + "residual_gradient", t * h, 1, 1));
  if (shape.dropout) ops.push_back(elementwise_operator(prefix + "dropout_gradient", t * h, 1, 1));
  if (shape.output_bias) ops.push_back(elementwise_operator(prefix + "output_bias_gradient", t * h, 1, 1));
  ops.push_back(matmul_operator(prefix + "output_input_gradient", {1, t, h, a.query_width}));
  ops.push_back(matmul_operator(prefix + "output_weight_gradient", {1, a.query_width, t, h}));
  ops.push_back(elementwise_operator(prefix + "split_heads_gradient", t * a.query_width, 1, 1));
  append(ops, scores_backward(shape, batch, a));
  ops.push_back(elementwise_operator(prefix + "merge_heads_gradient", qkv, 1, 3));
  if (shape.rotary_width > 0 && !a.cross) ops.push_back(rotary_operator(shape, a, "rotary_gradient"));
  if (shape.attention_bias()) ops.push_back(elementwise_operator(prefix + "qkv_bias_gradient", qkv, 1, a.products));
  append(ops, qkv_products(a, true));
  ops.push_back(
      elementwise_operator(prefix + "qkv_weight_accumulate", h * (a.query_width + 2 * a.key_width), 1, a.products));
  ops.push_back(elementwise_operator(prefix + "output_weight_accumulate", h * a.query_width, 1, 1));
  const int biases = (shape.attention_bias() ? a.products : 0) + (shape.output_bias ? 1 : 0);
  if (biases > 0) ops.push_back(elementwise_operator(prefix + "bias_accumulate", 0, 0, biases));
  return ops;
}

std::vector<ParameterTensor> attention_parameters(const TransformerShape& shape, const Attention& a) {
  const std::string& prefix = a.prefix;
  std::vector<ParameterTensor> tensors;
  if (shape.fused_qkv_tensor) {
    const std::int64_t width = a.query_width + 2 * a.key_width;
    add_linear(tensors, prefix + "qkv", a.hidden, width, shape.attention_bias());
  } else {
    add_linear(tensors, prefix + "query", a.hidden, a.query_width, shape.query_bias);
    add_linear(tensors, prefix + "key", a.hidden, a.key_width, shape.key_bias);
    add_linear(tensors, prefix + "value", a.hidden, a.key_width, shape.value_bias);
  }
  if (shape.relative_span > 0) {
    add_linear(tensors, "position_key", a.hidden, a.key_width, false);
    add_linear(tensors, "position_query", a.hidden, a.query_width);
  }
  add_linear(tensors, prefix + "output", a.query_width, a.hidden, shape.output_bias);
  for (ParameterTensor& tensor : norm_parameters(shape, prefix + "norm")) tensors.push_back(std::move(tensor));
  return tensors;
}

Operators feed_forward_forward(const TransformerShape& shape, const TransformerBatch& batch) {
  const std::int64_t t = batch.tokens;
  const std::int64_t h = shape.hidden;
  const std::int64_t f = shape.feed_forward;
  Operators ops;
  ops.push_back(matmul_operator("up_projection", {1, t, h, f}));
  if (shape.gated) ops.push_back(matmul_operator("gate_projection", {1, t, h, f}));
  if (shape.feed_forward_bias) ops.push_back(elementwise_operator("up_bias", t * f, 1, 1));
  ops.push_back(elementwise_operator("activation", t * f, shape.activation_passes, 1));
  if (shape.gated) ops.push_back(elementwise_operator("gate_product", t * f, 1, 1));
  if (batch.ffn_dropout) ops.push_back(elementwise_operator("activation_dropout", t * f, 1, 0));
  ops.push_back(matmul_operator("down_projection", {1, t, f, h}));
  if (shape.feed_forward_bias) ops.push_back(elementwise_operator("down_bias", t * h, 1, 1));
  if (batch.training && shape.dropout) ops.push_back(elementwise_operator("dropout", t * h, 1, 1));
  ops.push_back(elementwise_operator("residual", t * h, 1, 1));
  if (!shape.shared_norm) ops.push_back(norm_forward(shape, t * h));
  return ops;
}

Operators feed_forward_backward(const TransformerShape& shape, const TransformerBatch& batch) {
  const std::int64_t t = batch.tokens;
  const std::int64_t h = shape.hidden;
  const std::int64_t f = shape.feed_forward;
  const bool bias = shape.feed_forward_bias;
  const int gates = shape.gated ? 1 : 0;
  Operators ops;
  if (!shape.shared_norm) ops.push_back(norm_backward(shape, t * h));
  ops.push_back(elementwise_operator("residual_gradient", t * h, 1, 1));
  if (shape.dropout) ops.push_back(elementwise_operator("dropout_gradient", t * h, 1, 1));
  if (bias) ops.push_back(elementwise_operator("down_bias_gradient", t * h, 1, 1));
  ops.push_back(matmul_operator("down_input_gradient", {1, t, h, f}));
  ops.push_back(matmul_operator("down_weight_gradient", {1, f, t, h}));
  if (batch.ffn_dropout) ops.push_back(elementwise_operator("activation_dropout_gradient", t * f, 1, 0));
  if (shape.gated) ops.push_back(elementwise_operator("gate_product_gradient", t * f, 2, 2));
  ops.push_back(elementwise_operator("activation_gradient", t * f, shape.activation_passes + 1, 1));
  if (bias) ops.push_back(elementwise_operator("up_bias_gradient", t * f, 1, 1));
  ops.push_back(matmul_operator("up_input_gradient", {1, t, f, h}));
  ops.push_back(matmul_operator("up_weight_gradient", {1, h, t, f}));
  if (shape.gated) {
    ops.push_back(matmul_operator("gate_input_gradient", {1, t, f, h}));
    ops.push_back(matmul_operator("gate_weight_gradient", {1, h, t, f}));
  }
  ops.push_back(elementwise_operator("weight_accumulate", (2 + gates) * h * f, 1, 2 + gates));
  if (bias) ops.push_back(elementwise_operator("bias_accumulate", 0, 0, 2));
  return ops;
}

}  // namespace

Block attention_block(const TransformerShape& shape, const TransformerBatch& batch, int layer) {
  Block block;
  block.kind = BlockKind::attention;
  block.name = "layer " + std::to_string(layer) + " attention";
  block.layer = layer;
  block.output = hidden_bytes(shape, batch, batch.tokens);
  std::vector<Attention> parts = {attention_of(shape, batch, false)};
  if (batch.memory > 0) parts.push_back(attention_of(shape, batch, true));
  for (const Attention& part : parts) {
    append(block.forward, attention_forward(shape, batch, part));
    for (ParameterTensor& tensor : attention_parameters(shape, part)) block.parameters.push_back(std::move(tensor));
    block.live_forward +=
        k_half_layer_activations * block.output + k_score_activations * Bytes(part.scores * batch.element_bytes);
  }
  if (!batch.training) return block;
  for (auto part = parts.rbegin(); part != parts.rend(); ++part)
    append(block.backward, attention_backward(shape, batch, *part));
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
  add_linear(block.parameters, "up", h, f, shape.feed_forward_bias);
  if (shape.gated) add_linear(block.parameters, "gate", h, f, shape.feed_forward_bias);
  add_linear(block.parameters, "down", f, h, shape.feed_forward_bias);
  if (!shape.shared_norm) {
    for (ParameterTensor& tensor : norm_parameters(shape, "norm")) block.parameters.push_back(std::move(tensor));
  }
  block.output = hidden_bytes(shape, batch, batch.tokens);
  block.live_forward = k_half_layer_activations * block.output;
  return block;
}

}  // namespace podsim
