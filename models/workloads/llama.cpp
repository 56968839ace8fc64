#include "models/workloads/llama.hpp"

#include <algorithm>

#include "models/workloads/shape_reader.hpp"
#include "models/workloads/transformer.hpp"

namespace podsim {

namespace {

TransformerShape transformer_of(const ModelShape& shape) {
  TransformerShape decoder;
  decoder.name = shape.name;
  decoder.layers = shape["num_hidden_layers"];
  decoder.hidden = shape["hidden_size"];
  decoder.heads = shape["num_attention_heads"];
  decoder.key_value_heads = shape["num_key_value_heads"];
  decoder.head_width = shape["head_dim"];
  decoder.feed_forward = shape["intermediate_size"];
  decoder.vocabulary = shape["vocab_size"];
  decoder.norm = NormKind::root_mean_square;
  decoder.norm_bias = false;
  const bool bias = shape["attention_bias"] == 1;
  decoder.query_bias = bias;
  decoder.key_bias = bias;
  decoder.value_bias = bias;
  decoder.output_bias = bias;
  decoder.feed_forward_bias = false;
  decoder.gated = true;
  decoder.dropout = false;
  decoder.rotary_width = decoder.head_width;
  return decoder;
}

// A tied table brings the head back to the device of the embedding; its own stands at the end.
TransformerHead make_head(const ModelShape& shape, const WorkloadSettings& settings) {
  const std::int64_t h = shape["hidden_size"];
  TransformerHead head;
  head.parameters = {{"final_norm.weight", h}};
  if (settings.head == "causal-lm") {
    const bool tied = shape["tie_word_embeddings"] == 1;
    head.vocabulary_rows = settings.micro_batch_size * settings.sequence_length;
    head.placement = tied ? HeadPlacement::first_device : HeadPlacement::last_device;
    head.parameters.push_back({"decoder.weight", shape["vocab_size"] * h, tied});
  } else if (settings.head != "none") {
    head.classifier = true;
    add_linear(head.parameters, "classifier", h, shape["num_labels"], false);
  }
  return head;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Llama::architectures() const {
  return with_pipelined_names({{family_ + "ForCausalLM", "causal-lm"},
                               {family_ + "ForSequenceClassification", "sequence-classification"},
                               {family_ + "Model", "none"}});
}

std::vector<std::string> Llama::heads() const {
  return {"causal-lm", "sequence-classification", "none"};
}

std::optional<ModelShape> Llama::read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const {
  ShapeReader reader(type_, config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  const std::int64_t hidden = reader.read({"hidden_size", {"hidden_size"}, 4096});
  const std::int64_t layers = reader.read({"num_hidden_layers", {"num_hidden_layers"}, 32, 1, k_maximum_layers});
  const std::int64_t heads = reader.read({"num_attention_heads", {"num_attention_heads"}, 32, 1, k_maximum_heads});
  const std::int64_t shared = defaults_.key_value_heads > 0 ? defaults_.key_value_heads : heads;
  reader.read({"num_key_value_heads", {"num_key_value_heads"}, shared, 1, k_maximum_heads, true});
  const std::int64_t width = std::max<std::int64_t>(1, hidden / heads);
  reader.read({.dimension = "head_dim", .fields = {"head_dim"}, .fallback = width, .null_is_default = true});
  reader.read({"intermediate_size", {"intermediate_size"}, defaults_.intermediate_size});
  reader.read({"vocab_size", {"vocab_size"}, 32000});
  reader.read({"max_position_embeddings", {"max_position_embeddings"}, defaults_.positions, 1, k_maximum_positions});
  reader.read({"sliding_window", {"sliding_window"}, defaults_.sliding_window, 0, k_maximum_positions, true});
  reader.read_flag("tie_word_embeddings", false);
  reader.read_flag("attention_bias", false);
  reader.read_labels();
  reader.check_divides("num_key_value_heads", "num_attention_heads");
  if (!reader.wrote("head_dim")) reader.check_divides("num_attention_heads", "hidden_size");
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = family_ + ", " + std::to_string(layers) + " layers, hidden " + std::to_string(hidden);
  return shape;
}

std::int64_t Llama::maximum_sequence_length(const ModelShape& shape) const {
  return shape["max_position_embeddings"];
}

WorkloadDefaults Llama::workload_defaults(const ModelShape&) const {
  WorkloadDefaults defaults;
  defaults.attention_dropout = false;
  return defaults;
}

ModelGraph Llama::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  check_head(*this, settings.head);
  const TransformerShape decoder = transformer_of(shape);
  ModelGraph graph = build_transformer(decoder, transformer_batch(decoder, settings), make_head(shape, settings));
  graph.notes = {
      "root-mean-square norms, gated feed-forward and rotary positions are costed with assumed passes; no published "
      "run of them was compared"};
  const std::int64_t window = shape["sliding_window"];
  if (window > 0 && window < settings.sequence_length) {
    graph.notes.push_back("scores outside the sliding window are costed as computed and masked");
  }
  return graph;
}

}  // namespace podsim
