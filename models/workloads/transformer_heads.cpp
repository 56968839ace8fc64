#include <utility>

#include "models/workloads/operators.hpp"
#include "models/workloads/transformer.hpp"

namespace podsim {

namespace {

// Rows are gathered from the last layer's output, transformed and normalised.
Block transform_block(const TransformerShape& shape, const TransformerBatch& batch, std::int64_t rows) {
  const std::int64_t h = shape.hidden;
  const std::int64_t elements = rows * h;
  Block block;
  block.kind = BlockKind::head;
  block.name = "token transform";
  block.forward = {
      lookup_operator("gather_rows", rows),
      matmul_operator("transform", {1, rows, h, h}),
      elementwise_operator("transform_bias", elements, 1, 1),
      elementwise_operator("activation", elements, 3, 3),
      elementwise_operator("layer_norm", elements, 5, 4),
  };
  if (batch.training) {
    block.backward = {
        elementwise_operator("layer_norm_gradient", elements, 8, 6),
        elementwise_operator("activation_gradient", elements, 4, 3),
        elementwise_operator("transform_bias_gradient", elements, 1, 2),
        matmul_operator("transform_input_gradient", {1, rows, h, h}),
        matmul_operator("transform_weight_gradient", {1, h, rows, h}),
        elementwise_operator("parameter_accumulate", 0, 0, 2),
        lookup_operator("scatter_rows", rows),
    };
  }
  block.output = Bytes(elements * batch.element_bytes);
  block.live_forward = 4 * block.output;
  return block;
}

// The product with the (tied) token table, its softmax and the loss. In f serial steps every product is f products
// of a part of the vocabulary, and the accumulation of the table's gradient is launched once per step.
Block vocabulary_block(const TransformerShape& shape, const TransformerBatch& batch, std::int64_t rows) {
  const std::int64_t h = shape.hidden;
  const std::int64_t v = shape.vocabulary;
  Block block;
  block.kind = BlockKind::head;
  block.name = "vocabulary projection";
  block.holds_vocabulary = true;
  block.forward = {
      matmul_operator("vocabulary_projection", {1, rows, h, v}, SerialDimension::columns),
      elementwise_operator("vocabulary_bias", rows * v, 1, 1),
      elementwise_operator("log_softmax", rows * v, 4, 4),
  };
  if (batch.training) {
    block.forward.push_back(elementwise_operator("loss", rows * v, 1, 3));
    block.backward = {
        elementwise_operator("softmax_gradient", rows * v, 2, 3),
        elementwise_operator("vocabulary_bias_gradient", rows * v, 1, 2),
        matmul_operator("vocabulary_input_gradient", {1, rows, v, h}, SerialDimension::inner),
        matmul_operator("vocabulary_weight_gradient", {1, h, rows, v}, SerialDimension::columns),
        elementwise_operator("vocabulary_weight_accumulate", v * h, 1, 1),
    };
    block.backward.back().launches_per_serial_step = true;
  }
  const std::int64_t copies = batch.training ? 2 : 1;  // logits, and their gradient
  block.live_forward = Bytes(copies * rows * v * batch.element_bytes);
  return block;
}

// A classifier or span head: small products that are launches more than work, and two passes over the tokens.
Block classifier_block(const TransformerShape& shape, const TransformerBatch& batch) {
  Block block;
  block.kind = BlockKind::head;
  block.name = "classifier";
  block.forward.push_back(elementwise_operator("classifier", batch.tokens * shape.hidden, 2, 10));
  if (batch.training) {
    block.backward.push_back(elementwise_operator("classifier_gradient", batch.tokens * shape.hidden, 2, 15));
  }
  block.live_forward = Bytes(2 * batch.tokens * shape.hidden * batch.element_bytes);
  return block;
}

}  // namespace

std::vector<Block> head_blocks(const TransformerShape& shape, const TransformerBatch& batch, TransformerHead head) {
  std::vector<Block> blocks;
  if (head.transform_rows > 0) blocks.push_back(transform_block(shape, batch, head.transform_rows));
  if (head.vocabulary_rows > 0) blocks.push_back(vocabulary_block(shape, batch, head.vocabulary_rows));
  if (head.classifier) blocks.push_back(classifier_block(shape, batch));
  if (blocks.empty() && !head.parameters.empty()) {
    Block block;
    block.kind = BlockKind::head;
    block.name = "output parameters";
    blocks.push_back(std::move(block));
  }
  if (!blocks.empty()) blocks.front().parameters = std::move(head.parameters);
  return blocks;
}

}  // namespace podsim
