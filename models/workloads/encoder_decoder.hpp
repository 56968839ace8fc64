#pragma once
// Encoder-decoder transformers: the encoder's layers, then the decoder's, each of which also attends to the encoder's
// output. A layer list counts both together.

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
// embeddings travel to the decoder, the encoder's output with the decoder's activations.
ModelGraph build_encoder_decoder(const EncoderDecoder& model, const WorkloadSettings& settings, Block first,
                                 TransformerHead head);

}  // namespace podsim
