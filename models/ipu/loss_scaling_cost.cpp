#include "models/ipu/loss_scaling_cost.hpp"

#include <algorithm>
#include <string_view>

namespace podsim::ipu {
namespace {

constexpr std::int64_t k_workers = 6;
constexpr std::int64_t k_vector = 4;  // halves read at once

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

}  // namespace podsim::ipu
