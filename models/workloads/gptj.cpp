#include "models/workloads/gptj.hpp"

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
  const std::int64_t hidden = reader.read({"hidden_size", {"n_embd"}, 4096});
  const std::int64_t layers = reader.read({"num_hidden_layers", {"n_layer"}, 28, 1, k_maximum_layers});
  const std::int64_t heads = reader.read({"num_attention_heads", {"n_head"}, 16, 1, k_maximum_heads});
  reader.read(
      {.dimension = "intermediate_size", .fields = {"n_inner"}, .fallback = 4 * hidden, .null_is_default = true});
  reader.read({"vocab_size", {"vocab_size"}, 50400});
  reader.read({"max_position_embeddings", {"n_positions", "n_ctx"}, 2048, 1, k_maximum_positions});
  const std::int64_t width = std::max<std::int64_t>(1, hidden / heads);
  reader.read({"rotary_dim", {"rotary_dim"}, std::min<std::int64_t>(64, width), 0, width, true});
  reader.read_flag("tie_word_embeddings", false);
  reader.read_labels();
  reader.check_divides("num_attention_heads", "hidden_size");
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = "GPT-J, " + std::to_string(layers) + " layers, hidden " + std::to_string(hidden);
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
  const std::vector<std::string> known = heads();
  PODSIM_CHECK(std::find(known.begin(), known.end(), settings.head) != known.end(), "no head " + settings.head);
  TransformerShape decoder;
  decoder.name = shape.name;
  decoder.layers = shape["num_hidden_layers"];
  decoder.hidden = shape["hidden_size"];
  decoder.heads = shape["num_attention_heads"];
  decoder.feed_forward = shape["intermediate_size"];
  decoder.vocabulary = shape["vocab_size"];
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
