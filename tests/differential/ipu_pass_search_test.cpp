// The planner prunes and keeps a front; a plain search over every split, written from the formulas, must find the same.
#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <set>
#include <vector>

#include "models/ipu/operators/pass_planner.hpp"
#include "tests/support/operator_constants.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

struct Mode {
  AmpMode mode;
  std::int64_t input_grain, output_grain;
  double e, p, load, row, start, adds;
};

const std::vector<Mode> k_modes = {
    {AmpMode::half_half, 16, 16, 2, 2, 64, 4, 16, 4},
    {AmpMode::half_single, 16, 8, 2, 4, 32, 4, 16, 2},
    {AmpMode::single, 8, 16, 4, 4, 64, 8, 22, 2},
};

constexpr std::int64_t k_tiles = 1472;
constexpr double k_tile_memory = 638'976;

std::int64_t up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// The least split of every distinct share.
std::set<std::int64_t> splits_of(std::int64_t count, std::int64_t most) {
  std::set<std::int64_t> splits;
  for (std::int64_t parts = 1; parts <= std::min(count, most); ++parts) {
    if (parts == 1 || up(count, parts) != up(count, parts - 1)) splits.insert(parts);
  }
  return splits;
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
    std::vector<std::int64_t> joins = {1};
    for (std::int64_t f = 2; f <= 16 && f <= shape.groups && f * std::max(shape.inner, shape.columns) <= 32; f *= 2) {
      joins.push_back(f);
    }
    for (const std::int64_t joined : joins) {
      for (const bool swapped : {false, true}) {
        const std::int64_t rows = swapped ? shape.columns : shape.rows;
        const std::int64_t columns = swapped ? shape.rows : shape.columns;
        order(up(shape.groups, joined), rows, shape.inner * joined, columns * joined);
      }
    }
    return found_ ? fastest_ : leanest_;
  }

 private:
  void order(std::int64_t groups, std::int64_t rows, std::int64_t inner, std::int64_t columns) {
    inner_ = inner;
    columns_ = columns;
    all_groups_ = groups;
    const std::int64_t in_grains = up(inner, mode_.input_grain);
    const std::int64_t out_grains = up(columns, mode_.output_grain);
    for (const std::int64_t pg : splits_of(groups, k_tiles)) {
      for (const std::int64_t pk : {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32, 40, 48, 64}) {
        if (pk > in_grains || pg * pk > k_tiles) continue;
        for (const std::int64_t pn : splits_of(out_grains, k_tiles / pg)) {
          if (pg * pk * pn > k_tiles) continue;
          for (const std::int64_t s : {1, 2, 4, 8, 16}) {
            if (s > 1 && s * pn > out_grains) continue;
            const std::int64_t pm = std::min(k_tiles / pg / pk / pn, rows);
            candidate(up(groups, pg), up(rows, pm), up(in_grains, pk), up(out_grains, pn * s), pk, pn, s);
          }
        }
      }
    }
  }

  void candidate(std::int64_t groups, std::int64_t rows, std::int64_t in_grains, std::int64_t out_grains,
                 std::int64_t pk, std::int64_t pn, std::int64_t serial) {
    const double g = static_cast<double>(groups);
    const double m = static_cast<double>(rows);
    const double a = static_cast<double>(in_grains);
    const double b = static_cast<double>(out_grains);
    const double k = static_cast<double>(in_grains * mode_.input_grain);
    const double n = static_cast<double>(out_grains * mode_.output_grain);
    const double s = static_cast<double>(serial);
    const double r = static_cast<double>(pk);
    const double o = g * m * n;
    const double work = std::max(6 * (mode_.row * static_cast<double>(up(rows, 6)) + mode_.start), 130.0);
    double step = 50 + g * (11 + a * (16 + b * (25 + mode_.load + work)));
    if (mode_.mode == AmpMode::single) step += g * b * (8 * m + 12);
    step += g * m * k * mode_.e / (pn % 2 == 0 ? 8 : 4) / s + g * k * n * mode_.e / 4;
    if (pk > 1) step += o / r * (r - 1) * mode_.p / 4 + o / mode_.adds + 100;
    if (serial > 1) {
      const double weights = static_cast<double>(all_groups_ * inner_) * static_cast<double>(columns_);
      step += 60 + 0.5 * weights * mode_.e / k_tiles / s / 4 + 4 * o / r;
    }
    step += 150 * (pk > 1 ? 4 : 2);
    const double bytes = g * m * k * mode_.e + g * k * n * mode_.e + o * mode_.p * (pk > 1 ? 2 : 1);
    const double total = s * step;
    if (bytes <= bound_) {
      found_ = true;
      if (total < fastest_.cycles) fastest_ = {total, bytes};
    }
    if (bytes < leanest_.bytes || (bytes == leanest_.bytes && total < leanest_.cycles)) leanest_ = {total, bytes};
  }

  Mode mode_;
  double bound_;
  std::int64_t inner_ = 0;
  std::int64_t columns_ = 0;
  std::int64_t all_groups_ = 0;
  bool found_ = false;
  Plain fastest_;
  Plain leanest_;
};

}  // namespace

TEST_CASE("pass planner: a plain search over every split finds no better plan") {
  const test::OperatorScene scene = test::operator_scene("gc200");
  const PassPlanner planner(scene.chip, scene.constants.passes);
  const std::vector<MatmulShape> shapes = {
      {1, 1, 1, 1},       {1, 7, 33, 129},     {1, 513, 100, 1000}, {1, 600, 4096, 48}, {1, 1024, 768, 3072},
      {12, 197, 64, 197}, {100, 128, 128, 64}, {1000, 16, 9, 3},    {3000, 50, 32, 20}, {1, 20, 1024, 30522},
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
        const PassPlan plan = planner.plan(matmul_pass(shape), {mode.mode, proportion});
        CHECK(plan.cost.total().in_base() == doctest::Approx(plain.cycles).epsilon(1e-12));
        CHECK(plan.cost.temporary.size().in_base() <= plain.bytes);
      }
    }
  }
}
