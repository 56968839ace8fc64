#include <doctest/doctest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "models/ipu/operators/pass_cost.hpp"
#include "models/ipu/operators/pass_planner.hpp"
#include "sim/core/check.hpp"
#include "tests/support/operator_constants.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

const test::OperatorScene& gc200() {
  static const test::OperatorScene scene = test::operator_scene("gc200");
  return scene;
}

PassPlanner make_planner() {
  return PassPlanner(gc200().chip, gc200().constants.passes);
}

CostByPart priced(const PassShape& shape, const PassVariant& variant, const PassSplit& split, AmpMode mode) {
  const PassConstants& constants = gc200().constants.passes;
  const PassPricer pricer(constants, mode, 1472,
                          reshape(shape, variant, constants.modes[static_cast<std::size_t>(mode)]));
  return pricer.price(split, pricer.share(split));
}

PassShape field(std::int64_t channels, std::int64_t size, std::int64_t kernel) {
  PassShape shape;
  shape.batch = 4;
  shape.in_channels = channels;
  shape.out_channels = channels;
  shape.input_height = shape.input_width = shape.output_height = shape.output_width = size;
  shape.kernel_height = shape.kernel_width = kernel;
  return shape;
}

}  // namespace

TEST_CASE("pass planner: a product costs what the formula of a flat pass says") {
  // 384 x 1024 x 4096 over 8 position, 4 input and 32 output parts: m 48, 16 input and 16 output grains of 8.
  PassSplit split;
  split.columns = 8;
  split.input_channels = 4;
  split.output_channels = 32;
  const CostByPart cost = priced(matmul_pass({1, 384, 1024, 4096}), {}, split, AmpMode::half_single);
  CHECK(cost.vertex == cycles(50 + 11 + 16 * (16 + 16 * (25 + 32 + 6 * (4 * 48 / 6 + 16)))));
  CHECK(cost.exchange == cycles(48 * 256 * 2 / 8 + 256 * 128 * 2 / 4));
  CHECK(cost.reduction_exchange == cycles(48 * 128 / 4 * 3 * 4 / 4));
  CHECK(cost.reduction == cycles(48 * 128 / 2 + 100));
  CHECK(cost.sync == cycles(600));
  CHECK(cost.serial == Cycles());
  CHECK(cost.layout == Cycles());
  CHECK(cost.temporary == Bytes(48 * 256 * 2 + 256 * 128 * 2 + 48 * 128 * 4 * 2));
}

TEST_CASE("pass planner: of weights that stay a tile receives what the others hold that read the same") {
  PassShape shape = matmul_pass({1, 16, 2048, 4096});
  shape.weights_stay = true;
  PassSplit split;
  split.columns = 2;
  split.input_channels = 16;
  split.output_channels = 32;
  const double inputs = 8 * 128 * 2 / 8.0;
  CHECK(priced(shape, {}, split, AmpMode::half_single).exchange == cycles(inputs + 128 * 128 * 2 / 4 / 2.0));
  split.columns = 1;
  CHECK(priced(shape, {}, split, AmpMode::half_single).exchange == cycles(2 * inputs));
  // With operands exchanged the weights are what the positions are.
  PassVariant swapped;
  swapped.swapped = true;
  split.columns = 32;
  split.output_channels = 2;
  CHECK(priced(shape, swapped, split, AmpMode::half_single).exchange ==
        cycles(128 * 128 * 2 / 8 / 2.0 + 8 * 128 * 2 / 4));
  shape.weights_stay = false;
  CHECK(priced(shape, swapped, split, AmpMode::half_single).exchange == cycles(128 * 128 * 2 / 8 + 8 * 128 * 2 / 4));
  // Nothing that is received less makes a plan slower.
  const PassPlanner planner = make_planner();
  const Cycles all = planner.plan(shape, {AmpMode::half_single, 0.6}).cost.total();
  shape.weights_stay = true;
  CHECK(planner.plan(shape, {AmpMode::half_single, 0.6}).cost.total() < all);
}

TEST_CASE("pass planner: serial steps divide the columns and repeat the rest") {
  PassSplit split;
  split.columns = 8;
  split.output_channels = 31;  // odd: no bus is shared
  split.serial_steps = 4;
  const CostByPart cost = priced(matmul_pass({1, 384, 64, 4096}), {}, split, AmpMode::half_half);
  const double grains = std::ceil(256.0 / (31 * 4));
  const double n = 16 * grains;
  CHECK(cost.vertex == cycles(4 * (50 + 11 + 4 * (16 + grains * (25 + 64 + 6 * (4 * 8 + 16))))));
  CHECK(cost.exchange == cycles(48 * 64 * 2 / 4.0 + 4 * 64 * n * 2 / 4));
  CHECK(cost.sync == cycles(4 * 300));
  CHECK(cost.serial.in_base() == doctest::Approx(4 * (60 + 0.5 * 64 * 4096 * 2 / 1472.0 / 4 / 4 + 4 * 48 * n)));
}

