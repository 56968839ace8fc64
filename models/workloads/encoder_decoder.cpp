#include "models/workloads/encoder_decoder.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace podsim {

namespace {

constexpr const char* k_encoder = "encoder ";  // in front of the names of their blocks
constexpr const char* k_decoder = "decoder ";

TransformerBatch batch_over(const TransformerShape& shape, const WorkloadSettings& settings, std::int64_t sequence) {
  WorkloadSettings one = settings;
  one.sequence_length = sequence;
  return transformer_batch(shape, one);
}

}  // namespace

void read_sides(ShapeReader& reader, const SideDefaults& defaults) {
  reader.read({"hidden_size", {"d_model"}, defaults.hidden});
  for (const char* name : {"encoder", "decoder"}) {
    const std::string side = name;
    reader.read({side + "_layers", {side + "_layers"}, defaults.layers, 1, k_maximum_layers});
    reader.read({side + "_attention_heads", {side + "_attention_heads"}, defaults.heads, 1, k_maximum_heads});
    reader.read({side + "_ffn_dim", {side + "_ffn_dim"}, defaults.feed_forward});
    reader.check_divides(side + "_attention_heads", "hidden_size");
  }
}

TransformerShape side_shape(const ModelShape& shape, const std::string& side) {
  TransformerShape layers;
  layers.name = shape.name;
  layers.layers = shape[side + "_layers"];
  layers.hidden = shape["hidden_size"];
  layers.heads = shape[side + "_attention_heads"];
  layers.feed_forward = shape[side + "_ffn_dim"];
  layers.vocabulary = shape["vocab_size"];
  return layers;
}

std::string sides_name(const ModelShape& shape) {
  return std::to_string(shape["encoder_layers"]) + " + " + std::to_string(shape["decoder_layers"]) +
         " layers, hidden " + std::to_string(shape["hidden_size"]);
}

std::pair<TransformerBatch, TransformerBatch> encoder_decoder_batches(const EncoderDecoder& model,
                                                                      const WorkloadSettings& settings) {
  TransformerBatch encoder = batch_over(model.encoder, settings, model.source);
  TransformerBatch decoder = batch_over(model.decoder, settings, model.target);
  decoder.memory = model.source;
  return {encoder, decoder};
}

Block shared_embedding_block(const TransformerShape& shape, const TransformerBatch& batch, std::int64_t tokens) {
  TransformerBatch both = batch;
  both.tokens = tokens;
  return embedding_block(shape, both);
}

ModelGraph build_encoder_decoder(const EncoderDecoder& model, const WorkloadSettings& settings, Block first,
                                 TransformerHead head, std::optional<Block> between) {
  PODSIM_CHECK(model.encoder.hidden == model.decoder.hidden, "encoder and decoder of different widths");
  constexpr std::int64_t k_host_bytes_per_token = 12;  // token, mask, label
  const auto [encoder, decoder] = encoder_decoder_batches(model, settings);
  ModelGraph graph;
  graph.name = model.decoder.name;
  graph.layers = static_cast<int>(model.encoder.layers + model.decoder.layers);
  graph.layer_names =
      std::to_string(model.encoder.layers) + " encoder and " + std::to_string(model.decoder.layers) + " decoder layers";
  graph.samples = decoder.samples;
  graph.tokens = decoder.tokens;
  graph.hidden = model.decoder.hidden;
  graph.sequence_length = model.target;
  graph.vocabulary = model.decoder.vocabulary;
  graph.boundary = hidden_bytes(model.decoder, decoder, encoder.tokens + decoder.tokens);
  graph.host_input = Bytes(k_host_bytes_per_token * (encoder.tokens + decoder.tokens));
  graph.head_placement = head.placement;
  graph.blocks.push_back(std::move(first));
  for (int layer = 0; layer < graph.layers; ++layer) {
    const bool encodes = layer < model.encoder.layers;
    if (layer == model.encoder.layers && between) graph.blocks.push_back(std::move(*between));
    const TransformerShape& shape = encodes ? model.encoder : model.decoder;
    const TransformerBatch& batch = encodes ? encoder : decoder;
    const std::string side = encodes ? k_encoder : k_decoder;
    for (Block block : {attention_block(shape, batch, layer), feed_forward_block(shape, batch, layer)}) {
      block.name = side + block.name;
      block.output = graph.boundary;
      graph.blocks.push_back(std::move(block));
    }
  }
  for (Block& block : head_blocks(model.decoder, decoder, std::move(head))) graph.blocks.push_back(std::move(block));
  return graph;
}

std::int64_t encoder_layers(const ModelGraph& graph) {
  const auto count = [&](const char* side) {
    return std::count_if(graph.blocks.begin(), graph.blocks.end(), [&](const Block& block) {
      return block.kind == BlockKind::attention && block.name.starts_with(side);
    });
  };
  return count(k_decoder) == 0 ? 0 : count(k_encoder);
}

}  // namespace podsim
