#include "models/ipu/operators/convolution_cost.hpp"

namespace podsim::ipu {

namespace {

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

}  // namespace

ConvolutionCostModel::ConvolutionCostModel(const ChipConstants& chip, const OperatorConstants& constants)
    : planner_(chip, constants.passes), constants_(constants.convolution), tile_memory_(chip.tile_memory) {}

PassPlan ConvolutionCostModel::plan_forward(const ConvolutionShape& shape, const PassExecution& execution) const {
  return planner_.plan(forward_pass(without_spanned_axes(shape)), execution);
}

PassPlan ConvolutionCostModel::plan_input_gradient(const ConvolutionShape& shape,
                                                   const PassExecution& execution) const {
  return planner_.plan(input_gradient_pass(without_spanned_axes(shape)), execution);
}

// Of groups joined block-diagonally the columns of one fill what one alone leaves empty of an output grain.
PassPlan ConvolutionCostModel::plan_weight_gradient(const ConvolutionShape& shape,
                                                    const PassExecution& execution) const {
  const ConvolutionShape layer = without_spanned_axes(shape);
  const double bound = execution.proportion * tile_memory_.size().in_base();
  PassPlan best = planner_.plan(weight_gradient_pass(layer), execution);
  for (const std::int64_t joined : joined_groups_of(forward_pass(layer))) {
    if (joined == 1) continue;
    PassPlan plan = planner_.plan(weight_gradient_pass(join_groups(layer, joined)), execution);
    plan.variant.joined_groups = joined;
    const bool fits = plan.cost.temporary.size().in_base() <= bound;
    if (fits && plan.cost.total() < best.cost.total()) best = plan;
  }
  return best;
}

ConvolutionCost ConvolutionCostModel::surround(const PassPlan& plan, Cycles elements) const {
  ConvolutionCost cost = constants_.factor * plan.cost;
  cost.launch += constants_.launch;
  cost.layout += elements / as_double(planner_.tiles());
  return cost;
}

ConvolutionCost ConvolutionCostModel::forward(const ConvolutionShape& shape, const PassExecution& execution) const {
  const Cycles outputs = constants_.output_element * as_double(shape.output_elements());
  return surround(plan_forward(shape, execution), outputs / 3);
}

ConvolutionCost ConvolutionCostModel::input_gradient(const ConvolutionShape& shape,
                                                     const PassExecution& execution) const {
  const Cycles outputs = constants_.output_element * as_double(shape.output_elements());
  const Cycles weights = constants_.weight_element * as_double(shape.weight_elements());
  return surround(plan_input_gradient(shape, execution), outputs / 3 + weights / 2);
}

ConvolutionCost ConvolutionCostModel::weight_gradient(const ConvolutionShape& shape,
                                                      const PassExecution& execution) const {
  const Cycles inputs = constants_.input_element * as_double(shape.input_elements());
  const Cycles outputs = constants_.output_element * as_double(shape.output_elements());
  const Cycles weights = constants_.weight_element * as_double(shape.weight_elements());
  return surround(plan_weight_gradient(shape, execution), inputs + outputs / 3 + weights / 2);
}

}  // namespace podsim::ipu
