#include "models/workloads/decoder_fields.hpp"

namespace podsim {

void read_decoder(ShapeReader& reader, const DecoderDefaults& defaults) {
  const std::int64_t hidden = reader.read({"hidden_size", {"n_embd"}, defaults.hidden});
  reader.read({"num_hidden_layers", {"n_layer"}, defaults.layers, 1, k_maximum_layers});
  reader.read({"num_attention_heads", {"n_head"}, defaults.heads, 1, k_maximum_heads});
  reader.read(
      {.dimension = "intermediate_size", .fields = {"n_inner"}, .fallback = 4 * hidden, .null_is_default = true});
  reader.read({"vocab_size", {"vocab_size"}, defaults.vocabulary});
  reader.read({"max_position_embeddings", {"n_positions", "n_ctx"}, defaults.positions, 1, k_maximum_positions});
}

TransformerShape decoder_shape(const ModelShape& shape) {
  TransformerShape decoder;
  decoder.name = shape.name;
  decoder.layers = shape["num_hidden_layers"];
  decoder.hidden = shape["hidden_size"];
  decoder.heads = shape["num_attention_heads"];
  decoder.feed_forward = shape["intermediate_size"];
  decoder.vocabulary = shape["vocab_size"];
  return decoder;
}

std::string decoder_name(const ModelShape& shape) {
  return std::to_string(shape["num_hidden_layers"]) + " layers, hidden " + std::to_string(shape["hidden_size"]);
}

}  // namespace podsim
