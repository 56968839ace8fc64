#include "models/rdu/transformer_graph.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "models/rdu/tensor_bytes.hpp"
#include "sim/core/check.hpp"

namespace podsim::rdu {

namespace {

FlopCount product_flop(std::int64_t rows, std::int64_t inner, std::int64_t columns) {
  return flop(2.0 * static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(columns));
}

struct LinearShape {
  std::int64_t rows = 0;
  std::int64_t inner = 0;
  std::int64_t columns = 0;
};

// A parameter tensor and its gradient as the optimizer reads it.
struct Parameter {
  std::string name;
  int layer = -1;
  std::int64_t elements = 0;
  TensorId gradient;
};

// What a layer's backward reads of its forward.
struct SavedLayer {
  TensorId input;
  TensorId attention_input;  // of the qkv product
  TensorId query;
  TensorId key;
  TensorId value;
  TensorId probabilities;
  TensorId merged;
  TensorId attention_sum;  // behind the residual add
  TensorId ffn_input;      // of the first product
  TensorId ffn_inner;      // before the activation
  TensorId activated;
  TensorId ffn_sum;
  TensorId output;
};

struct SavedHead {
  TensorId layers_output;
  TensorId rows;       // after the gather of masked rows, or all
  TensorId inner;      // of a masked-token head: behind its product
  TensorId activated;  // and its activation
  TensorId normed;     // input of the last product
  TensorId log_softmax;
  TensorId labels;
};

class StepBuilder {
 public:
  StepBuilder(const TransformerDescription& model, const StepRequest& request)
      : m_(model),
        request_(request),
        tokens_(product({request.batch, request.sequence})),
        context_(request.context > 0 ? request.context : request.sequence),
        hidden_bytes_(matrix(tokens_, model.hidden)),
        query_bytes_(matrix(tokens_, model.query_width())),
        kv_bytes_(matrix(tokens_, model.kv_width())),
        score_bytes_(product({k_bf16_bytes, request.batch, model.heads, request.sequence, context_})),
        inner_(model.gated ? 2 * model.ffn : model.ffn) {}

  OperatorGraph build() {
    TensorId x = build_embedding();
    std::vector<SavedLayer> saved;
    for (int layer = 0; layer < m_.layers; ++layer) {
      layer_ = layer;
      saved.push_back(forward_layer(x));
      x = saved.back().output;
    }
    layer_ = -1;
    const SavedHead head = forward_head(x);
    if (request_.training) {
      phase_ = RduPhase::backward;
      TensorId gradient = backward_head(head);
      for (int layer = static_cast<int>(m_.layers) - 1; layer >= 0; --layer) {
        layer_ = layer;
        SavedLayer& own = saved[static_cast<std::size_t>(layer)];
        if (request_.recompute) {
          recomputing_ = true;
          own = forward_layer(own.input);
          recomputing_ = false;
        }
        gradient = backward_layer(own, gradient);
      }
      layer_ = -1;
      backward_embedding(gradient);
      build_optimizer();
    }
    return finish();
  }

 private:
  static Bytes matrix(std::int64_t rows, std::int64_t columns) { return Bytes(product({k_bf16_bytes, rows, columns})); }

  RduOperator make(std::string name, const char* type, const char* group) const {
    RduOperator op;
    op.name = recomputing_ ? "recompute_" + std::move(name) : std::move(name);
    op.type = type;
    op.pattern_group = recomputing_ ? std::string("recompute_") + group : group;
    op.phase = phase_;
    op.layer = layer_;
    op.recomputed = recomputing_;
    return op;
  }

  TensorId unary(std::string name, const char* type, const char* group, const std::vector<TensorId>& inputs,
                 Bytes output) {
    return builder_.add_one(make(std::move(name), type, group), inputs, output);
  }

  // A product whose inner dimension is cut when RDUs share the weights: each has a part of its sums.
  TensorId summing_linear(const std::string& name, const char* group, TensorId x, const LinearShape& shape) {
    summing_ = true;
    const TensorId y = linear(name, group, x, shape);
    summing_ = false;
    return y;
  }

