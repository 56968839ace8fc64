#pragma once
// What one operator costs on one IPU, in cycles per category. Matmuls come from the planner; everything else is counted
// in passes over elements, launches, rows looked up and misaligned rows. Source of the formula and its constants:
// configs/constants/ipu-transformer-cost.toml.
//
//   cycles = sum of plans + pass * elements * passes / tiles + launch * launches + lookup * rows
//            + misaligned * elements * passes / tiles for rows that do not start on 8 bytes
//
// Convolutions, norms and poolings have costs of their own: network_cost.hpp.

#include <cstdint>
#include <memory>
#include <span>

#include "models/ipu/constants.hpp"
#include "models/ipu/cost/network_cost.hpp"
#include "models/ipu/operators/pass_planner.hpp"
#include "sim/program/program.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim::ipu {

struct CycleCost {
  Cycles compute;
  Cycles exchange;
  Cycles sync;
  Cycles launch;
  Cycles total() const { return compute + exchange + sync + launch; }
  CycleCost& operator+=(const CycleCost& other);
};

// How the operators of one IPU are executed.
struct Execution {
  AmpMode mode = AmpMode::half_half;
  double proportion = 0.6;        // of tile memory that the temporaries of a matmul may take
  std::int64_t serial_steps = 1;  // in which vocabulary-sized operators are executed; at least 1
};

class OperatorCostModel {
 public:
  OperatorCostModel(const ChipConstants& chip, const CostConstants& constants, const PassConstants& passes);
  // For graphs with convolutions.
  OperatorCostModel(const ChipConstants& chip, const CostConstants& constants, const OperatorConstants& operators);

  CycleCost cost(const Operator& op, const Execution& execution) const;
  CycleCost cost(std::span<const Operator> operators, const Execution& execution) const;

  // Temporary bytes of the whole chip for the most demanding matmul, each with the leanest plan within `tolerance` of
  // its fastest one. Of a convolution the plan's own, and never more than its proportion allows: the
  // smallest plan of the search may need more, those of the library are finer.
  Bytes temporary(std::span<const Operator> operators, const Execution& execution, double tolerance) const;

  // The matmul of one serial step, as it is planned.
  PassPlan plan(const Operator& op, const Execution& execution) const;

  const PassPlanner& planner() const { return planner_; }

 private:
  CycleCost matmul_cost(const Operator& op, const Execution& execution) const;
  CycleCost element_cost(const Operator& op, const Execution& execution) const;
  CycleCost network_cost(const Operator& op, const Execution& execution) const;

  ChipConstants chip_;
  CostConstants constants_;
  PassPlanner planner_;
  std::unique_ptr<const NetworkCostModel> network_;  // none: graphs without convolutions only
};

// Whether a cost belongs to a forward pass that is run again in front of its backward pass.
enum class Repetition : std::uint8_t { first, recompute };

// To simulated time: the total is rounded once and the parts sum to it exactly. `framework_factor` stretches all
// categories. Of a recomputation only the compute part is charged to `recompute`.
CostVector to_cost_vector(const CycleCost& cost, Clock clock, double framework_factor, Repetition repetition);

}  // namespace podsim::ipu
