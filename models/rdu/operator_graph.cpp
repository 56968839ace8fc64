#include "models/rdu/operator_graph.hpp"

#include <algorithm>
#include <stdexcept>

#include "sim/core/check.hpp"

namespace podsim::rdu {

namespace {

// Sums over any part of a graph then fit 64 bits.
constexpr double k_most_traffic = 4.6e18;  // bytes

}  // namespace

std::string_view phase_name(RduPhase phase) {
  switch (phase) {
    case RduPhase::forward:
      return "forward";
    case RduPhase::backward:
      return "backward";
    case RduPhase::gradient_norm:
      return "gradient norm";
    case RduPhase::optimizer:
      return "optimizer";
  }
  return "";
}

FlopCount OperatorGraph::flop() const {
  FlopCount sum;
  for (const RduOperator& op : operators) sum += op.flop;
  return sum;
}

void OperatorGraphBuilder::account(Bytes bytes) {
  PODSIM_CHECK(bytes.count() >= 0, "a tensor of negative size");
  traffic_ += bytes.size().in_base();
  if (traffic_ > k_most_traffic) throw std::range_error("the tensors of the model exceed 64-bit byte counts");
}

TensorId OperatorGraphBuilder::input(Bytes bytes) {
  account(bytes);
  graph_.tensors.push_back({bytes, OperatorId::none(), {}, false});
  return TensorId(static_cast<std::uint32_t>(graph_.tensors.size() - 1));
}

std::vector<TensorId> OperatorGraphBuilder::add(RduOperator op, const std::vector<TensorId>& inputs,
                                                const std::vector<Bytes>& outputs) {
  const OperatorId id(static_cast<std::uint32_t>(graph_.operators.size()));
  account(op.weight_bytes);
  for (const TensorId tensor : inputs) {
    if (std::ranges::count(op.inputs, tensor) > 0) continue;
    op.inputs.push_back(tensor);
    account(graph_[tensor].bytes);
    graph_.tensors[tensor.index()].consumers.push_back(id);
  }
  for (const Bytes bytes : outputs) {
    op.outputs.push_back(input(bytes));
    graph_.tensors.back().producer = id;
  }
  graph_.operators.push_back(std::move(op));
  return graph_.operators.back().outputs;
}

TensorId OperatorGraphBuilder::add_one(RduOperator op, const std::vector<TensorId>& inputs, Bytes output) {
  return add(std::move(op), inputs, {output}).front();
}

void OperatorGraphBuilder::mark_output(TensorId tensor) {
  graph_.tensors[tensor.index()].model_output = true;
}

}  // namespace podsim::rdu
