#include "models/workloads/encoder_model.hpp"

#include <algorithm>

#include "models/workloads/shape_reader.hpp"
#include "sim/core/check.hpp"

namespace podsim {

namespace {

bool predicts_masked_tokens(const std::string& head) {
  return head == "pretraining" || head == "masked-lm";
}

}  // namespace

std::vector<std::pair<std::string, std::string>> EncoderModel::architectures() const {
  return with_pipelined_names(spec_.architectures);
}

std::optional<ModelShape> EncoderModel::read(const Value& config, const Value& overrides,
                                             Diagnostics& diagnostics) const {
  ShapeReader reader(spec_.type, config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  const std::int64_t hidden = reader.read({"hidden_size", {spec_.hidden}, 768});
  const std::int64_t layers =
      reader.read({"num_hidden_layers", {spec_.layers}, spec_.default_layers, 1, k_maximum_layers});
  reader.read({"num_attention_heads", {spec_.attention_heads}, 12, 1, k_maximum_heads});
  reader.read({"intermediate_size", {spec_.feed_forward}, 3072});
  reader.read({"vocab_size", {"vocab_size"}, spec_.default_vocabulary});
  const std::int64_t positions = reader.read(
      {"max_position_embeddings", {"max_position_embeddings"}, 512, 1 + spec_.reserved_positions, k_maximum_positions});
  if (spec_.has_types) reader.read({"type_vocab_size", {"type_vocab_size"}, spec_.default_types, 0});
  if (spec_.has_relative_buckets) reader.read({"relative_buckets", {"relative_attention_num_buckets"}, 32});
  if (spec_.has_relative_attention) {
    reader.read({"max_relative_positions", {"max_relative_positions"}, -1, -1, k_maximum_positions});
    reader.read_flag("relative_attention", false);
    reader.read_flag("position_biased_input", true);
  }
  reader.read_labels();
  reader.check_divides("num_attention_heads", "hidden_size");
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  if (spec_.has_relative_attention) {
    const std::int64_t written = shape["max_relative_positions"];
    const std::int64_t reach = written > 0 ? written : positions;
    shape.dimensions["relative_reach"] = shape["relative_attention"] * reach;
    shape.dimensions["learned_positions"] = shape["position_biased_input"] * positions;
  }
  shape.name = spec_.family + ", " + std::to_string(layers) + " layers, hidden " + std::to_string(hidden);
  return shape;
}

std::int64_t EncoderModel::maximum_sequence_length(const ModelShape& shape) const {
  return shape["max_position_embeddings"] - spec_.reserved_positions;
}

// The published pre-training inputs mask 20, 56 and 76 tokens of 128, 384 and 512; other lengths 15 % as they do. A
// pack has two more, for the sequences that share it.
std::int64_t EncoderModel::default_masked_tokens(const WorkloadSettings& settings) const {
  if (!predicts_masked_tokens(settings.head)) return 0;
  const std::int64_t length = settings.sequence_length;
  std::int64_t masked = std::max<std::int64_t>(1, length * 15 / 100);
  if (length == 128) masked = 20;
  if (length == 384) masked = 56;
  if (settings.packing_factor > 1.0) masked += 2;
  return std::min(masked, length);
}

// Parameters as the published classes have them. Pooler and next-sentence classifier of a pre-training head work on one
// row per sequence: they hold memory, but their few products are below what the cost counts resolve.
TransformerHead EncoderModel::head(const ModelShape& shape, const WorkloadSettings& settings) const {
  const std::string& name = settings.head;
  const std::int64_t h = shape["hidden_size"];
  const std::int64_t vocabulary = shape["vocab_size"];
  const bool masked = predicts_masked_tokens(name);
  TransformerHead head;
  if (masked) {
    const std::int64_t tokens = settings.masked_tokens > 0 ? settings.masked_tokens : default_masked_tokens(settings);
    head.transform_rows = settings.micro_batch_size * tokens;
    head.vocabulary_rows = head.transform_rows;
    head.placement = HeadPlacement::first_device;
    add_linear(head.parameters, "transform", h, h);
    head.parameters.insert(head.parameters.end(), {{"transform_norm.weight", h}, {"transform_norm.bias", h}});
    head.parameters.push_back({"decoder.weight", vocabulary * h, true});
    head.parameters.push_back({"decoder.bias", vocabulary});
  }
  const bool pooled = name == "pretraining" || (name == "none" && spec_.pools) ||
                      (name == "multiple-choice" && spec_.pools) ||
                      (name == "sequence-classification" && spec_.sequence_head == SequenceHead::pooler);
  if (pooled) add_linear(head.parameters, "pooler", h, h);
  if (name == "pretraining") add_linear(head.parameters, "next_sentence", h, 2);
  if (!masked && name != "none") add_classifier(shape, name, head);
  return head;
}

void EncoderModel::add_classifier(const ModelShape& shape, const std::string& name, TransformerHead& head) const {
  const std::int64_t h = shape["hidden_size"];
  const bool dense = (name == "sequence-classification" && spec_.sequence_head == SequenceHead::dense) ||
                     (name == "multiple-choice" && spec_.dense_multiple_choice);
  head.classifier = true;
  if (dense) add_linear(head.parameters, "dense", h, h);
  const std::int64_t outputs = name == "question-answering" ? 2 : name == "multiple-choice" ? 1 : shape["num_labels"];
  add_linear(head.parameters, "classifier", h, outputs);
}

TransformerShape EncoderModel::transformer(const ModelShape& shape) const {
  TransformerShape transformer;
  transformer.name = shape.name;
  transformer.layers = shape["num_hidden_layers"];
  transformer.hidden = shape["hidden_size"];
  transformer.heads = shape["num_attention_heads"];
  transformer.feed_forward = shape["intermediate_size"];
  transformer.vocabulary = shape["vocab_size"];
  transformer.positions = shape["max_position_embeddings"];
  if (spec_.has_types) transformer.types = shape["type_vocab_size"];
  transformer.embedding_norm = true;
  transformer.relative_bias = spec_.has_relative_buckets;
  return transformer;
}

ModelGraph EncoderModel::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  check_head(*this, settings.head);
  TransformerShape encoder = transformer(shape);
  if (spec_.has_relative_attention) {
    encoder.positions = shape["learned_positions"];
    encoder.relative_span = 2 * std::min(shape["relative_reach"], settings.sequence_length);
    encoder.key_bias = false;
  }
  ModelGraph graph = build_transformer(encoder, transformer_batch(encoder, settings), head(shape, settings));
  std::vector<ParameterTensor>& embedding = graph.blocks.front().parameters;
  if (spec_.has_relative_buckets) {
    embedding.push_back({"relative_bias.weight", shape["relative_buckets"] * encoder.heads});
  }
  if (encoder.relative_span > 0) {
    embedding.push_back({"relative_embedding.weight", 2 * shape["relative_reach"] * encoder.hidden});
  }
  graph.notes = spec_.notes;
  return graph;
}

}  // namespace podsim
