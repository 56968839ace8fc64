#include "models/ipu/cost/operator_cost.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "sim/core/check.hpp"

namespace podsim::ipu {

namespace {

constexpr std::int64_t k_aligned_bytes = 8;       // the width of a tile's memory access
constexpr std::int64_t k_half_element_bytes = 2;  // what the cost of a pass is given for

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

bool is_of_network(OperatorKind kind) {
  return kind == OperatorKind::convolution || kind == OperatorKind::normalisation || kind == OperatorKind::pooling;
}

// The shape of one of `steps` serial steps.
MatmulShape step_shape(const Operator& op, std::int64_t steps) {
  MatmulShape shape = op.matmul;
  switch (op.serial) {
    case SerialDimension::none:
      break;
    case SerialDimension::rows:
      shape.rows = divide_up(shape.rows, steps);
      break;
    case SerialDimension::inner:
      shape.inner = divide_up(shape.inner, steps);
      break;
    case SerialDimension::columns:
      shape.columns = divide_up(shape.columns, steps);
      break;
  }
  return shape;
}

}  // namespace

CycleCost& CycleCost::operator+=(const CycleCost& other) {
  compute += other.compute;
  exchange += other.exchange;
  sync += other.sync;
  launch += other.launch;
  return *this;
}

OperatorCostModel::OperatorCostModel(const ChipConstants& chip, const CostConstants& constants,
                                     const PassConstants& passes)
    : chip_(chip), constants_(constants), planner_(chip, passes) {}

OperatorCostModel::OperatorCostModel(const ChipConstants& chip, const CostConstants& constants,
                                     const OperatorConstants& operators)
    : OperatorCostModel(chip, constants, operators.passes) {
  network_ = std::make_unique<const NetworkCostModel>(chip, operators);
}

CycleCost OperatorCostModel::cost(const Operator& op, const Execution& execution) const {
  PODSIM_CHECK(execution.serial_steps >= 1, "no serial steps");
  if (is_of_network(op.kind)) return network_cost(op, execution);
  CycleCost cost = op.kind == OperatorKind::matmul ? matmul_cost(op, execution) : element_cost(op, execution);
  const bool repeated = op.launches_per_serial_step || op.serial != SerialDimension::none;
  const double launches = as_double(op.launches) * (repeated ? as_double(execution.serial_steps) : 1.0);
  cost.sync += launches * constants_.launch_sync;
  cost.launch += launches * (constants_.launch - constants_.launch_sync);
  return cost;
}

CycleCost OperatorCostModel::cost(std::span<const Operator> operators, const Execution& execution) const {
  CycleCost sum;
  for (const Operator& op : operators) sum += cost(op, execution);
  return sum;
}

Bytes OperatorCostModel::temporary(std::span<const Operator> operators, const Execution& execution,
                                   double tolerance) const {
  Bytes most;
  for (const Operator& op : operators) {
    if (op.kind == OperatorKind::convolution) {
      PODSIM_CHECK(network_ != nullptr, "a cost model without constants for convolutions: " + op.name);
      const Bytes bound = round_up_bytes(chip_.tile_memory.size() * execution.proportion);
      const CostByPart parts = network_->cost(op, {execution.mode, execution.proportion});
      most = std::max(most, std::min(bound, parts.temporary));
    }
    if (op.kind != OperatorKind::matmul) continue;
    const PassShape shape = matmul_pass(step_shape(op, execution.serial_steps));
    const PassPlan plan = planner_.leanest_plan(shape, {execution.mode, execution.proportion}, tolerance);
    most = std::max(most, plan.cost.temporary);
  }
  return most * chip_.tiles;
}

PassPlan OperatorCostModel::plan(const Operator& op, const Execution& execution) const {
  return planner_.plan(matmul_pass(step_shape(op, execution.serial_steps)), {execution.mode, execution.proportion});
}

CycleCost OperatorCostModel::matmul_cost(const Operator& op, const Execution& execution) const {
  const PassPlan one = plan(op, execution);
  const double steps = op.serial == SerialDimension::none ? 1.0 : as_double(execution.serial_steps);
  CycleCost cost;
  cost.compute = steps * one.cost.compute();
  cost.exchange = steps * one.cost.transfer();
  cost.sync = steps * one.cost.sync;
  return cost;
}

CycleCost OperatorCostModel::element_cost(const Operator& op, const Execution& execution) const {
  const std::int64_t bytes = element_bytes(execution.mode);
  const double visits = as_double(op.elements) * op.passes / as_double(chip_.tiles);
  const double halves = visits * as_double(bytes) / as_double(k_half_element_bytes);
  CycleCost cost;
  cost.compute = halves * (constants_.pass - constants_.pass_exchange) + as_double(op.lookups) * constants_.lookup;
  cost.exchange = halves * constants_.pass_exchange;
  if (op.row_length * bytes % k_aligned_bytes != 0) cost.exchange += visits * constants_.misaligned;
  return cost;
}

CycleCost OperatorCostModel::network_cost(const Operator& op, const Execution& execution) const {
  PODSIM_CHECK(network_ != nullptr, "a cost model without constants for convolutions: " + op.name);
  const CostByPart parts = network_->cost(op, {execution.mode, execution.proportion});
  CycleCost cost;
  cost.compute = parts.compute();
  cost.exchange = parts.transfer();
  cost.sync = parts.sync;
  cost.launch = parts.launch;
  return cost;
}

CostVector to_cost_vector(const CycleCost& cost, Clock clock, double framework_factor, Repetition repetition) {
  const std::array<std::pair<CostCategory, Cycles>, 4> parts = {{
      {repetition == Repetition::recompute ? CostCategory::recompute : CostCategory::compute, cost.compute},
      {CostCategory::exchange, cost.exchange},
      {CostCategory::sync, cost.sync},
      {CostCategory::launch, cost.launch},
  }};
  // Each part is the difference of rounded running sums, so the last running sum is the one rounding of the total.
  CostVector vector;
  Cycles sum;
  SimTime before;
  for (const auto& [category, part] : parts) {
    sum += part;
    const SimTime now = to_sim_time(framework_factor * (sum / clock));
    vector[category] = now - before;
    before = now;
  }
  return vector;
}

}  // namespace podsim::ipu