TEST_CASE("pass planner: single precision sets its outputs to zero first") {
  const CostByPart cost = priced(matmul_pass({1, 12, 8, 16}), {}, {}, AmpMode::single);
  CHECK(cost.vertex == cycles(50 + 11 + 16 + 25 + 64 + 6 * (8 * 2 + 22) + 8 * 12 + 12));
}

TEST_CASE("pass planner: a kernel over a field reads its halo and starts workers row by row") {
  // 28 rows in 4 parts: 7 rows of 28 of one image on a tile, 2 input and 4 output grains of 16.
  PassSplit split;
  split.batch = 4;
  split.rows = 4;
  split.input_channels = 2;
  split.output_channels = 1;
  const CostByPart cost = priced(field(64, 28, 3), {}, split, AmpMode::half_half);
  const double worker = 7.0 * 28 / 6 > 2 * 28 ? 7.0 * 28 / 6 : 2 * 28;
  const double inner = 18 + 64 + 12 + 14.0 / 3 + 6 * (17 + 16 * 2 + 4 * worker);
  const double vertex = 160 + 16 + 2 * (14 + 4 * (14 + 3 * (14 + 3 * inner))) + 4 * (7 * 28 * 16 / 4.0 + 47);
  CHECK(cost.vertex.in_base() == doctest::Approx(vertex));
  CHECK(cost.exchange == cycles(9 * 30 * 32 * 2 / 4.0 + 32 * 9 * 64 * 2 / 4.0));
  CHECK(cost.temporary == Bytes(9 * 30 * 32 * 2 + 32 * 9 * 64 * 2 + 7 * 28 * 64 * 2 * 2));
}

TEST_CASE("pass planner: a folded kernel is a product over its positions, and pays for writing them") {
  PassVariant whole;
  whole.fold = KernelFold::whole;
  const CostByPart cost = priced(field(3, 32, 3), whole, {}, AmpMode::half_half);
  CHECK(cost.layout.in_base() == doctest::Approx(4 * 32 * 32 * 27 / 1472.0 * 2 * 0.75));
  const double m = std::ceil(4 * 32 * 32 / 6.0);
  CHECK(cost.vertex == cycles(50 + 11 + 2 * (16 + 25 + 64 + 6 * (4 * m + 16))));
}

TEST_CASE("pass planner: few channels are packed by kernel rows, few groups joined, thin groups put in windows") {
  const auto has = [](const PassShape& shape, AmpMode mode, const auto& wanted) {
    const auto variants = variants_of(shape, mode);
    return std::any_of(variants.begin(), variants.end(), wanted);
  };
  const auto packs = [](std::int64_t rows) { return [rows](const PassVariant& v) { return v.packed_rows == rows; }; };
  CHECK(has(field(4, 32, 3), AmpMode::half_half, packs(4)));
  CHECK_FALSE(has(field(4, 32, 3), AmpMode::single, packs(4)));
  CHECK_FALSE(has(field(16, 32, 3), AmpMode::half_half, packs(2)));
  PassShape depthwise = field(1, 32, 3);
  depthwise.groups = 64;
  CHECK(has(depthwise, AmpMode::half_half, [](const PassVariant& v) { return v.sliding_window; }));
  CHECK_FALSE(has(depthwise, AmpMode::single, [](const PassVariant& v) { return v.sliding_window; }));
  CHECK(has(depthwise, AmpMode::half_half, [](const PassVariant& v) { return v.joined_groups == 16; }));
  CHECK(has(matmul_pass({1, 8, 8, 8}), AmpMode::half_half, [](const PassVariant& v) { return v.swapped; }));
}

