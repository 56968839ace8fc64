// The planner prunes and keeps a front; a plain search over every split, written from the formulas, must find the same.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <vector>

#include "models/ipu/matmul_planner.hpp"
#include "tests/support/ipu_constants.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

struct Mode {
  AmpMode mode;
  std::int64_t input_grain, output_grain, e, p;
  double six_rows, overhead, adds;
};

const std::vector<Mode> k_modes = {
    {AmpMode::half_half, 16, 16, 2, 2, 24, 203, 4},
    {AmpMode::half_single, 16, 8, 2, 4, 24, 171, 2},
    {AmpMode::single, 8, 16, 4, 4, 48, 221, 2},
};

constexpr std::int64_t k_tiles = 1472;
constexpr double k_tile_memory = 638'976;

std::int64_t up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

struct Plain {
  double cycles = 1e300;
  double bytes = 1e300;
};

// Keeps the fastest within the bound, or the leanest while none is within it.
class PlainSearch {
 public:
  PlainSearch(const Mode& mode, double bound) : mode_(mode), bound_(bound) {}

  Plain run(const MatmulShape& shape) {
    std::vector<std::int64_t> per_tile;
    if (shape.groups <= k_tiles) per_tile.push_back(1);
    for (std::int64_t x = 1; x <= std::min(shape.groups, k_tiles); ++x) {
      if (up(shape.groups, x) <= 8) per_tile.push_back(up(shape.groups, x));
    }
    per_tile.push_back(up(shape.groups, std::min(shape.groups, k_tiles)));
    std::sort(per_tile.begin(), per_tile.end());
    per_tile.erase(std::unique(per_tile.begin(), per_tile.end()), per_tile.end());
    for (const std::int64_t gpt : per_tile) {
      const std::int64_t tiles = k_tiles / up(shape.groups, gpt);
      order(gpt, tiles, shape.rows, shape.inner, shape.columns);
      order(gpt, tiles, shape.columns, shape.inner, shape.rows);
    }
    return found_ ? fastest_ : leanest_;
  }

 private:
  void order(std::int64_t gpt, std::int64_t tiles, std::int64_t a, std::int64_t b, std::int64_t c) {
    const std::int64_t last = a <= 512 ? a : std::min(a, tiles);
    for (std::int64_t i = 1; i <= last; ++i) {
      const std::int64_t pm = up(a, a <= 512 ? i : up(a, i));
      if (pm > tiles) continue;
      for (const std::int64_t pk : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32}) {
        if (pk > up(b, mode_.input_grain) || pm * pk > tiles) continue;
        const std::int64_t grains = up(c, mode_.output_grain);
        const std::int64_t x = std::min(tiles / (pm * pk), grains);
        for (const std::int64_t pn : {x, std::max<std::int64_t>(x - 1, 1), std::max<std::int64_t>(x / 2, 1),
                                      std::max<std::int64_t>(grains / up(grains, x), 1)}) {
          for (const std::int64_t s : {1, 2, 4, 8, 16}) {
            if (s > 1 && s > grains) continue;
            candidate(gpt, {up(a, pm), pk, pn, s}, up(up(b, mode_.input_grain), pk), up(grains, pn * s));
          }
        }
      }
    }
  }

  struct Split {
    std::int64_t m, pk, pn, s;
  };

  void candidate(std::int64_t gpt, const Split& split, std::int64_t k_grains, std::int64_t n_grains) {
    const double g = static_cast<double>(gpt);
    const double m = static_cast<double>(split.m);
    const double k = static_cast<double>(k_grains * mode_.input_grain);
    const double n = static_cast<double>(n_grains * mode_.output_grain);
    const double s = static_cast<double>(split.s);
    const double pk = static_cast<double>(split.pk);
    const double e = static_cast<double>(mode_.e);
    const double p = static_cast<double>(mode_.p);
    const double o = m * n * s / pk * g;
    double total = g * s * static_cast<double>(k_grains * n_grains) *
                   (mode_.six_rows * static_cast<double>(up(split.m, 6)) + mode_.overhead);
    total += g * s * (m * k * e / (split.pn % 2 == 0 ? 8 : 4) / s + k * n * e / 4);
    if (split.pk > 1) total += o * p * (pk - 1) / 4 + o * pk / mode_.adds + 100 * s;
    total += 0.5 * o;
    if (mode_.mode == AmpMode::half_single) total += 0.5 * o + 30;
    total += 150 * s * (split.pk > 1 ? 4 : 2);
    const double bytes = g * (m * k * e + k * n * e + m * n * p * (split.pk > 1 ? 2 : 1));
    if (bytes <= bound_) {
      found_ = true;
      if (total < fastest_.cycles) fastest_ = {total, bytes};
    }
    if (bytes < leanest_.bytes || (bytes == leanest_.bytes && total < leanest_.cycles)) leanest_ = {total, bytes};
  }

  Mode mode_;
  double bound_;
  bool found_ = false;
  Plain fastest_;
  Plain leanest_;
};

}  // namespace

TEST_CASE("matmul planner: a plain search over every split finds no better plan") {
  const MatmulPlanner planner(test::gc200_chip(), test::transformer_cost().planner);
  const std::vector<MatmulShape> shapes = {
      {1, 1, 1, 1},       {1, 7, 33, 129},     {1, 513, 100, 1000}, {1, 600, 4096, 48}, {1, 1024, 768, 3072},
      {12, 197, 64, 197}, {100, 128, 128, 64}, {1000, 16, 64, 16},  {3000, 50, 32, 20}, {1, 20, 1024, 30522},
  };
  for (const Mode& mode : k_modes) {
    for (const MatmulShape& shape : shapes) {
      for (const double proportion : {0.0, 0.02, 0.1, 0.3, 1.0}) {
        CAPTURE(shape.groups);
        CAPTURE(shape.rows);
        CAPTURE(shape.inner);
        CAPTURE(shape.columns);
        CAPTURE(proportion);
        const Plain plain = PlainSearch(mode, proportion * k_tile_memory).run(shape);
        const MatmulPlan plan = planner.plan(shape, mode.mode, proportion);
        CHECK(plan.total().in_base() == doctest::Approx(plain.cycles).epsilon(1e-12));
        CHECK(plan.temporary.size().in_base() <= plain.bytes);
      }
    }
  }
}
