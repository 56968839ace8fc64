#include <doctest/doctest.h>

#include <algorithm>

#include "models/ipu/operators/pooling_cost.hpp"
#include "sim/core/check.hpp"
#include "tests/support/operator_constants.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

const test::OperatorScene& gc200() {
  static const test::OperatorScene scene = test::operator_scene("gc200");
  return scene;
}

ConvolutionShape window(std::int64_t channels, std::int64_t size, std::int64_t kernel, std::int64_t stride,
                        std::int64_t padding) {
  ConvolutionShape shape;
  shape.groups = shape.in_channels = shape.out_channels = channels;
  shape.input_height = shape.input_width = size;
  shape.output_height = shape.output_width = (size + 2 * padding - kernel) / stride + 1;
  shape.kernel_height = shape.kernel_width = kernel;
  shape.stride = stride;
  return shape;
}

std::int64_t up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// The least of every split, one by one.
Cycles fastest(const PoolingPlanner& planner, const PoolingPass& pass, std::int64_t tiles, std::int64_t words) {
  Cycles best = cycles(1e300);
  const std::int64_t groups = up(pass.channels * pass.element_bytes, 8 * words);
  for (std::int64_t g = 1; g <= std::min(groups, tiles); ++g) {
    for (std::int64_t b = 1; b <= pass.batch && g * b <= tiles; ++b) {
      for (std::int64_t y = 1; y <= pass.output_height && g * b * y <= tiles; ++y) {
        const std::int64_t x = std::min(tiles / (g * b * y), pass.output_width);
        const PoolingShare share = {words, up(groups, g), up(pass.batch, b), up(pass.output_height, y),
                                    up(pass.output_width, x)};
        best = std::min(best, planner.price(pass, share).total());
      }
    }
  }
  return best;
}

}  // namespace

TEST_CASE("ipu pooling: six workers share the positions of a tile and go through its kernel") {
  const PoolingPlanner planner(gc200().chip, gc200().constants);
  // Three rows of four, sixteen halves together: two positions of a row for each worker, under nine kernel positions.
  const CostByPart cost = planner.price(pooling_forward(window(192, 35, 3, 1, 1), 2), {4, 1, 1, 3, 4});
  const double worker = 41 + (4 + 12 * 4 / 6) + 15 + 9 * (23 + 2 + 4 * (7 + 3 * 1));
  CHECK(cost.vertex == cycles(13 + 6 * worker));
  CHECK(cost.exchange == cycles(5 * 6 * 4 * 8 / 4));
  CHECK(cost.sync == cycles(2 * 150));
  CHECK(cost.launch == cycles(800));
  // Of two groups of channels the second costs the pointers to it.
  const CostByPart two = planner.price(pooling_forward(window(192, 35, 3, 1, 1), 2), {4, 2, 1, 3, 4});
  const double of_two = 41 + 2 * (4 + 12 * 4 / 6) + 15 + 9 * (23 + 2 * 2 + 4 + 2 * 4 * (7 + 3 * 1));
  CHECK(two.vertex == cycles(13 + 6 * of_two));
}

TEST_CASE("ipu pooling: the gradient of a stride meets a part of the kernel, and reads what went forward") {
  const PoolingPlanner planner(gc200().chip, gc200().constants);
  // Six rows of four, a row for each worker: two of three kernel rows meet it, each kernel column every other position.
  const CostByPart cost = planner.price(pooling_gradient(window(64, 147, 3, 2, 0), 2), {4, 1, 1, 6, 4});
  const double worker = 51 + (4 + 24 * 4 / 6) + 15 + 2 * 3 * (23 + 2 + 4 * (10 + 5 * 1));
  CHECK(cost.vertex == cycles(13 + 6 * worker));
  CHECK(cost.exchange == cycles((2 * 4 * 3 + 6 * 4) * 4 * 8 / 4));
}

TEST_CASE("ipu pooling: the plan is the fastest of all splits, with four words together when that is near") {
  ChipConstants chip = gc200().chip;
  chip.tiles = 48;
  const PoolingPlanner planner(chip, gc200().constants);
  for (const PoolingPass& pass :
       {pooling_forward(window(64, 14, 3, 2, 1), 2), pooling_gradient(window(64, 14, 3, 2, 1), 2),
        pooling_forward(window(32, 9, 2, 2, 0), 4), pooling_gradient(window(12, 20, 3, 1, 1), 2)}) {
    const Cycles fixed = cycles(800 + 2 * 150);
    const Cycles free = std::min(fastest(planner, pass, 48, 1), fastest(planner, pass, 48, 2)) - fixed;
    const Cycles wide = fastest(planner, pass, 48, 4) - fixed;
    const bool may = pass.channels * pass.element_bytes >= 32;
    const Cycles expected = may && wide < 4.0 / 3 * free ? wide : free;
    CHECK((planner.plan(pass).cost.total() - fixed).in_base() == doctest::Approx(expected.in_base()));
  }
}

TEST_CASE("ipu pooling: a window over the whole field is a reduction, its gradient a broadcast") {
  const PoolingPlanner planner(gc200().chip, gc200().constants);
  ConvolutionShape average = window(2048, 7, 7, 7, 0);
  average.batch = 16;
  REQUIRE(pools_whole_field(average));
  const double elements = 16.0 * 2048 * 49 / 1472;
  CHECK(planner.forward(average, AmpMode::half_half, ReductionKind::add).total().in_base() ==
        doctest::Approx(1050 + 3.25 * elements));
  CHECK(planner.forward(average, AmpMode::half_half, ReductionKind::largest).total().in_base() ==
        doctest::Approx(1050 + 1.63 * elements));
  CHECK(planner.gradient(average, AmpMode::half_half).total().in_base() == doctest::Approx(1000 + elements / 4));
  average.batch = 1;
  average.groups = average.in_channels = average.out_channels = 64;  // fewer outputs than tiles
  CHECK(planner.forward(average, AmpMode::single, ReductionKind::add).launch == cycles(2300));
}

TEST_CASE("ipu pooling: an empty pooling is our fault") {
  const PoolingPlanner planner(gc200().chip, gc200().constants);
  CHECK_THROWS_AS((void)planner.plan(pooling_forward(window(0, 4, 2, 2, 0), 2)), InternalError);
}