TEST_CASE("pass planner: temporaries stay within the proportion when some plan does") {
  const PassPlanner planner = make_planner();
  Cycles last;
  for (const double proportion : {0.03, 0.05, 0.1, 0.2, 0.4, 0.8}) {
    const PassPlan plan = planner.plan(field(128, 56, 3), {AmpMode::half_half, proportion});
    CHECK(plan.cost.temporary.size().in_base() <= proportion * 638'976);
    CHECK(plan.split.tiles() <= 1472);
    if (last > Cycles()) CHECK(plan.cost.total() <= last);
    last = plan.cost.total();
  }
}

TEST_CASE("pass planner: with no plan inside the bound the least temporary bytes are taken") {
  const PassPlanner planner = make_planner();
  const PassPlan none = planner.plan(field(512, 56, 3), {AmpMode::half_half, 1e-9});
  const PassPlan leanest = planner.leanest_plan(field(512, 56, 3), {AmpMode::half_half, 1.0}, 1e9);
  CHECK(none.cost.temporary == leanest.cost.temporary);
  CHECK(none.cost.total() == leanest.cost.total());
}

TEST_CASE("pass planner: a lean plan is within its tolerance and needs no more bytes") {
  const PassPlanner planner = make_planner();
  const PassExecution execution{AmpMode::half_single, 0.6};
  for (const PassShape& shape : {field(64, 56, 3), field(256, 14, 1), matmul_pass({1, 512, 1024, 4096})}) {
    const PassPlan fast = planner.plan(shape, execution);
    const PassPlan lean = planner.leanest_plan(shape, execution, 0.05);
    CHECK(lean.cost.temporary <= fast.cost.temporary);
    CHECK(lean.cost.total() <= 1.05 * fast.cost.total());
  }
}

TEST_CASE("pass planner: an input dimension that no usual split brings into a tile is split finer") {
  const PassPlanner planner = make_planner();
  const PassPlan plan = planner.plan(matmul_pass({1, 16, 20'000'000, 16}), {AmpMode::half_half, 0.6});
  CHECK(plan.split.input_channels > 64);
}

TEST_CASE("pass planner: an axis that the kernel spans is a product over its positions") {
  ConvolutionShape layer;
  layer.batch = 4;
  layer.in_channels = 32;
  layer.out_channels = 8;
  layer.input_height = 7;
  layer.input_width = 7;
  layer.kernel_height = 7;
  layer.kernel_width = 7;
  const ConvolutionShape product = without_spanned_axes(layer);
  CHECK(product.in_channels == 32 * 49);
  CHECK(product.kernel_height == 1);
  CHECK(product.multiply_adds() == layer.multiply_adds());
  const PassShape gradient = input_gradient_pass(product);
  CHECK(gradient.out_channels == 32 * 49);
  CHECK(gradient.positions() == 4);
}

TEST_CASE("pass planner: multiply-adds inside the field leave out those with padding") {
  ConvolutionShape layer;
  layer.in_channels = 2;
  layer.out_channels = 3;
  layer.input_height = layer.output_height = 1;
  layer.input_width = layer.output_width = 4;
  layer.kernel_height = layer.kernel_width = 3;
  // One row of the kernel meets the only row; of three columns the outer outputs meet two: 2 + 3 + 3 + 2.
  CHECK(layer.multiply_adds_inside() == 2 * 3 * 1 * 10);
  CHECK(layer.multiply_adds() == 2 * 3 * 3 * 12);
  layer.dilation = 2;  // columns -2, 0, 2 around each output
  CHECK(layer.multiply_adds_inside() == 2 * 3 * 1 * (2 + 2 + 2 + 2));
  layer.dilation = 1;
  layer.stride = 2;
  layer.output_width = 2;  // reach 5 of 4: one column of padding, behind the field
  CHECK(layer.multiply_adds_inside() == 2 * 3 * 1 * (3 + 2));
}

TEST_CASE("pass planner: the gradients of a layer have its multiply-adds") {
  ConvolutionShape layer;
  layer.batch = 2;
  layer.in_channels = 64;
  layer.out_channels = 128;
  layer.groups = 2;
  layer.input_height = layer.input_width = 28;
  layer.output_height = layer.output_width = 14;
  layer.kernel_height = layer.kernel_width = 3;
  layer.stride = 2;
  const PassShape gradient = input_gradient_pass(layer);
  CHECK(gradient.dilation == 2);
  CHECK(gradient.stride == 1);
  CHECK(gradient.output_height == 28);
  const PassShape weights = weight_gradient_pass(layer);
  CHECK(weights.groups * weights.positions() * weights.in_channels * weights.out_channels == layer.multiply_adds());
  layer.kernel_height = layer.kernel_width = 1;
  CHECK(input_gradient_pass(layer).output_height == 14);  // on the small field
}

TEST_CASE("pass planner: an empty pass is our fault") {
  CHECK_THROWS_AS(make_planner().plan(matmul_pass({1, 0, 16, 16}), {AmpMode::half_half, 0.5}), InternalError);
}

TEST_CASE("pass planner: threads that ask at once get the same plans") {
  const PassPlanner planner = make_planner();
  std::vector<std::vector<Cycles>> found(2);
  {
    std::vector<std::jthread> threads;
    for (std::vector<Cycles>& mine : found) {
      threads.emplace_back([&planner, &mine] {
        for (std::int64_t size = 7; size <= 56; size += 7) {
          mine.push_back(planner.plan(field(64, size, 3), {AmpMode::half_half, 0.3}).cost.total());
        }
      });
    }
  }
  CHECK(found[0].size() == 8);
  CHECK(found[0] == found[1]);
}
