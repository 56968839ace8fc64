#include "models/workloads/gpt2.hpp"

#include <algorithm>

#include "models/workloads/shape_reader.hpp"
#include "models/workloads/transformer.hpp"
#include "sim/core/check.hpp"

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
  const std::int64_t hidden = reader.read({"hidden_size", {"n_embd"}, 768});
  const std::int64_t layers = reader.read({"num_hidden_layers", {"n_layer"}, 12, 1, k_maximum_layers});
  reader.read({"num_attention_heads", {"n_head"}, 12, 1, k_maximum_heads});
  reader.read(
      {.dimension = "intermediate_size", .fields = {"n_inner"}, .fallback = 4 * hidden, .null_is_default = true});
  reader.read({"vocab_size", {"vocab_size"}, 50257});
  reader.read({"max_position_embeddings", {"n_positions", "n_ctx"}, 1024, 1, k_maximum_positions});
  reader.read_labels();
  reader.check_divides("num_attention_heads", "hidden_size");
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = "GPT-2, " + std::to_string(layers) + " layers, hidden " + std::to_string(hidden);
  return shape;
}

std::int64_t Gpt2::maximum_sequence_length(const ModelShape& shape) const {
  return shape["max_position_embeddings"];
}

std::int64_t Gpt2::default_masked_tokens(const WorkloadSettings&) const {
  return 0;
}

ModelGraph Gpt2::build(const ModelShape& shape, const WorkloadSettings& settings) const {
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
  transformer.fused_qkv_tensor = true;
  return build_transformer(transformer, transformer_batch(transformer, settings), make_head(shape, settings));
}

}  // namespace podsim
