// What must hold for any operator, however odd its shape.

#include <doctest/doctest.h>

#include <fmt/format.h>

#include <cmath>
#include <string>
#include <vector>

#include "models/ipu/operators/operator_estimator.hpp"
#include "models/ipu/operators/operator_text.hpp"
#include "sim/core/random.hpp"
#include "tests/support/operator_constants.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

// Every cost finite and positive, its parts none below zero, no faster than the matrix units, on no more tiles than
// there are.
void check_sane(const std::string& text, const test::OperatorScene& scene, const OperatorEstimator& model, AmpMode mode,
                double proportion) {
  CAPTURE(text);
  Diagnostics diagnostics;
  const auto written = parse_operator(text, {"operator", 1, 1}, diagnostics);
  REQUIRE_MESSAGE(written.has_value(), diagnostics.to_text());
  const OperatorCost cost = model.estimate(written->description, {mode, proportion});
  const double total = cost.cost.total().in_base();
  CHECK(std::isfinite(total));
  CHECK(total > 0);
  CHECK(cost.bytes > Bytes());
  const FlopRate peak = scene.chip.peak[static_cast<std::size_t>(mode)];
  CHECK(cost.cost.total() / scene.chip.clock >= 0.999 * (cost.flop / peak));
  for (const NamedPass& pass : cost.passes) {
    const CostByPart& c = pass.plan.cost;
    for (const Cycles part : {c.vertex, c.exchange, c.reduction_exchange, c.reduction, c.serial, c.sync, c.layout}) {
      CHECK(part >= Cycles());
    }
    CHECK(pass.plan.split.tiles() <= scene.chip.tiles);
    CHECK(c.temporary > Bytes());
  }
}

}  // namespace

TEST_CASE("operator laws: extreme shapes stay sane") {
  const std::vector<std::string> texts = {
      "conv 1x1x1x1 -> 1",
      "conv 1x1x1x1 -> 1 k1 g1 inference",
      "conv 4x64x7x7 -> 1000 k7 p0",
      "conv 4x8x1x4096 -> 8 k1x4096 p0",
      "conv 4x8x4096x1 -> 8 k4096x1 p0",
      "conv 2x16x1x100000 -> 16 k3",
      "conv 2x16x100000x1 -> 16 k3x1",
      "conv 3x1021x13x17 -> 509 k3",
      "conv 4x4096x7x7 -> 4096 k3 g4096",
      "conv 4x4096x7x7 -> 4096 k5 s2 g2048",
      "conv 4x32x56x56 -> 32 k7 g16",
      "conv 100000x3x8x8 -> 8 k3",
      "conv 1x2048x1x1 -> 2048",
      "conv 1x3x1024x1024 -> 64 k31",
      "conv 1x64x32x32 -> 64 k3 d15 p15",
      "conv 1x64x32x32 -> 64 k3 s31 p1",
      "conv 1x8x9x9 -> 8 k9 s9 p0",
      "conv 1x8x5x5 -> 8 k3 p40",
      "conv 8x80x1x324 -> 2222 k11 s1",
      "conv 8x80x324x1 -> 2222 k11 s1",
      "octave 1x3x5x7 -> 1 k3 low1x0",
      "dense 1x1x1",
      "dense 1x50000000x1",
      "dense 50000000x1x1",
      "dense 1x1x50000000",
      "attention 100000x3x5x7",
      "matmul 8191x8191x8191",
      "embedding 1x1 n1",
      "embedding 1000000x4096 n1000000",
      "lstm 1x1 -> 1 t1",
      "gru 512x1024 -> 4096 t1000",
      "reduce 1 over0",
      "reduce 10000000 over0 max",
      "pool 1x1x1x1 k1",
      "pool 1000000x64x112x112 k3 s2",
      "norm 1",
      "elementwise 100000000x1000",
  };
  for (const std::string chip : {"gc2", "gc200"}) {
    const test::OperatorScene scene = test::operator_scene(chip);
    const OperatorEstimator model(scene.chip, scene.constants);
    CAPTURE(chip);
    for (const std::string& text : texts) {
      for (const AmpMode mode : {AmpMode::half_half, AmpMode::half_single, AmpMode::single}) {
        check_sane(text, scene, model, mode, 0.6);
      }
      check_sane(text, scene, model, AmpMode::half_half, 0.01);
    }
  }
}

TEST_CASE("operator laws: random convolutions stay sane") {
  const test::OperatorScene scene = test::operator_scene("gc200");
  const OperatorEstimator model(scene.chip, scene.constants);
  Random random(20'240);
  const auto pick = [&](std::int64_t most) {
    const double exponent = static_cast<double>(random.below(1000)) / 1000.0;
    return static_cast<std::int64_t>(std::ceil(std::pow(static_cast<double>(most), exponent)));
  };
  for (int i = 0; i < 120; ++i) {
    const std::int64_t kernel = pick(9);
    const std::int64_t size = kernel + pick(60) - 1;
    const std::int64_t groups = random.below(3) == 0 ? pick(64) : 1;
    const std::int64_t height = random.below(3) == 0 ? kernel : size;  // flat ones: most of the kernel meets padding
    const std::string text =
        fmt::format("conv {}x{}x{}x{} -> {} k{} s{} p{} g{}", pick(64), groups * pick(96), height, size,
                    groups * pick(96), kernel, pick(3), random.below(static_cast<std::uint64_t>(kernel)), groups);
    check_sane(text, scene, model, AmpMode::half_half, 0.05 + static_cast<double>(random.below(90)) / 100);
  }
}

TEST_CASE("operator laws: a larger batch costs more, at most two and a half times for twice") {
  const test::OperatorScene scene = test::operator_scene("gc200");
  const OperatorEstimator model(scene.chip, scene.constants);
  for (const std::string layer : {"x64x56x56 -> 64 k3", "x256x14x14 -> 1024", "x3x224x224 -> 64 k7 s2",
                                  "x512x7x7 -> 512 k3", "x96x28x28 -> 96 k3 g96"}) {
    CAPTURE(layer);
    Cycles before;
    for (const std::int64_t batch : {1, 2, 4, 8, 16, 32}) {
      CAPTURE(batch);
      Diagnostics diagnostics;
      const auto written = parse_operator(fmt::format("conv {}{}", batch, layer), {}, diagnostics);
      const Cycles now = model.estimate(written.value().description, {AmpMode::half_half, 0.6}).cost.total();
      if (before > Cycles()) {
        CHECK(now >= 0.98 * before);
        CHECK(now <= 2.5 * before);
      }
      before = now;
    }
  }
}

TEST_CASE("operator laws: more memory never makes a pass slower") {
  const test::OperatorScene scene = test::operator_scene("gc2");
  const PassPlanner planner(scene.chip, scene.constants.passes);
  for (const MatmulShape& shape : {MatmulShape{1, 1024, 1024, 4096}, {16, 384, 64, 384}, {1, 7, 30522, 768}}) {
    Cycles before;
    for (const double proportion : {0.01, 0.03, 0.1, 0.3, 1.0}) {
      const PassPlan plan = planner.plan(matmul_pass(shape), {AmpMode::half_half, proportion});
      const bool fits = plan.cost.temporary.size().in_base() <= proportion * scene.chip.tile_memory.size().in_base();
      if (fits && before > Cycles()) CHECK(plan.cost.total() <= before);
      if (fits) before = plan.cost.total();
    }
  }
}
