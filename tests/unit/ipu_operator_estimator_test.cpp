#include <doctest/doctest.h>

#include <cmath>

#include "models/ipu/operators/operator_estimator.hpp"
#include "models/ipu/operators/operator_text.hpp"
#include "tests/support/operator_constants.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

const OperatorEstimator& gc200() {
  static const OperatorEstimator model = [] {
    const test::OperatorScene scene = test::operator_scene("gc200");
    return OperatorEstimator(scene.chip, scene.constants);
  }();
  return model;
}

OperatorCost cost_of(const std::string& text, AmpMode mode = AmpMode::half_single) {
  Diagnostics diagnostics;
  return gc200().estimate(parse_operator(text, {}, diagnostics).value().description, {mode, 0.6});
}

double cycles_of(const std::string& text) {
  return cost_of(text).cost.total().in_base();
}

double passes_of(const OperatorCost& cost) {
  double sum = 0;
  for (const NamedPass& pass : cost.passes) sum += static_cast<double>(pass.count) * pass.plan.cost.total().in_base();
  return sum;
}

constexpr double k_tiles = 1472;

}  // namespace

TEST_CASE("operators: a convolution is its passes and what surrounds them") {
  const OperatorCost cost = cost_of("conv 4x256x14x14 -> 128 k3");
  REQUIRE(cost.passes.size() == 3);
  const double elements = (2.9 * 4 * 256 + 0.3 * 4 * 128) * 14 * 14 + 3.5 * 256 * 128 * 9;
  CHECK(cost.cost.total().in_base() == doctest::Approx(1.02 * passes_of(cost) + 3 * 2100 + elements / k_tiles));
  CHECK(cost.cost.launch == cycles(3 * 2100));
  CHECK(cost.flop == flop(3 * 2.0 * 4 * 40 * 40 * 256 * 128));
}

TEST_CASE("operators: a first layer has no input gradient, inference has forward alone") {
  const OperatorCost first = cost_of("conv 4x3x64x64 -> 64 k7 s2 first");
  REQUIRE(first.passes.size() == 2);
  CHECK(first.passes[1].name == "weight gradient");
  const OperatorCost inference = cost_of("conv 4x3x64x64 -> 64 k7 s2 inference");
  REQUIRE(inference.passes.size() == 1);
  CHECK(inference.cost.total() < first.cost.total());
}

TEST_CASE("operators: the passes of a layer, one by one, sum to the layer") {
  const test::OperatorScene scene = test::operator_scene("gc200");
  const ConvolutionCostModel model(scene.chip, scene.constants);
  ConvolutionShape layer;
  layer.batch = 4;
  layer.in_channels = 256;
  layer.out_channels = 128;
  layer.input_height = layer.input_width = layer.output_height = layer.output_width = 14;
  layer.kernel_height = layer.kernel_width = 3;
  const PassExecution execution{AmpMode::half_single, 0.6};
  const ConvolutionCost sum = model.forward(layer, execution) + model.input_gradient(layer, execution) +
                              model.weight_gradient(layer, execution);
  CHECK(sum.total().in_base() == doctest::Approx(cycles_of("conv 4x256x14x14 -> 128 k3")));
}

TEST_CASE("operators: dense layers and attention differ in what surrounds their passes") {
  const OperatorCost dense = cost_of("dense 384x1024x4096");
  const double elements = 4.6 * 384 * 1024 + 5.2 * 384 * 4096 + 3.9 * 1024 * 4096;
  CHECK(dense.cost.total().in_base() == doctest::Approx(1.02 * passes_of(dense) + 3 * 1720 + elements / k_tiles));
  const OperatorCost attention = cost_of("attention 16x384x64x384");
  const double products = 16 * (4.6 * 384 * 64 + 2.7 * 384 * 384 + 3.9 * 64 * 384);
  CHECK(attention.cost.total().in_base() == doctest::Approx(passes_of(attention) + 3 * 1720 + products / k_tiles));
  const OperatorCost product = cost_of("matmul 1000x256x20000");
  const double operands = 1.2 * 1000 * 256 + 1.05 * 1000 * 20000 + 0.5 * 256 * 20000;
  CHECK(product.passes.size() == 1);
  CHECK(product.cost.total().in_base() == doctest::Approx(passes_of(product) + 800 + operands / k_tiles));
}

TEST_CASE("operators: an octave convolution has a pass for each way between its resolutions") {
  CHECK(cost_of("octave 4x256x16x16 -> 256 k3 low0.25x0.25").passes.size() == 4 * 3);
  CHECK(cost_of("octave 4x256x16x16 -> 256 k3 low0x0.25").passes.size() == 2 * 3);
  const OperatorCost high = cost_of("octave 4x256x16x16 -> 256 k3 low0x0");
  const double plain = cycles_of("conv 4x256x16x16 -> 256 k3") - 3 * 2100;
  CHECK(high.cost.total().in_base() == doctest::Approx(1.17 * plain + 1760));
}

