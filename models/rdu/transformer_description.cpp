#include "models/rdu/transformer_description.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "sim/core/check.hpp"

namespace podsim::rdu {

namespace {

constexpr std::array<std::string_view, 2> k_encoders = {"bert", "roberta"};
constexpr std::array<std::string_view, 2> k_gated_decoders = {"llama", "mistral"};

std::int64_t dimension(const ModelShape& shape, const std::string& name, std::int64_t fallback) {
  const auto found = shape.dimensions.find(name);
  return found == shape.dimensions.end() ? fallback : found->second;
}

void describe_gated_decoder(const ModelShape& shape, TransformerDescription& model) {
  model.kv_heads = shape["num_key_value_heads"];
  model.head_dim = shape["head_dim"];
  model.gated = true;
  model.norm = RduNorm::root_mean_square;
  model.norm_bias = false;
  model.rotary = true;
  model.dropout = false;
  model.attention_bias = dimension(shape, "attention_bias", 0) == 1;
  model.ffn_bias = false;
  model.tied_embedding = dimension(shape, "tie_word_embeddings", 0) == 1;
}

void describe_head(const ModelShape& shape, const WorkloadSettings& settings, TransformerDescription& model) {
  const std::string& head = settings.head;
  if (head == "causal-lm") {
    model.head = RduHead::causal_lm;
  } else if (head == "masked-lm" || head == "pretraining") {
    model.head = RduHead::masked_lm;
    model.head_rows = settings.masked_tokens;
  } else if (head == "none") {
    model.head = RduHead::none;
  } else {
    model.head = RduHead::classifier;
    model.labels = head == "question-answering" ? 2 : dimension(shape, "num_labels", 2);
    const bool per_token = head == "token-classification" || head == "question-answering";
    model.head_rows = per_token ? 0 : 1;
  }
}

}  // namespace

std::int64_t TransformerDescription::layer_parameters() const {
  const std::int64_t norm_tensors = norm_bias ? 2 : 1;
  const std::int64_t qkv = query_width() + 2 * kv_width();
  const std::int64_t inner = gated ? 2 * ffn : ffn;
  std::int64_t count = hidden * qkv + query_width() * hidden + hidden * inner + ffn * hidden;
  count += 2 * norm_tensors * hidden;
  if (attention_bias) count += qkv + hidden;
  if (ffn_bias) count += inner + hidden;
  return count;
}

std::int64_t TransformerDescription::parameter_count() const {
  std::int64_t count = layers * layer_parameters() + vocabulary * hidden;
  if (head == RduHead::causal_lm && !tied_embedding) count += vocabulary * hidden;
  if (head == RduHead::masked_lm) count += hidden * hidden;
  if (head == RduHead::classifier) count += hidden * labels;
  return count;
}

TransformerDescription weight_shard(const TransformerDescription& model, std::int64_t chips) {
  PODSIM_CHECK(chips >= 1, "no chips");
  const auto share = [chips](std::int64_t whole) { return (whole + chips - 1) / chips; };
  TransformerDescription shard = model;
  shard.heads = share(model.heads);
  shard.kv_heads = share(model.kv_heads);
  shard.ffn = share(model.ffn);
  shard.vocabulary = share(model.vocabulary);
  return shard;
}

std::optional<TransformerDescription> describe_transformer(const ModelShape& shape, const WorkloadSettings& settings) {
  const bool encoder = std::ranges::count(k_encoders, shape.type) > 0;
  const bool gated = std::ranges::count(k_gated_decoders, shape.type) > 0;
  if (!encoder && !gated && shape.type != "gpt2") return std::nullopt;
  TransformerDescription model;
  model.name = shape.name;
  model.layers = shape["num_hidden_layers"];
  model.hidden = shape["hidden_size"];
  model.heads = shape["num_attention_heads"];
  model.kv_heads = model.heads;
  model.head_dim = model.hidden / model.heads;
  model.ffn = shape["intermediate_size"];
  model.vocabulary = shape["vocab_size"];
  model.positions = shape["max_position_embeddings"];
  model.post_norm = encoder;
  model.embedding_norm = encoder;
  if (gated) describe_gated_decoder(shape, model);
  describe_head(shape, settings, model);
  return model;
}

}  // namespace podsim::rdu
