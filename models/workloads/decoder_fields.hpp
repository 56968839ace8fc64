#pragma once
// Decoders whose configurations spell their sizes as GPT-2's did: n_embd, n_layer, n_head, n_inner, n_positions.

#include <cstdint>
#include <string>

#include "models/workloads/shape_reader.hpp"
#include "models/workloads/transformer.hpp"

namespace podsim {

// Class defaults; the feed-forward width is four times the hidden one.
struct DecoderDefaults {
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;
};

// Reads hidden_size, num_hidden_layers, num_attention_heads, intermediate_size, vocab_size, max_position_embeddings.
void read_decoder(ShapeReader& reader, const DecoderDefaults& defaults);

// The transformer of these dimensions, without a table of positions.
TransformerShape decoder_shape(const ModelShape& shape);

std::string decoder_name(const ModelShape& shape);  // "12 layers, hidden 768"

}  // namespace podsim
