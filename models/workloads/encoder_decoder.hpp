#pragma once
// Encoder-decoder transformers: the encoder's layers, then the decoder's, each of which also attends to the encoder's
// output. A layer list counts both together.

#include <optional>
#include <utility>

#include "models/workloads/transformer.hpp"

namespace podsim {

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
