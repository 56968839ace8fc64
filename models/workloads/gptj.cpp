#include "models/workloads/gptj.hpp"

#include <algorithm>

#include "models/workloads/decoder_fields.hpp"

namespace podsim {

namespace {

TransformerHead make_head(const ModelShape& shape, const WorkloadSettings& settings) {
  const std::int64_t h = shape["hidden_size"];
  TransformerHead head;
  head.parameters = {{"final_norm.weight", h}, {"final_norm.bias", h}};
  if (settings.head == "causal-lm") {
    const bool tied = shape["tie_word_embeddings"] == 1;
    head.vocabulary_rows = settings.micro_batch_size * settings.sequence_length;
    head.placement = tied ? HeadPlacement::first_device : HeadPlacement::last_device;
    head.parameters.push_back({"decoder.weight", shape["vocab_size"] * h, tied});
    head.parameters.push_back({"decoder.bias", shape["vocab_size"]});
  } else if (settings.head != "none") {
    head.classifier = true;
    const bool spans = settings.head == "question-answering";
    add_linear(head.parameters, "classifier", h, spans ? 2 : shape["num_labels"], spans);
  }
  return head;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> GptJ::architectures() const {
  return with_pipelined_names({{"GPTJForCausalLM", "causal-lm"},
                               {"GPTJForSequenceClassification", "sequence-classification"},
                               {"GPTJForQuestionAnswering", "question-answering"},
                               {"GPTJModel", "none"}});
}

std::vector<std::string> GptJ::heads() const {
  return {"causal-lm", "sequence-classification", "question-answering", "none"};
}

std::optional<ModelShape> GptJ::read(const Value& config, const Value& overrides, Diagnostics& diagnostics) const {
  ShapeReader reader("gptj", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  read_decoder(reader, {.hidden = 4096, .layers = 28, .heads = 16, .vocabulary = 50400, .positions = 2048});
  const ModelShape& read = reader.shape();
  const std::int64_t width = std::max<std::int64_t>(1, read["hidden_size"] / read["num_attention_heads"]);
  reader.read({"rotary_dim", {"rotary_dim"}, std::min<std::int64_t>(64, width), 0, width, true});
  reader.read_flag("tie_word_embeddings", false);
  reader.read_labels();
  reader.check_divides("num_attention_heads", "hidden_size");
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = "GPT-J, " + decoder_name(shape);
  return shape;
}

std::int64_t GptJ::maximum_sequence_length(const ModelShape& shape) const {
  return shape["max_position_embeddings"];
}

WorkloadDefaults GptJ::workload_defaults(const ModelShape&) const {
  WorkloadDefaults defaults;
  defaults.attention_dropout = false;
  return defaults;
}

ModelGraph GptJ::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  check_head(*this, settings.head);
  TransformerShape decoder = decoder_shape(shape);
  decoder.shared_norm = true;
  decoder.query_bias = false;
  decoder.key_bias = false;
  decoder.value_bias = false;
  decoder.output_bias = false;
  decoder.dropout = false;
  decoder.rotary_width = shape["rotary_dim"] > 0 ? shape["rotary_dim"] : decoder.width();
  ModelGraph graph = build_transformer(decoder, transformer_batch(decoder, settings), make_head(shape, settings));
  graph.notes = {"rotary positions are costed with assumed passes; no published run of them was compared"};
  return graph;
}

}  // namespace podsim