  TensorId linear(const std::string& name, const char* group, TensorId x, const LinearShape& shape) {
    RduOperator op = make(name, "linear", group);
    op.flop = product_flop(shape.rows, shape.inner, shape.columns);
    op.products = 1;
    op.weight_use = WeightUse::forward;
    op.weight_elements = product({shape.inner, shape.columns});
    op.weight_bytes = Bytes(product({k_bf16_bytes, op.weight_elements}));
    if (summing_) op.partial_sum = matrix(shape.rows, shape.columns);
    return builder_.add_one(std::move(op), {x}, matrix(shape.rows, shape.columns));
  }

  struct LinearGradients {
    TensorId input;
    TensorId weight;
  };

  LinearGradients linear_backward(const std::string& name, const char* group, TensorId gradient, TensorId x,
                                  const LinearShape& shape, bool bias) {
    RduOperator to_input = make(name + "_input_gradient", "linear_backward", group);
    to_input.flop = product_flop(shape.rows, shape.inner, shape.columns);
    to_input.products = 1;
    to_input.weight_use = WeightUse::backward;
    to_input.weight_elements = product({shape.inner, shape.columns});
    RduOperator to_weight = to_input;
    to_weight.name = name + "_weight_gradient";
    to_input.weight_bytes = Bytes(product({k_bf16_bytes, to_input.weight_elements}));
    if (sums_gradient(name)) to_input.partial_sum = matrix(shape.rows, shape.inner);
    LinearGradients result;
    result.input = builder_.add_one(std::move(to_input), {gradient}, matrix(shape.rows, shape.inner));
    result.weight = builder_.add_one(std::move(to_weight), {x, gradient}, matrix(shape.inner, shape.columns));
    // Gradients of biases and norms are as long as one row: what writes them is left out.
    if (bias) builder_.add(make(name + "_bias_gradient", "reduce_sum", group), {gradient}, {});
    return result;
  }

  // Of the products that spread over the RDUs in forward: their inputs are whole on each.
  static bool sums_gradient(const std::string& name) { return name == "qkv" || name == "fc"; }

  TensorId batched(const char* name, const char* group, const std::vector<TensorId>& inputs, Bytes output,
                   bool joins_previous = false) {
    RduOperator op = make(name, phase_ == RduPhase::forward || recomputing_ ? "matmul" : "matmul_backward", group);
    op.flop = product_flop(tokens_, context_, m_.query_width());
    op.products = 1;
    op.joins_previous = joins_previous;
    return builder_.add_one(std::move(op), inputs, output);
  }

  const char* norm_type(bool backward) const {
    if (m_.norm == RduNorm::root_mean_square) return backward ? "rms_norm_backward" : "rms_norm";
    return backward ? "layer_norm_backward" : "layer_norm";
  }

  bool drops() const { return m_.dropout && request_.training; }

  TensorId build_embedding() {
    TensorId x = unary("embedding", "embedding", "embedding", {}, hidden_bytes_);
    if (m_.embedding_norm) {
      embedding_sum_ = x;
      x = unary("embedding_norm", norm_type(false), "embedding", {x}, hidden_bytes_);
    }
    return x;
  }

  void backward_embedding(TensorId gradient) {
    if (m_.embedding_norm) {
      gradient =
          unary("embedding_norm_gradient", norm_type(true), "embedding", {gradient, embedding_sum_}, hidden_bytes_);
    }
    // Added to the gradient of the tied head weights in place; else a tensor of its own.
    const RduOperator op = make("embedding_gradient", "embedding_backward", "embedding");
    if (tied_head_gradient_.valid()) {
      builder_.add(op, {gradient}, {});
      embedding_gradient_ = tied_head_gradient_;
    } else {
      embedding_gradient_ = builder_.add_one(op, {gradient}, matrix(m_.vocabulary, m_.hidden));
    }
  }

