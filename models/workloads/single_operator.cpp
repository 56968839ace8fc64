#include "models/workloads/single_operator.hpp"

#include "models/workloads/operators.hpp"
#include "models/workloads/shape_reader.hpp"

namespace podsim {
namespace {

constexpr std::int64_t k_most_rows = 1'000'000;

ModelGraph graph_of(const ModelShape& shape, Operator op) {
  ModelGraph graph;
  graph.name = shape.name;
  graph.layers = 1;
  Block block;
  block.kind = BlockKind::whole_layer;
  block.name = op.name;
  block.layer = 0;
  block.forward = {std::move(op)};
  graph.blocks.push_back(std::move(block));
  return graph;
}

}  // namespace

std::optional<ModelShape> SingleMatmul::read(const Value& config, const Value& overrides,
                                             Diagnostics& diagnostics) const {
  ShapeReader reader("matmul", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  for (const char* dimension : {"rows", "inner", "columns"}) {
    reader.read({dimension, {dimension}, 4096, 1, k_most_rows});
  }
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = "matmul " + std::to_string(shape["rows"]) + " x " + std::to_string(shape["inner"]) + " x " +
               std::to_string(shape["columns"]);
  return shape;
}

ModelGraph SingleMatmul::build(const ModelShape& shape, const WorkloadSettings&) const {
  return graph_of(shape, matmul_operator("matmul", {1, shape["rows"], shape["inner"], shape["columns"]}));
}

std::optional<ModelShape> SingleRelu::read(const Value& config, const Value& overrides,
                                           Diagnostics& diagnostics) const {
  ShapeReader reader("relu", config, overrides, diagnostics);
  if (!reader.good()) return std::nullopt;
  constexpr std::int64_t k_most_elements = 1'000'000'000'000;
  const std::int64_t elements = reader.read({"elements", {"elements"}, 1'000'000, 1, k_most_elements});
  if (!reader.good()) return std::nullopt;
  ModelShape shape = reader.take();
  shape.name = "relu of " + std::to_string(elements) + " elements";
  return shape;
}

ModelGraph SingleRelu::build(const ModelShape& shape, const WorkloadSettings&) const {
  return graph_of(shape, elementwise_operator("relu", shape["elements"], 2, 1));
}

}  // namespace podsim
