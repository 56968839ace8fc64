#pragma once
// Operator graphs of encoder and decoder transformers: learned positions, full attention, one normalisation after or
// before each half-layer. The operator counts (passes over elements, launched operations) are those of the published
// half-precision programs; the cost constants were fitted with exactly these counts, so they belong together.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/plan/workload_settings.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim {

struct TransformerShape {
  std::string name;
  std::int64_t layers = 0;
  std::int64_t hidden = 0;
  std::int64_t heads = 0;  // divides hidden
  std::int64_t feed_forward = 0;
  std::int64_t vocabulary = 0;
  std::int64_t positions = 0;
  std::int64_t types = 0;         // token types; 0: none
  bool fused_qkv_tensor = false;  // query, key and value weights are one tensor
  bool embedding_norm = false;    // a normalisation with parameters behind the embedding
};

// What a head consists of. A kind of model turns the name of a head into these parts.
struct TransformerHead {
  std::vector<ParameterTensor> parameters;  // of all parts
  std::int64_t transform_rows = 0;   // per micro-batch: rows gathered and transformed before the vocabulary; 0: none
  std::int64_t vocabulary_rows = 0;  // per micro-batch: rows projected onto the vocabulary; 0: none
  bool classifier = false;           // classifier or span head over the tokens
  HeadPlacement placement = HeadPlacement::last_device;
};

// Sizes of one micro-batch, and the switches that change the operators.
struct TransformerBatch {
  std::int64_t samples = 1;
  std::int64_t sequence = 0;
  std::int64_t tokens = 0;  // samples * sequence
  std::int64_t scores = 0;  // samples * heads * sequence^2
  std::int64_t element_bytes = 2;
  int qkv_products = 1;  // 3: query, key and value separately
  bool training = true;
  bool attention_dropout = false;  // false outside training, like all dropout
  bool ffn_dropout = false;
};

TransformerBatch transformer_batch(const TransformerShape& shape, const WorkloadSettings& settings);

ModelGraph build_transformer(const TransformerShape& shape, const TransformerBatch& batch, TransformerHead head);

// The parts, for those who need one block only.
Block embedding_block(const TransformerShape& shape, const TransformerBatch& batch);
Block attention_block(const TransformerShape& shape, const TransformerBatch& batch, int layer);
Block feed_forward_block(const TransformerShape& shape, const TransformerBatch& batch, int layer);
// One block per part; the parameters of the head stand in the first.
std::vector<Block> head_blocks(const TransformerShape& shape, const TransformerBatch& batch, TransformerHead head);

}  // namespace podsim