  SavedLayer forward_layer(TensorId x) {
    SavedLayer s;
    s.input = x;
    s.attention_input = m_.post_norm ? x : unary("norm1", norm_type(false), "qkv", {x}, hidden_bytes_);
    forward_attention(s);
    TensorId y = summing_linear("projection", "projection", s.merged, projection_shape());
    if (drops()) y = unary("projection_dropout", "dropout", "projection", {y}, hidden_bytes_);
    s.attention_sum = unary("attention_add", "add", "projection", {y, x}, hidden_bytes_);
    // Before the norm the residual branch is the sum, behind it (post-norm) the normalised sum.
    s.ffn_input =
        unary(m_.post_norm ? "norm1" : "norm2", norm_type(false), "projection", {s.attention_sum}, hidden_bytes_);
    const TensorId residual = m_.post_norm ? s.ffn_input : s.attention_sum;
    s.ffn_inner = linear("fc", "ffn", s.ffn_input, fc_shape());
    s.activated =
        unary("activation", m_.gated ? "silu_multiply" : "gelu", "ffn", {s.ffn_inner}, matrix(tokens_, m_.ffn));
    y = summing_linear("fc2", "ffn", s.activated, fc2_shape());
    if (drops()) y = unary("ffn_dropout", "dropout", "ffn", {y}, hidden_bytes_);
    s.ffn_sum = unary("ffn_add", "add", "ffn", {y, residual}, hidden_bytes_);
    s.output = m_.post_norm ? unary("norm2", norm_type(false), "ffn", {s.ffn_sum}, hidden_bytes_) : s.ffn_sum;
    return s;
  }

  void forward_attention(SavedLayer& s) {
    const TensorId qkv = linear("qkv", "qkv", s.attention_input, qkv_shape());
    s.query = unary("query_heads", "transpose", "rotary", {qkv}, query_bytes_);
    s.key = unary("key_heads", "transpose", "rotary", {qkv}, kv_bytes_);
    s.value = unary("value_heads", "transpose", "rotary", {qkv}, kv_bytes_);
    if (m_.rotary) {
      s.query = unary("rotary_query", "rotary", "rotary", {s.query}, query_bytes_);
      s.key = unary("rotary_key", "rotary", "rotary", {s.key}, kv_bytes_);
    }
    TensorId key = s.key;
    TensorId value = s.value;
    if (request_.keeps_cache || request_.context > 0) {
      builder_.mark_output(key);
      builder_.mark_output(value);
    }
    if (request_.context > 0) {
      const Bytes cache(product({k_bf16_bytes, request_.batch, context_, m_.kv_width()}));
      key = builder_.input(cache);
      value = builder_.input(cache);
    }
    const TensorId scores = batched("scores", "attention", {s.query, key}, score_bytes_);
    RduOperator softmax = make("softmax", "softmax", "attention");
    softmax.joins_previous = true;
    s.probabilities = builder_.add_one(std::move(softmax), {scores}, score_bytes_);
    const TensorId weighted = batched("weighted_values", "attention", {s.probabilities, value}, query_bytes_, true);
    s.merged = unary("merge_heads", "transpose", "attention", {weighted}, query_bytes_);
  }

