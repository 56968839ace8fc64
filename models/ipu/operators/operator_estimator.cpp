#include "models/ipu/operators/operator_estimator.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace podsim::ipu {

namespace {

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// One of the up to four convolutions of an octave convolution; null channels: it has none.
ConvolutionShape octave_part(const OctaveConvolution& octave, bool high_in, bool high_out) {
  const auto channels = [](std::int64_t all, double low_part, bool high) {
    const std::int64_t low = std::llround(low_part * as_double(all));
    return high ? all - low : low;
  };
  ConvolutionShape part = octave.shape;
  part.in_channels = channels(octave.shape.in_channels, octave.low_inputs, high_in);
  part.out_channels = channels(octave.shape.out_channels, octave.low_outputs, high_out);
  if (high_in && high_out) return part;
  part.input_height = divide_up(part.input_height, 2);
  part.input_width = divide_up(part.input_width, 2);
  part.output_height = divide_up(part.output_height, 2);
  part.output_width = divide_up(part.output_width, 2);
  return part;
}

// Elements of the three operands of a layer or product.
struct Operands {
  double inputs = 0;
  double outputs = 0;
  double weights = 0;
};

Operands operands_of(const MatmulShape& m) {
  const double groups = as_double(m.groups);
  return {groups * as_double(m.rows) * as_double(m.inner), groups * as_double(m.rows) * as_double(m.columns),
          groups * as_double(m.inner) * as_double(m.columns)};
}

Operands operands_of(const ConvolutionShape& c) {
  return {as_double(c.input_elements()), as_double(c.output_elements()), as_double(c.weight_elements())};
}

double multiply_adds(const MatmulShape& m) {
  return as_double(m.groups) * as_double(m.rows) * as_double(m.inner) * as_double(m.columns);
}

}  // namespace

// The estimate of one operator while it is put together.
class OperatorEstimator::Estimate {
 public:
  Estimate(const OperatorEstimator& model, bool training, const PassExecution& execution)
      : model_(model),
        constants_(model.constants_),
        training_(training),
        execution_(execution),
        element_bytes_(as_double(model.convolutions_.planner().mode(execution.mode).element_bytes)) {}

  void operator()(const ConvolutionOperator& op) {
    convolution(op.shape, op.first_layer, 1.0);
    bytes(constants_.convolution_bytes, operands_of(op.shape));
  }

  void operator()(const OctaveConvolution& op) {
    for (const bool high_in : {true, false}) {
      for (const bool high_out : {true, false}) {
        const ConvolutionShape part = octave_part(op, high_in, high_out);
        if (part.in_channels > 0 && part.out_channels > 0) convolution(part, false, constants_.octave.factor);
      }
    }
    result_.cost.launch = constants_.octave.launch;
    bytes(constants_.convolution_bytes, operands_of(op.shape));
  }

  void operator()(const DenseOperator& op) {
    const MatmulShape& m = op.shape;
    product("forward", m);
    if (training_) {
      product("input gradient", {m.groups, m.rows, m.columns, m.inner});
      product("weight gradient", {m.groups, m.inner, m.rows, m.columns});
    }
    surround(m.groups == 1 ? constants_.dense : constants_.grouped, operands_of(m));
    bytes(constants_.dense_bytes, operands_of(m));
  }

  void operator()(const ProductOperator& op) {
    product("product", op.shape);
    surround(constants_.product, operands_of(op.shape));
    training_ = false;
    Operands operands = operands_of(op.shape);
    operands.outputs *= 2;  // what is added to, and the sum
    bytes(constants_.product_bytes, operands);
  }

  void operator()(const EmbeddingOperator& op) {
    const EmbeddingConstants& embedding = constants_.embedding;
    const double row_part = embedding.row_part.size().in_base();
    const double column_tiles = std::ceil(as_double(op.width) * element_bytes_ / row_part);
    double copies = 1;
    if (as_double(op.rows) * row_part <= embedding.copied_table.size().in_base()) {
      copies = std::max(1.0, 0.5 * std::floor(model_.tiles_ / column_tiles));
    }
    const double share = training_ ? 1.0 : embedding.gather_share;
    result_.cost.vertex = share * as_double(op.lookups) / copies * embedding.lookup;
    result_.cost.launch = share * embedding.launch;
    const EmbeddingByteConstants& constants = constants_.embedding_bytes;
    const double per_tile = constants.per_tile.size().in_base() +
                            as_double(op.lookups) / copies * constants.per_lookup.size().in_base() +
                            (copies > 1 ? as_double(op.rows) * constants.per_row.size().in_base() : 0);
    const double gathered = (training_ ? 2.0 : 1.0) * as_double(op.lookups);  // and their updates
    const double tensors = (as_double(op.rows) + gathered) * as_double(op.width) * element_bytes_;
    result_.bytes = round_up_bytes(data_bytes(model_.tiles_ * per_tile + tensors));
  }

