#include "models/workloads/t5.hpp"

#include <algorithm>

#include "models/workloads/encoder_decoder.hpp"
#include "models/workloads/shape_reader.hpp"

namespace podsim {

namespace {

TransformerShape half_of(const ModelShape& shape, const std::string& layers) {
  TransformerShape half;
  half.name = shape.name;
  half.layers = shape[layers];
  half.hidden = shape["hidden_size"];
  half.heads = shape["num_attention_heads"];
  half.head_width = shape["d_kv"];
  half.feed_forward = shape["intermediate_size"];
  half.vocabulary = shape["vocab_size"];
  half.norm = NormKind::root_mean_square;
  half.norm_bias = false;
  half.query_bias = false;
  half.key_bias = false;
  half.value_bias = false;
  half.output_bias = false;
  half.feed_forward_bias = false;
  half.score_scale = false;
  half.relative_bias = true;
  half.gated = shape["gated"] == 1;
  half.activation_passes = half.gated ? 3 : 1;
  return half;
}

// As Transformers spells them: an activation function, with a gate or without.
std::vector<std::string> feed_forward_projections() {
  const std::vector<std::string> activations = {"relu", "gelu",  "gelu_new", "gelu_fast", "quick_gelu",
                                                "silu", "swish", "tanh",     "sigmoid",   "mish"};
  std::vector<std::string> projections = activations;
  for (const std::string& activation : activations) projections.push_back("gated-" + activation);
  return projections;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> T5::architectures() const {
  return with_pipelined_names({{family_ + "ForConditionalGeneration", "seq2seq"}, {family_ + "Model", "none"}});
}

std::vector<std::string> T5::heads() const {
  return {"seq2seq", "none"};
}

std::optional<ModelShape> T5::read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const {
  ShapeReader reader(type_, config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  const std::int64_t hidden = reader.read({"hidden_size", {"d_model"}, 512});
  reader.read({"d_kv", {"d_kv"}, 64});
  reader.read({"intermediate_size", {"d_ff"}, defaults_.feed_forward});
  const std::int64_t layers = reader.read({"num_hidden_layers", {"num_layers"}, defaults_.layers, 1, k_maximum_layers});
  const std::int64_t decoder =
      reader.read({"num_decoder_layers", {"num_decoder_layers"}, layers, 1, k_maximum_layers, true});
  reader.read({"num_attention_heads", {"num_heads"}, defaults_.heads, 1, k_maximum_heads});
  reader.read({"vocab_size", {"vocab_size"}, defaults_.vocabulary});
  reader.read({"relative_buckets", {"relative_attention_num_buckets"}, 32});
  reader.read_flag("tie_word_embeddings", defaults_.tied);
  const std::vector<std::string> projections = feed_forward_projections();
  const auto usual = std::ranges::find(projections, defaults_.gated ? "gated-gelu" : "relu") - projections.begin();
  const std::int64_t projection = reader.read_choice("feed_forward_proj", "feed_forward_proj", projections, usual);
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.dimensions.erase("feed_forward_proj");
  shape.dimensions["gated"] = projections[static_cast<std::size_t>(projection)].starts_with("gated-") ? 1 : 0;
  shape.name = family_ + ", " + std::to_string(layers) + " + " + std::to_string(decoder) + " layers, hidden " +
               std::to_string(hidden);
  return shape;
}

std::int64_t T5::maximum_sequence_length(const ModelShape&) const {
  return k_maximum_positions;
}

WorkloadDefaults T5::workload_defaults(const ModelShape&) const {
  WorkloadDefaults defaults;
  defaults.ffn_dropout = true;
  return defaults;
}

ModelGraph T5::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  check_head(*this, settings.head);
  EncoderDecoder model;
  model.encoder = half_of(shape, "num_hidden_layers");
  model.decoder = half_of(shape, "num_decoder_layers");
  model.source = settings.sequence_length;
  model.target = settings.sequence_length;
  const std::int64_t h = model.decoder.hidden;
  const auto [encoder, decoder] = encoder_decoder_batches(model, settings);
  Block first = shared_embedding_block(model.encoder, encoder, encoder.tokens + decoder.tokens);
  const std::int64_t bias = shape["relative_buckets"] * model.encoder.heads;
  first.parameters.insert(first.parameters.end(),
                          {{"encoder_relative_bias.weight", bias}, {"decoder_relative_bias.weight", bias}});
  TransformerHead head;
  head.parameters = {{"encoder_final_norm.weight", h}, {"final_norm.weight", h}};
  if (settings.head == "seq2seq") {
    // optimum-graphcore: T5's head always returns to the embedding, mT5's stands last when it has its own table.
    const bool own_table = shape["tie_word_embeddings"] == 0;
    head.placement = type_ == "mt5" && own_table ? HeadPlacement::last_device : HeadPlacement::first_device;
    head.vocabulary_rows = decoder.tokens;
    head.parameters.push_back({"decoder.weight", model.decoder.vocabulary * h, shape["tie_word_embeddings"] == 1});
  }
  ModelGraph graph = build_encoder_decoder(model, settings, std::move(first), std::move(head));
  graph.notes = {
      "root-mean-square norms and the bias by relative position are costed with assumed passes; no published run of "
      "them was compared",
      "the decoder is taken to write as many tokens as the encoder reads"};
  return graph;
}

}  // namespace podsim
