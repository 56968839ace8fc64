#pragma once
// The forward operators of a graph as a framework traces them, which is what fusion rules name: an RMS norm there is a
// power, a mean, an addition, a reciprocal root and two multiplications. Traced operators point back at the operator
// they are a part of. What is traced follows the modules of Hugging Face transformers; views that only rename a tensor
// stand behind projections and in front of them.

#include <cstdint>
#include <string>
#include <vector>

#include "models/rdu/operator_graph.hpp"

namespace podsim::rdu {

struct TracedOperator {
  std::string type;  // "linear", "layer_norm", "pow", "matmul", …
  OperatorId part_of;
  std::vector<std::uint32_t> children;  // ascending; indices into the trace
  std::vector<std::uint32_t> parents;   // ascending
};

// In execution order. Recomputed operators and those behind the forward are left out. `separate_projections`: query,
// key and value are three products, as in BERT and Llama; else one, as in GPT-2.
std::vector<TracedOperator> trace_forward(const OperatorGraph& graph, bool separate_projections);

// The types that a forward can be traced to, and others that published rules name, sorted.
const std::vector<std::string>& traced_types();

}  // namespace podsim::rdu
