#include "models/workloads/bert.hpp"

#include <algorithm>

#include "models/workloads/shape_reader.hpp"
#include "models/workloads/transformer.hpp"
#include "sim/core/check.hpp"

namespace podsim {

namespace {

bool predicts_masked_tokens(const std::string& head) {
  return head == "pretraining" || head == "masked-lm";
}

void add_linear(std::vector<ParameterTensor>& to, const std::string& name, std::int64_t in, std::int64_t out) {
  to.push_back({name + ".weight", in * out});
  to.push_back({name + ".bias", out});
}

// Parameters as the published classes have them. Pooler and next-sentence classifier of a pre-training head work on one
// row per sequence: they hold memory, but their few products are below what the cost counts resolve.
TransformerHead make_head(const ModelShape& shape, const WorkloadSettings& settings, std::int64_t masked_tokens) {
  const std::string& name = settings.head;
  const std::int64_t h = shape["hidden_size"];
  const std::int64_t vocabulary = shape["vocab_size"];
  TransformerHead head;
  const bool masked = predicts_masked_tokens(name);
  if (masked) {
    head.transform_rows = settings.micro_batch_size * masked_tokens;
    head.vocabulary_rows = head.transform_rows;
    head.placement = HeadPlacement::first_device;
    add_linear(head.parameters, "transform", h, h);
    head.parameters.insert(head.parameters.end(), {{"transform_norm.weight", h}, {"transform_norm.bias", h}});
    head.parameters.push_back({"decoder.weight", vocabulary * h, true});
    head.parameters.push_back({"decoder.bias", vocabulary});
  }
  const bool pooled =
      name == "pretraining" || name == "sequence-classification" || name == "multiple-choice" || name == "none";
  if (pooled) add_linear(head.parameters, "pooler", h, h);
  if (name == "pretraining") add_linear(head.parameters, "next_sentence", h, 2);
  if (masked || name == "none") return head;
  head.classifier = true;
  const std::int64_t outputs = name == "question-answering" ? 2 : name == "multiple-choice" ? 1 : shape["num_labels"];
  add_linear(head.parameters, "classifier", h, outputs);
  return head;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Bert::architectures() const {
  return with_pipelined_names({{"BertForPreTraining", "pretraining"},
                               {"BertForMaskedLM", "masked-lm"},
                               {"BertForQuestionAnswering", "question-answering"},
                               {"BertForSequenceClassification", "sequence-classification"},
                               {"BertForTokenClassification", "token-classification"},
                               {"BertForMultipleChoice", "multiple-choice"},
                               {"BertModel", "none"}});
}

std::vector<std::string> Bert::heads() const {
  return {"pretraining",     "masked-lm", "question-answering", "sequence-classification", "token-classification",
          "multiple-choice", "none"};
}

std::optional<ModelShape> Bert::read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const {
  ShapeReader reader("bert", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  const std::int64_t hidden = reader.read({"hidden_size", {"hidden_size"}, 768});
  const std::int64_t layers = reader.read({"num_hidden_layers", {"num_hidden_layers"}, 12, 1, k_maximum_layers});
  reader.read({"num_attention_heads", {"num_attention_heads"}, 12, 1, k_maximum_heads});
  reader.read({"intermediate_size", {"intermediate_size"}, 3072});
  reader.read({"vocab_size", {"vocab_size"}, 30522});
  reader.read({"max_position_embeddings", {"max_position_embeddings"}, 512, 1, k_maximum_positions});
  reader.read({"type_vocab_size", {"type_vocab_size"}, 2, 0});
  reader.read_labels();
  reader.check_divides("num_attention_heads", "hidden_size");
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = "BERT, " + std::to_string(layers) + " layers, hidden " + std::to_string(hidden);
  return shape;
}

std::int64_t Bert::maximum_sequence_length(const ModelShape& shape) const {
  return shape["max_position_embeddings"];
}

// The published pre-training inputs mask 20, 56 and 76 tokens of 128, 384 and 512; other lengths 15 % as they do. A
// pack has two more, for the sequences that share it.
std::int64_t Bert::default_masked_tokens(const WorkloadSettings& settings) const {
  if (!predicts_masked_tokens(settings.head)) return 0;
  const std::int64_t length = settings.sequence_length;
  std::int64_t masked = std::max<std::int64_t>(1, length * 15 / 100);
  if (length == 128) masked = 20;
  if (length == 384) masked = 56;
  if (settings.packing_factor > 1.0) masked += 2;
  return std::min(masked, length);
}

ModelGraph Bert::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  const std::vector<std::string> known = heads();
  PODSIM_CHECK(std::find(known.begin(), known.end(), settings.head) != known.end(), "no head " + settings.head);
  TransformerShape transformer;
  transformer.name = shape.name;
  transformer.layers = shape["num_hidden_layers"];
  transformer.hidden = shape["hidden_size"];
  transformer.heads = shape["num_attention_heads"];
  transformer.feed_forward = shape["intermediate_size"];
  transformer.vocabulary = shape["vocab_size"];
  transformer.positions = shape["max_position_embeddings"];
  transformer.types = shape["type_vocab_size"];
  transformer.embedding_norm = true;
  const std::int64_t masked = settings.masked_tokens > 0 ? settings.masked_tokens : default_masked_tokens(settings);
  return build_transformer(transformer, transformer_batch(transformer, settings), make_head(shape, settings, masked));
}

}  // namespace podsim
