#pragma once
// Encoder-decoder transformers: the encoder's layers, then the decoder's, each of which also attends to the encoder's
// output. A layer list counts both together.

#include <cstdint>
#include <optional>
#include <string>
#include <utility>

#include "models/workloads/shape_reader.hpp"
#include "models/workloads/transformer.hpp"

namespace podsim {

// Class defaults of configurations that write each side's size under a name of its own ("encoder_layers", …).
struct SideDefaults {
  std::int64_t hidden = 0;
  std::int64_t layers = 0;
  std::int64_t heads = 0;
  std::int64_t feed_forward = 0;
};

// Reads hidden_size (d_model) and, for encoder and decoder, SIDE_layers, SIDE_attention_heads, SIDE_ffn_dim.
void read_sides(ShapeReader& reader, const SideDefaults& defaults);

// The layers of "encoder" or "decoder" as read by read_sides, with the "vocab_size" of the shape.
TransformerShape side_shape(const ModelShape& shape, const std::string& side);

std::string sides_name(const ModelShape& shape);  // "12 + 12 layers, hidden 1024"

struct EncoderDecoder {
  TransformerShape encoder;
  TransformerShape decoder;  // of the same hidden width
  std::int64_t source = 0;   // tokens per sample that the encoder reads
  std::int64_t target = 0;   // tokens per sample that the decoder writes
};

// Batches of the encoder and of the decoder.
std::pair<TransformerBatch, TransformerBatch> encoder_decoder_batches(const EncoderDecoder& model,
                                                                      const WorkloadSettings& settings);

// One block with the token look-ups of `tokens` tokens per micro-batch: the table is shared, so that the decoder's
// tokens are looked up where the encoder's are.
Block shared_embedding_block(const TransformerShape& shape, const TransformerBatch& batch, std::int64_t tokens);

// `first` embeds both sequences. Source and target activations both cross every cut between devices: the target's
// embeddings travel to the decoder, the encoder's output with the decoder's activations. `between`, if any, embeds the
// target alone, in front of the decoder's layers.
ModelGraph build_encoder_decoder(const EncoderDecoder& model, const WorkloadSettings& settings, Block first,
                                 TransformerHead head, std::optional<Block> between = {});

// Of the layers of such a graph, those of the encoder; 0 for any other graph.
std::int64_t encoder_layers(const ModelGraph& graph);

}  // namespace podsim