  void operator()(const ReductionOperator& op) {
    const ReductionConstants& reduction = constants_.reduction;
    const Cycles element = op.kind == ReductionKind::largest ? reduction.largest_element : reduction.element;
    result_.cost.launch = as_double(op.outputs) >= model_.tiles_ ? reduction.one_stage : reduction.two_stages;
    result_.cost.vertex = as_double(op.elements) / model_.tiles_ * element;
    training_ = false;
    bytes(constants_.reduction_bytes, {as_double(op.elements), as_double(op.outputs), 0});
  }

  void operator()(const PoolingOperator& op) {
    const Operands operands = operands_of(op.shape);
    const PoolingPlanner& planner = model_.poolings_;
    result_.cost = planner.forward(op.shape, execution_.mode, ReductionKind::largest);
    if (training_) result_.cost += planner.gradient(op.shape, execution_.mode);
    if (!pools_whole_field(op.shape)) {
      const std::int64_t element = element_bytes(execution_.mode);
      result_.poolings.push_back({"forward", planner.plan(pooling_forward(op.shape, element))});
      if (training_) result_.poolings.push_back({"gradient", planner.plan(pooling_gradient(op.shape, element))});
    }
    bytes(constants_.pooling_bytes, {operands.inputs, operands.outputs, 0});
  }

  void operator()(const RecurrentOperator& op) {
    const bool lstm = op.cell == CellKind::lstm;
    const RecurrentConstants& cell = lstm ? constants_.lstm : constants_.gru;
    if (lstm) {
      step_products("", op, 4 * op.outputs);
    } else {
      step_products(", gates", op, 2 * op.outputs);
      step_products(", candidate", op, op.outputs);
    }
    const double operations = as_double(training_ ? cell.training_operations : cell.forward_operations);
    result_.cost.launch = as_double(op.steps) * operations * constants_.recurrent_launch;
    const double sequence = as_double(op.batch * op.steps);
    Operands operands = {sequence * as_double(op.inputs), sequence * as_double(op.outputs),
                         as_double(op.gates() * op.outputs) * as_double(op.inputs + op.outputs)};
    // Every step adds its gradient of the weights to the sum of those before, as a product does that is accumulated.
    if (training_) {
      const double added = as_double(op.steps) * operands.weights / model_.tiles_;
      result_.cost.layout += added * constants_.product.output_element;
    }
    // Gates are kept for the gradient, which doubles everything else once more.
    if (training_) operands = {operands.inputs, 3 * operands.outputs, operands.weights};
    bytes(constants_.recurrent_bytes, operands, Doubling::all);
  }

  void operator()(const NormOperator& op) {
    const double phases = training_ ? 2.0 / 3 : 1.0 / 3;
    const double sevenths = training_ ? 5.0 : 2.0;
    result_.cost.launch = phases * constants_.norm.launch;
    result_.cost.vertex = sevenths / 7 * as_double(op.elements) / model_.tiles_ * constants_.norm.output_element;
    bytes({1.0, 0.0, Bytes()}, {as_double(op.elements), as_double(op.elements), 0});
  }

  void operator()(const ElementwiseOperator& op) {
    const ElementwiseConstants& elementwise = constants_.elementwise;
    const double rate = execution_.mode == AmpMode::single ? elementwise.single_per_cycle : elementwise.half_per_cycle;
    result_.cost.launch = elementwise.launch;
    result_.cost.vertex = cycles(as_double(op.elements) / model_.tiles_ / rate);
    training_ = false;
    bytes({1.0, 0.0, Bytes()}, {as_double(op.elements), as_double(op.elements), 0});
  }

