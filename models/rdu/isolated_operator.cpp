#include "models/rdu/isolated_operator.hpp"

#include "models/rdu/tensor_bytes.hpp"

namespace podsim::rdu {

std::optional<IsolatedOperator> describe_isolated(const ModelShape& shape) {
  IsolatedOperator op;
  op.name = shape.type;
  if (shape.type == "matmul") {
    const std::int64_t rows = shape["rows"];
    const std::int64_t inner = shape["inner"];
    const std::int64_t columns = shape["columns"];
    op.operations = 2.0 * static_cast<double>(rows) * static_cast<double>(inner) * static_cast<double>(columns);
    op.flop = flop(op.operations);
    op.operands = Bytes(product({k_bf16_bytes, rows, inner})) + Bytes(product({k_bf16_bytes, inner, columns}));
    op.result = Bytes(product({k_bf16_bytes, rows, columns}));
    return op;
  }
  if (shape.type != "relu") return std::nullopt;
  op.operations = static_cast<double>(shape["elements"]);
  op.operands = Bytes(product({k_bf16_bytes, shape["elements"]}));
  op.result = op.operands;
  return op;
}

OperatorGraph build_isolated(const IsolatedOperator& op) {
  OperatorGraphBuilder builder;
  const TensorId operands = builder.input(op.operands);
  RduOperator one;
  one.name = op.name;
  one.type = op.name;
  one.pattern_group = op.name;
  one.flop = op.flop;
  one.products = op.flop > FlopCount() ? 1 : 0;
  builder.mark_output(builder.add_one(std::move(one), {operands}, op.result));
  OperatorGraph graph = builder.take();
  graph.name = op.name;
  graph.samples = 1;
  return graph;
}

}  // namespace podsim::rdu