  TensorId backward_layer(const SavedLayer& s, TensorId gradient) {
    TensorId dy = gradient;
    if (m_.post_norm) {
      dy = unary("norm2_gradient", norm_type(true), "ffn_down", {dy, s.ffn_sum}, hidden_bytes_);
    }
    TensorId d = dy;
    if (drops()) d = unary("ffn_dropout_gradient", "dropout_backward", "ffn_down", {d}, hidden_bytes_);
    const LinearGradients fc2 = linear_backward("fc2", "ffn_down", d, s.activated, fc2_shape(), m_.ffn_bias);
    d = unary("activation_gradient", m_.gated ? "silu_multiply_backward" : "gelu_backward", "ffn_down",
              {fc2.input, s.ffn_inner}, matrix(tokens_, inner_));
    const LinearGradients fc = linear_backward("fc", "ffn_up", d, s.ffn_input, fc_shape(), m_.ffn_bias);
    d = fc.input;
    if (!m_.post_norm) d = unary("norm2_gradient", norm_type(true), "ffn_up", {d, s.attention_sum}, hidden_bytes_);
    dy = unary("ffn_residual_gradient", "add", "ffn_up", {d, dy}, hidden_bytes_);
    if (m_.post_norm) {
      dy = unary("norm1_gradient", norm_type(true), "projection", {dy, s.attention_sum}, hidden_bytes_);
    }
    d = dy;
    if (drops()) d = unary("projection_dropout_gradient", "dropout_backward", "projection", {d}, hidden_bytes_);
    const LinearGradients proj =
        linear_backward("projection", "projection", d, s.merged, projection_shape(), m_.attention_bias);
    d = backward_attention(s, proj.input);
    const LinearGradients qkv = linear_backward("qkv", "qkv", d, s.attention_input, qkv_shape(), m_.attention_bias);
    d = qkv.input;
    if (!m_.post_norm) d = unary("norm1_gradient", norm_type(true), "qkv", {d, s.input}, hidden_bytes_);
    collect_parameters(qkv.weight, proj.weight, fc.weight, fc2.weight);
    return unary("attention_residual_gradient", "add", "qkv", {d, dy}, hidden_bytes_);
  }

  TensorId backward_attention(const SavedLayer& s, TensorId gradient) {
    const TensorId merged = unary("merge_heads_gradient", "transpose", "attention", {gradient}, query_bytes_);
    const TensorId dp = batched("probabilities_gradient", "attention", {merged, s.value}, score_bytes_);
    TensorId dv = batched("value_gradient", "attention", {s.probabilities, merged}, kv_bytes_);
    const TensorId ds = unary("softmax_gradient", "softmax_backward", "attention", {s.probabilities, dp}, score_bytes_);
    TensorId dq = batched("query_gradient", "attention", {ds, s.key}, query_bytes_);
    TensorId dk = batched("key_gradient", "attention", {ds, s.query}, kv_bytes_);
    if (m_.rotary) {
      dq = unary("rotary_query_gradient", "rotary_backward", "rotary", {dq}, query_bytes_);
      dk = unary("rotary_key_gradient", "rotary_backward", "rotary", {dk}, kv_bytes_);
    }
    dq = unary("query_heads_gradient", "transpose", "rotary", {dq}, query_bytes_);
    dk = unary("key_heads_gradient", "transpose", "rotary", {dk}, kv_bytes_);
    dv = unary("value_heads_gradient", "transpose", "rotary", {dv}, kv_bytes_);
    return unary("heads_gradient", "concat", "rotary", {dq, dk, dv}, query_bytes_ + 2 * kv_bytes_);
  }

  SavedHead forward_head(TensorId x) {
    SavedHead head;
    head.layers_output = x;
    if (m_.head == RduHead::none) {
      builder_.mark_output(x);
      return head;
    }
    head.rows = x;
    if (m_.head_rows > 0) head.rows = unary("gather_rows", "gather", "head", {x}, row_bytes(m_.hidden));
    head.normed = head.rows;
    if (m_.head == RduHead::masked_lm) {
      head.inner = linear("transform", "head", head.rows, transform_shape());
      head.activated = unary("transform_activation", "gelu", "head", {head.inner}, row_bytes(m_.hidden));
      head.normed = unary("transform_norm", norm_type(false), "head", {head.activated}, row_bytes(m_.hidden));
    } else if (!m_.post_norm) {
      head.normed = unary("final_norm", norm_type(false), "head", {head.rows}, row_bytes(m_.hidden));
    }
    const TensorId logits = linear("head", "head", head.normed, head_shape());
    builder_.mark_output(logits);
    if (!request_.training) return head;
    const Bytes single(product({k_single_bytes, rows(), columns()}));
    TensorId y = unary("logits_cast", "cast", "loss", {logits}, single);
    if (m_.head == RduHead::causal_lm) y = unary("logits_shift", "slice", "loss", {y}, single);
    head.log_softmax = unary("log_softmax", "log_softmax", "loss", {y}, single);
    // Gathers one value per row, which does not show beside the labels.
    head.labels = builder_.input(Bytes(product({k_single_bytes, rows()})));
    builder_.add(make("loss", "nll_loss", "loss"), {head.labels}, {});
    return head;
  }

