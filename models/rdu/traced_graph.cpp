#include "models/rdu/traced_graph.hpp"

#include <algorithm>
#include <utility>

namespace podsim::rdu {

namespace {

// What one operator is traced to. An input goes to the entries of its place in the operator's list; of places beyond
// the last, to the last.
struct Trace {
  std::vector<std::string> types;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> edges;
  std::vector<std::vector<std::uint32_t>> entries;
  std::vector<std::uint32_t> exits;  // one, or one for each consumer of the tensor by its place
};

Trace single(const std::string& type) {
  return {{type}, {}, {{0}}, {0}};
}

Trace chain(std::vector<std::string> types) {
  Trace trace;
  const auto count = static_cast<std::uint32_t>(types.size());
  for (std::uint32_t i = 1; i < count; ++i) trace.edges.emplace_back(i - 1, i);
  trace.types = std::move(types);
  trace.entries = {{0}};
  trace.exits = {count - 1};
  return trace;
}

// x · rsqrt(mean(x²) + epsilon) · weight.
Trace root_mean_square_norm() {
  Trace trace = chain({"pow", "mean", "add", "rsqrt", "mul", "mul"});
  trace.entries = {{0, 4}};
  return trace;
}

// x · cos + (the halves of x, swapped and one negated) · sin.
Trace rotary_positions() {
  Trace trace;
  trace.types = {"mul", "getitem", "getitem", "neg", "cat", "mul", "add"};
  trace.edges = {{0, 6}, {1, 4}, {2, 3}, {3, 4}, {4, 5}, {5, 6}};
  trace.entries = {{0, 1, 2}};
  trace.exits = {6};
  return trace;
}

// Both products read the same input.
Trace parallel_products(std::uint32_t count) {
  Trace trace;
  trace.entries.emplace_back();
  for (std::uint32_t i = 0; i < count; ++i) {
    trace.types.emplace_back("linear");
    trace.entries.front().push_back(i);
    trace.exits.push_back(i);
  }
  return trace;
}

class Tracer {
 public:
  Tracer(const OperatorGraph& graph, bool separate_projections)
      : graph_(graph), separate_projections_(separate_projections) {}

  std::vector<TracedOperator> run() {
    first_.assign(graph_.operators.size(), 0);
    traces_.resize(graph_.operators.size());
    for (std::uint32_t i = 0; i < graph_.operators.size(); ++i) {
      const RduOperator& op = graph_.operators[i];
      if (op.phase == RduPhase::forward && !op.recomputed) add(OperatorId(i));
    }
    for (TracedOperator& op : result_) {
      for (std::vector<std::uint32_t>* ends : {&op.children, &op.parents}) {
        std::ranges::sort(*ends);
        ends->erase(std::ranges::unique(*ends).begin(), ends->end());
      }
    }
    return std::move(result_);
  }

 private:
  bool feeds(const RduOperator& op, const char* type) const {
    return std::ranges::any_of(op.outputs, [&](TensorId tensor) {
      return std::ranges::any_of(graph_[tensor].consumers,
                                 [&](OperatorId consumer) { return graph_[consumer].type == type; });
    });
  }

  Trace trace_of(const RduOperator& op) const {
    if (op.type == "rms_norm") return root_mean_square_norm();
    if (op.type == "rotary") return rotary_positions();
    if (op.type == "cast") return single("to");
    if (op.type == "linear" && op.name == "qkv" && separate_projections_) return parallel_products(3);
    if (op.type == "linear" && feeds(op, "silu_multiply")) return parallel_products(2);
    if (op.type == "silu_multiply") return chain({"silu", "mul"});
    if (op.type == "softmax") return chain({"div", "add", "softmax"});  // scale and mask in front
    if (op.type == "transpose" && op.name == "merge_heads") return chain({"transpose", "reshape"});
    if (op.type == "transpose") return chain({"view", "transpose"});
    if (op.name == "scores") return {{"transpose", "matmul"}, {{0, 1}}, {{1}, {0}}, {1}};  // the key is transposed
    return single(op.type);
  }

  void add(OperatorId id) {
    const RduOperator& op = graph_[id];
    Trace& trace = traces_[id.index()];
    trace = trace_of(op);
    const auto first = static_cast<std::uint32_t>(result_.size());
    first_[id.index()] = first;
    for (const std::string& type : trace.types) result_.push_back({type, id, {}, {}});
    for (const auto& [from, to] : trace.edges) connect(first + from, first + to);
    for (std::size_t place = 0; place < op.inputs.size(); ++place) connect_input(id, place);
  }

  void connect_input(OperatorId id, std::size_t place) {
    const RduTensor& tensor = graph_[graph_[id].inputs[place]];
    if (!tensor.producer.valid() || traces_[tensor.producer.index()].types.empty()) return;
    const Trace& source = traces_[tensor.producer.index()];
    const Trace& target = traces_[id.index()];
    const std::uint32_t from = first_[tensor.producer.index()];
    const std::uint32_t to = first_[id.index()];
    // Gate and up projection: the gate through the activation, the other past it.
    if (graph_[id].type == "silu_multiply" && source.exits.size() == 2) {
      connect(from + source.exits[0], to);
      connect(from + source.exits[1], to + 1);
      return;
    }
    const auto readers = std::ranges::find(tensor.consumers, id) - tensor.consumers.begin();
    const std::size_t exit = std::min(static_cast<std::size_t>(readers), source.exits.size() - 1);
    for (const std::uint32_t entry : target.entries[std::min(place, target.entries.size() - 1)]) {
      connect(from + source.exits[exit], to + entry);
    }
  }

  void connect(std::uint32_t from, std::uint32_t to) {
    result_[from].children.push_back(to);
    result_[to].parents.push_back(from);
  }

  const OperatorGraph& graph_;
  bool separate_projections_;
  std::vector<std::uint32_t> first_;  // of each operator, in the result
  std::vector<Trace> traces_;
  std::vector<TracedOperator> result_;
};

}  // namespace

std::vector<TracedOperator> trace_forward(const OperatorGraph& graph, bool separate_projections) {
  return Tracer(graph, separate_projections).run();
}

const std::vector<std::string>& traced_types() {
  static const std::vector<std::string> types = {"abs",          "add",         "addmm",
                                                 "arange",       "baddbmm",     "bmm",
                                                 "cat",          "chunk",       "clamp",
                                                 "clone",        "contiguous",  "conv1d",
                                                 "conv2d",       "cos",         "cross_entropy",
                                                 "cumsum",       "div",         "dropout",
                                                 "einsum",       "embedding",   "erf",
                                                 "exp",          "expand",      "flatten",
                                                 "gather",       "gelu",        "getitem",
                                                 "index_select", "layer_norm",  "linear",
                                                 "log_softmax",  "masked_fill", "matmul",
                                                 "max",          "mean",        "min",
                                                 "mul",          "neg",         "nll_loss",
                                                 "permute",      "pow",         "relu",
                                                 "repeat",       "reshape",     "rms_norm",
                                                 "rsqrt",        "rsub",        "scaled_dot_product_attention",
                                                 "scatter",      "select",      "sigmoid",
                                                 "silu",         "sin",         "slice",
                                                 "softmax",      "split",       "sqrt",
                                                 "squeeze",      "stack",       "sub",
                                                 "sum",          "tanh",        "to",
                                                 "transpose",    "triu",        "triufill",
                                                 "type_",        "unsqueeze",   "view",
                                                 "where",        "zipmapreduce"};
  return types;
}

}  // namespace podsim::rdu
