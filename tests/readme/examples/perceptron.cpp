#include "tests/readme/examples/perceptron.hpp"

#include "models/workloads/operators.hpp"
#include "models/workloads/shape_reader.hpp"

namespace podsim::examples {
namespace {

// Forward x W, then the rectifier; backward the rectifier, then the gradients of x and of W.
Block layer_block(int layer, std::int64_t rows, std::int64_t width, bool training) {
  Block block;
  block.kind = BlockKind::whole_layer;
  block.name = "layer " + std::to_string(layer);
  block.layer = layer;
  block.forward = {matmul_operator("product", {1, rows, width, width}),
                   elementwise_operator("relu", rows * width, 1, 1)};
  if (training) {
    block.backward = {elementwise_operator("relu_gradient", rows * width, 1, 1),
                      matmul_operator("input_gradient", {1, rows, width, width}),
                      matmul_operator("weight_gradient", {1, width, rows, width})};
  }
  block.parameters = {{"weight", width * width}, {"bias", width}};
  block.live_forward = Bytes(2 * rows * width);
  return block;
}

}  // namespace

std::optional<ModelShape> Perceptron::read(const Value& config, const Value& overrides,
                                           Diagnostics& diagnostics) const {
  ShapeReader reader("perceptron", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  const std::int64_t width = reader.read({"width", {"width"}, 1024});
  reader.read({"layers", {"layers"}, 4, 1, k_maximum_layers});
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = "perceptron of width " + std::to_string(width);
  return shape;
}

ModelGraph Perceptron::build(const ModelShape& shape, const WorkloadSettings& settings) const {
  ModelGraph graph;
  graph.name = shape.name;
  graph.layers = static_cast<int>(shape["layers"]);
  graph.samples = settings.micro_batch_size;
  graph.hidden = shape["width"];
  graph.boundary = Bytes(2 * settings.micro_batch_size * shape["width"]);
  graph.host_input = graph.boundary;
  graph.notes = {"perceptrons were compared with no measurement"};
  for (int layer = 0; layer < graph.layers; ++layer) {
    graph.blocks.push_back(
        layer_block(layer, settings.micro_batch_size, shape["width"], settings.mode == RunMode::training));
  }
  return graph;
}

}  // namespace podsim::examples