  TensorId backward_head(const SavedHead& head) {
    if (m_.head == RduHead::none) return builder_.input(hidden_bytes_);
    const Bytes single(product({k_single_bytes, rows(), columns()}));
    // As wide as the logits, though one value per row is not zero.
    TensorId d = unary("loss_gradient", "nll_loss_backward", "loss", {head.labels}, single);
    d = unary("log_softmax_gradient", "log_softmax_backward", "loss", {head.log_softmax, d}, single);
    if (m_.head == RduHead::causal_lm) d = unary("logits_shift_gradient", "slice_backward", "loss", {d}, single);
    d = unary("logits_cast_gradient", "cast", "loss", {d}, row_bytes(columns()));
    const LinearGradients top = linear_backward("head", "head", d, head.normed, head_shape(), false);
    head_parameters_.push_back({"head.weight", -1, product({m_.hidden, columns()}), top.weight});
    if (has_tied_head()) {
      tied_head_gradient_ = top.weight;
      head_parameters_.clear();
    }
    d = top.input;
    if (m_.head == RduHead::masked_lm) {
      d = unary("transform_norm_gradient", norm_type(true), "head", {d, head.activated}, row_bytes(m_.hidden));
      d = unary("transform_activation_gradient", "gelu_backward", "head", {d, head.inner}, row_bytes(m_.hidden));
      const LinearGradients transform = linear_backward("transform", "head", d, head.rows, transform_shape(), true);
      head_parameters_.push_back({"transform.weight", -1, product({m_.hidden, m_.hidden}), transform.weight});
      d = transform.input;
    } else if (!m_.post_norm) {
      d = unary("final_norm_gradient", norm_type(true), "head", {d, head.rows}, row_bytes(m_.hidden));
    }
    if (m_.head_rows > 0) d = unary("gather_rows_gradient", "scatter", "head", {d}, hidden_bytes_);
    return d;
  }

  using Parameters = std::vector<Parameter>;

  // In the order of the forward; of a norm or bias the gradient is an input of the optimizer, see linear_backward.
  void collect_parameters(TensorId qkv, TensorId projection, TensorId fc, TensorId fc2) {
    Parameters own;
    const auto add = [&](const char* name, std::int64_t elements, TensorId gradient) {
      own.push_back({name, layer_, elements, gradient});
    };
    const auto add_vector = [&](const char* name, std::int64_t elements, bool exists) {
      if (exists) add(name, elements, builder_.input(Bytes(product({k_bf16_bytes, elements}))));
    };
    const auto add_norm = [&](const char* weight, const char* bias) {
      add_vector(weight, m_.hidden, true);
      add_vector(bias, m_.hidden, m_.norm_bias);
    };
    if (!m_.post_norm) add_norm("norm1.weight", "norm1.bias");
    const std::int64_t qkv_columns = qkv_shape().columns;
    add("qkv.weight", product({m_.hidden, qkv_columns}), qkv);
    add_vector("qkv.bias", qkv_columns, m_.attention_bias);
    add("projection.weight", product({m_.query_width(), m_.hidden}), projection);
    add_vector("projection.bias", m_.hidden, m_.attention_bias);
    if (m_.post_norm) add_norm("norm1.weight", "norm1.bias");
    if (!m_.post_norm) add_norm("norm2.weight", "norm2.bias");
    add("fc.weight", product({m_.hidden, inner_}), fc);
    add_vector("fc.bias", inner_, m_.ffn_bias);
    add("fc2.weight", product({m_.ffn, m_.hidden}), fc2);
    add_vector("fc2.bias", m_.hidden, m_.ffn_bias);
    if (m_.post_norm) add_norm("norm2.weight", "norm2.bias");
    layer_parameters_.push_back(std::move(own));
  }

