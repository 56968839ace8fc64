#pragma once
// A model as the RDU compiler sees it: the operators of one step in execution order and the tensors between them. How
// they are cut into sections is the partition's business, what a section costs that of section_cost.hpp.

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/ids.hpp"
#include "sim/core/shared_vector.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"

namespace podsim::rdu {

using OperatorId = Id<struct RduOperatorTag>;  // index into OperatorGraph::operators
using TensorId = Id<struct RduTensorTag>;      // index into OperatorGraph::tensors

// The graph types of a compiled model, in execution order. Gradient norm and optimizer share sections at o3.
enum class RduPhase : std::uint8_t { forward, backward, gradient_norm, optimizer };

// "forward", "backward", "gradient norm", "optimizer".
std::string_view phase_name(RduPhase phase);

// What an operator does with weights; decides how many bytes of them it keeps on chip.
enum class WeightUse : std::uint8_t { none, forward, backward, update };

struct RduTensor {
  Bytes bytes;
  OperatorId producer = OperatorId::none();  // none: an input of the step (labels, a key-value cache, …)
  std::vector<OperatorId> consumers;         // ascending, each once
  bool model_output = false;                 // written off chip whoever reads it
};

struct RduOperator {
  std::string name;           // place in the layer: "qkv", "softmax", "fc2_weight_gradient"
  std::string type;           // what fusion rules match: "linear", "matmul", "softmax", "layer_norm", …
  std::string pattern_group;  // of the built-in o1 rules: "qkv", "rotary", "attention", …
  RduPhase phase = RduPhase::forward;
  int layer = -1;  // -1: outside the layers
  FlopCount flop;  // products only; a multiply-add counts as two
  WeightUse weight_use = WeightUse::none;
  std::int64_t weight_elements = 0;  // that stay resident while it runs
  Bytes weight_bytes;                // of weights and optimizer state moved off chip in one run, both ways together
  std::vector<TensorId> inputs;      // each once
  std::vector<TensorId> outputs;
  bool recomputed = false;      // a forward operator that runs again before its backward
  Bytes partial_sum;            // of its output, where RDUs that share the weights must add up theirs
  bool joins_previous = false;  // o3 never ends a section between the operator before and this one
  Bytes waits_for;              // what must be complete before it starts (statistics over a batch); 0: it streams
  int products = 0;             // matrix products it consists of; 0: elementwise, normalisation, layout, look-up
};

struct OperatorGraph {
  std::string name;
  int layers = 0;
  std::int64_t samples = 0;          // sequences per step
  std::int64_t tokens = 0;           // per step
  std::int64_t parameter_count = 0;  // that the optimizer updates; of inference, that are read
  SharedVector<RduOperator> operators;
  SharedVector<RduTensor> tensors;
  std::vector<std::string> notes;  // what is approximated, for the report: whole clauses

  const RduOperator& operator[](OperatorId id) const { return operators[id.index()]; }
  const RduTensor& operator[](TensorId id) const { return tensors[id.index()]; }
  FlopCount flop() const;  // of all operators
};

// Builds a graph in execution order and keeps both ends of each tensor consistent. Throws std::range_error when the
// bytes of all tensors together exceed what 64 bits hold.
class OperatorGraphBuilder {
 public:
  // A tensor that no operator of this step produces.
  TensorId input(Bytes bytes);
  // Appends the operator; its outputs are new tensors of the given sizes. Inputs given twice count once.
  std::vector<TensorId> add(RduOperator op, const std::vector<TensorId>& inputs, const std::vector<Bytes>& outputs);
  // The same with one output.
  TensorId add_one(RduOperator op, const std::vector<TensorId>& inputs, Bytes output);
  void mark_output(TensorId tensor);
  OperatorGraph& graph() { return graph_; }
  OperatorGraph take() { return std::move(graph_); }

 private:
  void account(Bytes bytes);
  OperatorGraph graph_;
  double traffic_ = 0;  // bytes, each tensor at each end
};

}  // namespace podsim::rdu
