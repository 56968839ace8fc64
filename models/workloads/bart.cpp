#include "models/workloads/bart.hpp"

#include "models/workloads/encoder_decoder.hpp"
#include "models/workloads/shape_reader.hpp"

namespace podsim {

namespace {

constexpr std::int64_t k_reserved_positions = 2;  // rows of each position table that no token takes

TransformerShape half_of(const ModelShape& shape, const std::string& side) {
  TransformerShape half = side_shape(shape, side);
  half.positions = shape["max_position_embeddings"] + k_reserved_positions;
  half.embedding_norm = true;
  return half;
}

TransformerHead make_head(const ModelShape& shape, const WorkloadSettings& settings) {
  const std::int64_t h = shape["hidden_size"];
  TransformerHead head;
  if (settings.head == "seq2seq") {
    head.vocabulary_rows = settings.micro_batch_size * settings.sequence_length;
    head.placement = HeadPlacement::first_device;
    head.parameters.push_back({"decoder.weight", shape["vocab_size"] * h, true});
  } else if (settings.head != "none") {
    head.classifier = true;
    if (settings.head == "sequence-classification") add_linear(head.parameters, "dense", h, h);
    const std::int64_t outputs = settings.head == "question-answering" ? 2 : shape["num_labels"];
    add_linear(head.parameters, "classifier", h, outputs);
  }
  return head;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Bart::architectures() const {
  return with_pipelined_names({{"BartForConditionalGeneration", "seq2seq"},
                               {"BartForSequenceClassification", "sequence-classification"},
                               {"BartForQuestionAnswering", "question-answering"},
                               {"BartModel", "none"}});
}

std::vector<std::string> Bart::heads() const {
  return {"seq2seq", "sequence-classification", "question-answering", "none"};
}

std::optional<ModelShape> Bart::read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const {
  ShapeReader reader("bart", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  read_sides(reader, {.hidden = 1024, .layers = 12, .heads = 16, .feed_forward = 4096});
  reader.read({"vocab_size", {"vocab_size"}, 50265});
  reader.read({"max_position_embeddings", {"max_position_embeddings"}, 1024, 1, k_maximum_positions});
  reader.read_labels();
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = "BART, " + sides_name(shape);
  return shape;
}

std::int64_t Bart::maximum_sequence_length(const ModelShape& shape) const {
  return shape["max_position_embeddings"];
}

ModelGraph Bart::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  check_head(*this, settings.head);
  EncoderDecoder model;
  model.encoder = half_of(shape, "encoder");
  model.decoder = half_of(shape, "decoder");
  model.source = settings.sequence_length;
  model.target = settings.sequence_length;
  const auto [encoder, decoder] = encoder_decoder_batches(model, settings);
  Block first = shared_embedding_block(model.encoder, encoder, encoder.tokens + decoder.tokens);
  first.parameters.push_back({"decoder_position.weight", model.decoder.positions * model.decoder.hidden});
  for (ParameterTensor& tensor : norm_parameters(model.decoder, "decoder_norm"))
    first.parameters.push_back(std::move(tensor));
  ModelGraph graph = build_encoder_decoder(model, settings, std::move(first), make_head(shape, settings));
  graph.notes = {"the decoder is taken to write as many tokens as the encoder reads",
                 "no published run of a model with cross-attention was compared"};
  return graph;
}

}  // namespace podsim