  // Backward went through the layers from the last; the optimizer goes from the first.
  void build_optimizer() {
    Parameters all = {{"embedding.weight", -1, product({m_.vocabulary, m_.hidden}), embedding_gradient_}};
    for (auto own = layer_parameters_.rbegin(); own != layer_parameters_.rend(); ++own) {
      all.insert(all.end(), own->begin(), own->end());
    }
    all.insert(all.end(), head_parameters_.begin(), head_parameters_.end());
    phase_ = RduPhase::gradient_norm;
    for (const Parameter& parameter : all) {
      layer_ = parameter.layer;
      builder_.add(make(parameter.name + "_norm", "gradient_norm", "gradient_norm"), {parameter.gradient}, {});
    }
    phase_ = RduPhase::optimizer;
    for (const Parameter& parameter : all) {
      layer_ = parameter.layer;
      RduOperator op = make(parameter.name + "_" + request_.optimizer, request_.optimizer.c_str(), "optimizer");
      op.weight_use = WeightUse::update;
      op.weight_elements = parameter.elements;
      op.weight_bytes = Bytes(product({request_.update_bytes, parameter.elements}));
      builder_.add(std::move(op), {parameter.gradient}, {});
    }
    layer_ = -1;
  }

  OperatorGraph finish() {
    OperatorGraph graph = builder_.take();
    graph.name = m_.name;
    graph.layers = static_cast<int>(m_.layers);
    graph.samples = request_.batch;
    graph.tokens = tokens_;
    graph.parameter_count = m_.parameter_count();
    return graph;
  }

  bool has_tied_head() const {
    return m_.tied_embedding && (m_.head == RduHead::causal_lm || m_.head == RduHead::masked_lm);
  }
  std::int64_t rows() const { return m_.head_rows > 0 ? product({request_.batch, m_.head_rows}) : tokens_; }
  std::int64_t columns() const { return m_.head == RduHead::classifier ? m_.labels : m_.vocabulary; }
  Bytes row_bytes(std::int64_t width) const { return matrix(rows(), width); }
  LinearShape qkv_shape() const { return {tokens_, m_.hidden, m_.query_width() + 2 * m_.kv_width()}; }
  LinearShape projection_shape() const { return {tokens_, m_.query_width(), m_.hidden}; }
  LinearShape fc_shape() const { return {tokens_, m_.hidden, inner_}; }
  LinearShape fc2_shape() const { return {tokens_, m_.ffn, m_.hidden}; }
  LinearShape transform_shape() const { return {rows(), m_.hidden, m_.hidden}; }
  LinearShape head_shape() const { return {rows(), m_.hidden, columns()}; }

  const TransformerDescription& m_;
  const StepRequest& request_;
  std::int64_t tokens_;
  std::int64_t context_;
  Bytes hidden_bytes_;
  Bytes query_bytes_;
  Bytes kv_bytes_;
  Bytes score_bytes_;
  std::int64_t inner_;
  OperatorGraphBuilder builder_;
  RduPhase phase_ = RduPhase::forward;
  int layer_ = -1;
  bool recomputing_ = false;
  bool summing_ = false;
  TensorId embedding_sum_;
  TensorId tied_head_gradient_;
  TensorId embedding_gradient_;
  std::vector<Parameters> layer_parameters_;  // from the last layer
  Parameters head_parameters_;
};

void check_dimensions(const TransformerDescription& model, const StepRequest& request) {
  const std::int64_t least = std::min({model.layers, model.hidden, model.heads, model.kv_heads, model.head_dim,
                                       model.ffn, model.vocabulary, request.batch, request.sequence});
  PODSIM_CHECK(least >= 1, "a dimension of the model or the step is missing");
  PODSIM_CHECK(request.context >= 0, "a negative context");
  PODSIM_CHECK(model.head != RduHead::classifier || model.labels >= 1, "a classifier without labels");
  PODSIM_CHECK(!request.training || request.context == 0, "training does not read a key-value cache");
}

}  // namespace

OperatorGraph build_transformer_step(const TransformerDescription& model, const StepRequest& request) {
  check_dimensions(model, request);
  return StepBuilder(model, request).build();
}

}  // namespace podsim::rdu
