#pragma once
// An operator compiled and run alone, as micro-benchmarks do: one section, loaded once, whose operands come from off
// chip and whose result goes back there. It reaches less of the chip than an operator among others.

#include <optional>

#include "models/rdu/operator_graph.hpp"
#include "sim/plan/model_kind.hpp"

namespace podsim::rdu {

struct IsolatedOperator {
  std::string name;
  FlopCount flop;         // of a product; none otherwise
  double operations = 0;  // multiply-adds as two, or elements: what published rates count
  Bytes operands;
  Bytes result;
};

// From a read configuration of model_type matmul or relu; empty for others. Throws std::range_error beyond 64 bits.
std::optional<IsolatedOperator> describe_isolated(const ModelShape& shape);

OperatorGraph build_isolated(const IsolatedOperator& op);

}  // namespace podsim::rdu
