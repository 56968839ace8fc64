#include "models/ipu/cost/loss_scaling_cost.hpp"

#include <algorithm>
#include <string_view>

namespace podsim::ipu {
namespace {

constexpr std::int64_t k_workers = 6;
constexpr std::int64_t k_vector = 4;       // halves read at once
constexpr std::int64_t k_count_bytes = 4;  // unsigned integers

bool is_tracked(const Operator& op) {
  if (op.kind == OperatorKind::matmul) return true;
  if (op.kind == OperatorKind::lookup || op.elements == 0) return false;
  const std::string_view name = op.name;
  const bool accumulates = name.ends_with("_accumulate");
  const bool changes_view = name.ends_with("_heads_gradient");
  const bool vector = name.ends_with("bias_gradient");
  return !accumulates && !changes_view && !vector;
}

std::int64_t elements_of(const Operator& op) {
  return op.kind == OperatorKind::matmul ? op.matmul.groups * op.matmul.rows * op.matmul.columns : op.elements;
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

Cycles times(std::int64_t n, Cycles cycles) {
  return static_cast<double>(n) * cycles;
}

}  // namespace

TrackedGradients tracked_gradients(const Block& block) {
  TrackedGradients tracked;
  for (const Operator& op : block.backward) {
    if (!is_tracked(op)) continue;
    tracked.tensors += 1;
    tracked.elements += elements_of(op);
  }
  return tracked;
}

Cycles histogram_cycles(std::int64_t elements, const LossScalingConstants& constants) {
  const std::int64_t vectors = elements / k_vector;
  const Cycles rest = times((elements % 2 != 0 ? 1 : 0) + (elements % k_vector >= 2 ? 1 : 0), constants.remainder);
  const Cycles by_data = constants.by_data + rest + times(divide_up(vectors, k_workers), constants.four_elements);
  const Cycles by_limit = constants.by_limit + rest + times(vectors, constants.four_elements);
  return times(k_workers, std::min(by_data, by_limit));
}

CycleCost loss_scaling_cost(const Block& block, const Execution& execution, const IpuConstants& constants) {
  CycleCost cost;
  if (execution.mode == AmpMode::single) return cost;
  for (const Operator& op : block.backward) {
    if (!is_tracked(op)) continue;
    const std::int64_t steps = op.serial == SerialDimension::none ? 1 : execution.serial_steps;
    const std::int64_t on_tile = divide_up(divide_up(elements_of(op), steps), constants.chip.tiles);
    cost.compute += times(steps, histogram_cycles(on_tile, constants.loss_scaling));
    cost.exchange += times(steps, constants.loss_scaling.reduction);
  }
  return cost;
}

std::vector<Bytes> count_traffic(const ModelGraph& graph, const Pipeline& pipeline) {
  const std::vector<ForwardStage>& stages = pipeline.forward();
  std::vector<Bytes> traffic(stages.size() - 1);
  std::int64_t tensors = 0;  // of the stages behind a boundary
  for (std::size_t boundary = traffic.size(); boundary-- > 0;) {
    const ForwardStage& behind = stages[boundary + 1];
    if (behind.ipu != stages.front().ipu) {
      for (const std::size_t block : behind.blocks) tensors += tracked_gradients(graph.blocks[block]).tensors;
    }
    traffic[boundary] = Bytes(2 * k_count_bytes * tensors);
  }
  return traffic;
}

std::vector<PlacedParameters> summed_counts(const Pipeline& pipeline) {
  std::vector<PlacedParameters> counts(static_cast<std::size_t>(pipeline.ipus()));
  PlacedParameters& summing = counts[static_cast<std::size_t>(pipeline.forward().front().ipu)];
  summing.element_bytes = k_count_bytes;
  summing.elements = 2;
  return counts;
}

}  // namespace podsim::ipu