TEST_CASE("operators: the tiles of an embedding scan every index, unless the table is small enough to be copied") {
  CHECK(cycles_of("embedding 100000x200 n1440") == doctest::Approx(13'000 + 100 * 1440));
  CHECK(cycles_of("embedding 100000x200 n1440 inference") == doctest::Approx((13'000 + 100 * 1440) / 2));
  CHECK(cycles_of("embedding 1000x200 n21600") ==
        doctest::Approx(13'000 + 100 * 21600 / (0.5 * std::floor(1472 / 50))));
}

TEST_CASE("operators: a reduction to fewer outputs than tiles has two stages") {
  CHECK(cycles_of("reduce 16x4x16x32x8 over1x3 add") == doctest::Approx(1050 + 3.25 * 16 * 4 * 16 * 32 * 8 / k_tiles));
  CHECK(cycles_of("reduce 16x4x16x32x8 over1x3 max tiles1024") > 0);
  CHECK(cycles_of("reduce 16x256x8x4 over1x3 square-add") == doctest::Approx(2300 + 3.25 * 16 * 256 * 8 * 4 / k_tiles));
}

TEST_CASE("operators: elementwise work is launched once and then as wide as the memory of a tile") {
  const double elements = 4 * 64 * 56 * 56;
  CHECK(cycles_of("elementwise 4x64x56x56") == doctest::Approx(1000 + elements / k_tiles / 4));
  const Cycles single = cost_of("elementwise 4x64x56x56", AmpMode::single).cost.total();
  CHECK(single.in_base() == doctest::Approx(1000 + elements / k_tiles / 2));
  CHECK(cycles_of("norm 4x64x56x56 inference") == doctest::Approx(21'500.0 / 3 + 6.15 * 2 / 7 * elements / k_tiles));
  CHECK(cycles_of("norm 4x64x56x56") == doctest::Approx(21'500.0 * 2 / 3 + 6.15 * 5 / 7 * elements / k_tiles));
}

TEST_CASE("operators: a pooling is its planned directions") {
  const test::OperatorScene scene = test::operator_scene("gc200");
  const PoolingPlanner planner(scene.chip, scene.constants);
  ConvolutionShape window;
  window.groups = window.in_channels = window.out_channels = 64;
  window.input_height = window.input_width = 147;
  window.output_height = window.output_width = 73;
  window.kernel_height = window.kernel_width = 3;
  window.stride = 2;
  const Cycles forward = planner.plan(pooling_forward(window, 2)).cost.total();
  const Cycles gradient = planner.plan(pooling_gradient(window, 2)).cost.total();
  CHECK(cost_of("pool 1x64x147x147 k3 s2 p0 inference").cost.total() == forward);
  REQUIRE(cost_of("pool 1x64x147x147 k3 s2 p0").poolings.size() == 2);
  CHECK(cost_of("pool 1x64x147x147 k3 s2 p0").poolings[1].plan.cost.total() == gradient);
  CHECK(cost_of("pool 1x64x7x7 k7 s7 p0").poolings.empty());
  CHECK(cost_of("pool 1x64x147x147 k3 s2 p0").cost.total().in_base() ==
        doctest::Approx((forward + gradient).in_base()));
}

TEST_CASE("operators: a recurrent cell is its products, its operations and the sum of its gradients, step by step") {
  const OperatorCost inference = cost_of("lstm 16x1024 -> 1024 t25 inference");
  REQUIRE(inference.passes.size() == 1);
  CHECK(inference.cost.total().in_base() == doctest::Approx(passes_of(inference) + 25 * 10 * 685));
  const OperatorCost lstm = cost_of("lstm 16x1024 -> 1024 t25");
  REQUIRE(lstm.passes.size() == 3);
  const double weights = 2048 * 4 * 1024;
  CHECK(lstm.cost.total().in_base() == doctest::Approx(passes_of(lstm) + 25 * (30 * 685 + 1.05 * weights / k_tiles)));
  CHECK(lstm.flop == flop(25 * 3 * 2.0 * 16 * weights));
  const OperatorCost gru = cost_of("gru 16x1024 -> 1024 t25");
  REQUIRE(gru.passes.size() == 6);
  CHECK(gru.cost.total().in_base() ==
        doctest::Approx(passes_of(gru) + 25 * (40 * 685 + 1.05 * weights * 3 / 4 / k_tiles)));
  CHECK(cost_of("gru 16x1024 -> 1024 t25 inference").cost.launch == cycles(25 * 13 * 685));
}

TEST_CASE("operators: bytes are tensors, the largest temporaries and code") {
  const OperatorCost cost = cost_of("matmul 1000x256x20000");
  const PassPlan& plan = cost.passes[0].plan;
  const double tensors = 2.0 * (1000 * 256 + 256 * 20000 + 2 * 1000 * 20000);
  const double temporary = plan.cost.temporary.size().in_base() * static_cast<double>(plan.split.tiles());
  CHECK(cost.bytes == round_up_bytes(data_bytes(1.08 * tensors + 0.74 * temporary)));
  CHECK(cost_of("pool 1x64x147x147 k3 s2 p0").bytes ==
        round_up_bytes(data_bytes(1.79 * 2 * 2 * 64 * (147 * 147 + 73 * 73) + 660 * k_tiles)));
}
