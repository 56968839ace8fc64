#include "models/workloads/gpt2.hpp"

#include "models/workloads/decoder_fields.hpp"

namespace podsim {

namespace {

TransformerHead make_head(const ModelShape& shape, const WorkloadSettings& settings) {
  const std::int64_t h = shape["hidden_size"];
  TransformerHead head;
  head.parameters = {{"final_norm.weight", h}, {"final_norm.bias", h}};
  if (settings.head == "causal-lm") {
    head.vocabulary_rows = settings.micro_batch_size * settings.sequence_length;
    head.placement = HeadPlacement::first_device;
    head.parameters.push_back({"decoder.weight", shape["vocab_size"] * h, true});
  } else if (settings.head != "none") {
    head.classifier = true;
    head.parameters.push_back({"classifier.weight", h * shape["num_labels"]});
    if (settings.head == "token-classification") head.parameters.push_back({"classifier.bias", shape["num_labels"]});
  }
  return head;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> Gpt2::architectures() const {
  return with_pipelined_names({{"GPT2LMHeadModel", "causal-lm"},
                               {"GPT2ForSequenceClassification", "sequence-classification"},
                               {"GPT2ForTokenClassification", "token-classification"},
                               {"GPT2Model", "none"}});
}

std::vector<std::string> Gpt2::heads() const {
  return {"causal-lm", "sequence-classification", "token-classification", "none"};
}

std::optional<ModelShape> Gpt2::read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const {
  ShapeReader reader("gpt2", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  read_decoder(reader, {.hidden = 768, .layers = 12, .heads = 12, .vocabulary = 50257, .positions = 1024});
  reader.read_labels();
  reader.check_divides("num_attention_heads", "hidden_size");
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = "GPT-2, " + decoder_name(shape);
  return shape;
}

std::int64_t Gpt2::maximum_sequence_length(const ModelShape& shape) const {
  return shape["max_position_embeddings"];
}

std::int64_t Gpt2::default_masked_tokens(const WorkloadSettings&) const {
  return 0;
}

ModelGraph Gpt2::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  check_head(*this, settings.head);
  TransformerShape decoder = decoder_shape(shape);
  decoder.positions = shape["max_position_embeddings"];
  decoder.fused_qkv_tensor = true;
  return build_transformer(decoder, transformer_batch(decoder, settings), make_head(shape, settings));
}

}  // namespace podsim