  OperatorCost take() { return std::move(result_); }

 private:
  // Which tensors stand a second time, as gradients, in training.
  enum class Doubling : std::uint8_t { activations, all };

  void add(std::string name, std::int64_t count, const PassPlan& plan, double pass_multiply_adds) {
    result_.flop += flop(2.0 * as_double(count) * pass_multiply_adds);
    result_.passes.push_back({std::move(name), count, plan});
  }

  void convolution(const ConvolutionShape& shape, bool first_layer, double factor) {
    const ConvolutionCostModel& model = model_.convolutions_;
    const double work = as_double(shape.multiply_adds_inside());
    add("forward", 1, model.plan_forward(shape, execution_), work);
    result_.cost += factor * model.forward(shape, execution_);
    if (!training_) return;
    if (!first_layer) {
      add("input gradient", 1, model.plan_input_gradient(shape, execution_), work);
      result_.cost += factor * model.input_gradient(shape, execution_);
    }
    add("weight gradient", 1, model.plan_weight_gradient(shape, execution_), work);
    result_.cost += factor * model.weight_gradient(shape, execution_);
  }

  void product(std::string name, const MatmulShape& shape, std::int64_t count = 1, bool weights_stay = false) {
    PassShape pass = matmul_pass(shape);
    pass.weights_stay = weights_stay;
    const PassPlan plan = model_.convolutions_.planner().plan(pass, execution_);
    result_.cost += as_double(count) * plan.cost;
    add(std::move(name), count, plan, multiply_adds(shape));
  }

  // Of one step: input and state against the weights of some gates, which stay on their tiles from step to step.
  void step_products(const std::string& gates, const RecurrentOperator& op, std::int64_t width) {
    const std::int64_t joined = op.inputs + op.outputs;
    product("forward" + gates, {1, op.batch, joined, width}, op.steps, true);
    if (!training_) return;
    product("input gradient" + gates, {1, op.batch, width, joined}, op.steps, true);
    product("weight gradient" + gates, {1, joined, op.batch, width}, op.steps);
  }

  // A forward pass alone has its third of the output term and none of the others, as in convolution_cost.hpp.
  void surround(const SurroundingConstants& constants, const Operands& operands) {
    const bool all = training_ || result_.passes.front().name == "product";
    result_.cost = constants.factor * result_.cost;
    result_.cost.launch += as_double(static_cast<std::int64_t>(result_.passes.size())) * constants.launch;
    Cycles elements = (all ? 1.0 : 1.0 / 3) * operands.outputs * constants.output_element;
    if (all) elements += operands.inputs * constants.input_element + operands.weights * constants.weight_element;
    result_.cost.layout += elements / model_.tiles_;
  }

  void bytes(const ByteConstants& constants, const Operands& operands, Doubling doubling = Doubling::activations) {
    const double twice = training_ ? 2.0 : 1.0;
    const double weights = doubling == Doubling::all ? twice : 1.0;
    const double tensors = element_bytes_ * (twice * (operands.inputs + operands.outputs) + weights * operands.weights);
    double temporary = 0;
    for (const NamedPass& pass : result_.passes) {
      temporary = std::max(temporary, pass.plan.cost.temporary.size().in_base() * as_double(pass.plan.split.tiles()));
    }
    const double passes = std::max(1.0, static_cast<double>(result_.passes.size()));
    result_.bytes = round_up_bytes(data_bytes(constants.tensors * tensors + constants.temporary * temporary +
                                              constants.per_tile.size().in_base() * model_.tiles_ * passes));
  }

  const OperatorEstimator& model_;
  const OperatorConstants& constants_;
  bool training_;
  const PassExecution& execution_;
  double element_bytes_;
  OperatorCost result_;
};

OperatorEstimator::OperatorEstimator(const ChipConstants& chip, const OperatorConstants& constants)
    : tiles_(as_double(chip.tiles)),
      constants_(constants),
      convolutions_(chip, constants),
      poolings_(chip, constants) {}

OperatorCost OperatorEstimator::estimate(const OperatorDescription& description, const PassExecution& execution) const {
  Estimate estimate(*this, description.training, execution);
  std::visit(estimate, description.what);
  return estimate.take();
}

}  // namespace podsim::ipu
