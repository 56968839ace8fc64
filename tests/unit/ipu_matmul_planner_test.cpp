#include <doctest/doctest.h>

#include <cmath>
#include <thread>
#include <vector>

#include "models/ipu/matmul_planner.hpp"
#include "sim/core/check.hpp"
#include "tests/support/ipu_constants.hpp"

using namespace podsim;
using namespace podsim::ipu;

namespace {

struct Vector {
  MatmulShape shape;
  double proportion;
  long cycles;
  std::int64_t pm, pk, pn, s;
  std::int64_t m, k, n;
};

// Reference plans in half precision: cycles, splits and the share of a tile.
const std::vector<Vector> k_vectors = {
    {{1, 1024, 1024, 3072}, 0.25, 69'788, 11, 8, 16, 1, 280, 128, 64},
    {{1, 1024, 1024, 1024}, 0.25, 29'826, 9, 5, 32, 1, 114, 208, 32},
    {{1, 1024, 1024, 4096}, 0.25, 88'712, 23, 4, 16, 2, 179, 256, 32},
    {{1, 1024, 4096, 1024}, 0.25, 97'876, 4, 20, 18, 2, 256, 208, 32},
    {{1, 4096, 1024, 1024}, 0.25, 88'712, 23, 4, 16, 2, 179, 256, 32},
    {{1, 1024, 1024, 4096}, 0.15, 92'976, 23, 8, 8, 4, 179, 128, 32},
    {{128, 128, 64, 128}, 0.25, 6'808, 1, 1, 8, 1, 128, 64, 16},
    {{32, 512, 64, 512}, 0.25, 17'452, 5, 1, 8, 1, 103, 64, 64},
    {{32, 512, 512, 64}, 0.25, 18'494, 3, 7, 2, 1, 171, 80, 32},
    {{1, 4096, 768, 3072}, 0.28, 180'016, 15, 4, 24, 4, 274, 192, 32},
    {{96, 197, 64, 197}, 0.3, 10'964, 2, 1, 7, 1, 99, 64, 32},
    {{1, 160, 1024, 30522}, 0.15, 111'352, 1, 6, 244, 4, 160, 176, 32},
    {{12, 1024, 64, 1024}, 0.15, 22'252, 7, 1, 16, 1, 147, 64, 64},
};

MatmulPlanner make_planner() {
  return MatmulPlanner(test::gc200_chip(), test::transformer_cost().planner);
}

}  // namespace

TEST_CASE("matmul planner: known shapes are split and priced to the cycle") {
  const MatmulPlanner planner = make_planner();
  for (const Vector& v : k_vectors) {
    CAPTURE(v.shape.groups);
    CAPTURE(v.shape.rows);
    CAPTURE(v.shape.inner);
    CAPTURE(v.shape.columns);
    CAPTURE(v.proportion);
    const MatmulPlan plan = planner.plan(v.shape, AmpMode::half_half, v.proportion);
    CHECK(std::lround(plan.total().in_base()) == v.cycles);
    CHECK(plan.split.groups_per_tile == 1);
    CHECK(plan.split.row_split == v.pm);
    CHECK(plan.split.inner_split == v.pk);
    CHECK(plan.split.column_split == v.pn);
    CHECK(plan.split.serial_steps == v.s);
    CHECK(plan.rows == v.m);
    CHECK(plan.inner == v.k);
    CHECK(plan.columns == v.n);
  }
}

TEST_CASE("matmul planner: the breakdown follows the formulas of the split") {
  const MatmulPlan plan = make_planner().plan({1, 1024, 1024, 3072}, AmpMode::half_half, 0.25);
  // m 280, k 128, n 64, pk 8, one step, even column split
  const double outputs = 280.0 * 64 / 8;
  CHECK(plan.vertex == cycles(8 * 4 * (24 * 47 + 203)));
  CHECK(plan.exchange == cycles(280 * 128 * 2 / 8 + 128 * 64 * 2 / 4));
  CHECK(plan.reduction_exchange == cycles(outputs * 2 * 7 / 4));
  CHECK(plan.reduction_compute == cycles(outputs * 8 / 4));
  CHECK(plan.reduction_sync == cycles(100));
  CHECK(plan.layout == cycles(outputs / 2));
  CHECK(plan.sync == cycles(600));
  CHECK(plan.temporary == Bytes(280 * 128 * 2 + 128 * 64 * 2 + 2 * 280 * 64 * 2));
}

TEST_CASE("matmul planner: temporaries stay within the proportion when some plan does") {
  const MatmulPlanner planner = make_planner();
  double last = 0;
  for (const double proportion : {0.05, 0.1, 0.2, 0.4, 0.8}) {
    const MatmulPlan plan = planner.plan({1, 1024, 1024, 4096}, AmpMode::half_half, proportion);
    CHECK(plan.temporary.size().in_base() <= proportion * 638'976);
    if (last > 0) CHECK(plan.total().in_base() <= last);
    last = plan.total().in_base();
  }
}

TEST_CASE("matmul planner: with no plan inside the bound the least temporary bytes are taken") {
  const MatmulPlanner planner = make_planner();
  const MatmulPlan none = planner.plan({1, 4096, 4096, 4096}, AmpMode::half_half, 0.0);
  const MatmulPlan leanest = planner.leanest_plan({1, 4096, 4096, 4096}, AmpMode::half_half, 1.0, 1e9);
  CHECK(none.temporary == leanest.temporary);
  CHECK(none.total() == leanest.total());
}

TEST_CASE("matmul planner: a lean plan is within its tolerance and needs no more bytes") {
  const MatmulPlanner planner = make_planner();
  for (const Vector& v : k_vectors) {
    const MatmulPlan fast = planner.plan(v.shape, AmpMode::half_half, v.proportion);
    const MatmulPlan lean = planner.leanest_plan(v.shape, AmpMode::half_half, v.proportion, 0.05);
    CHECK(lean.temporary <= fast.temporary);
    CHECK(lean.total().in_base() <= 1.05 * fast.total().in_base());
  }
}

TEST_CASE("matmul planner: single-precision partials cost a cast and twice the grains") {
  const MatmulPlan plan = make_planner().plan({1, 6, 16, 8}, AmpMode::half_single, 1.0);
  // The best of so small a product: one grain of inputs, no reduction; one of the operand orders and row splits.
  CHECK(plan.split.inner_split == 1);
  const double m = static_cast<double>(plan.rows);
  const double n = static_cast<double>(plan.columns);
  const double rate = plan.split.column_split % 2 == 0 ? 8 : 4;
  const double expected =
      n / 8 * (24 * std::ceil(m / 6) + 171) + m * 16 * 2 / rate + 16 * n * 2 / 4 + 0.5 * m * n + 0.5 * m * n + 30 + 300;
  CHECK(plan.total().in_base() == doctest::Approx(expected));
}

TEST_CASE("matmul planner: more groups than tiles share tiles") {
  const MatmulPlan plan = make_planner().plan({20'000, 64, 64, 64}, AmpMode::half_half, 1.0);
  CHECK(plan.split.groups_per_tile == (20'000 + 1471) / 1472);
}

TEST_CASE("matmul planner: an empty product is our fault") {
  CHECK_THROWS_AS(make_planner().plan({1, 0, 16, 16}, AmpMode::half_half, 0.5), InternalError);
}

TEST_CASE("matmul planner: threads that ask at once get the same plans") {
  const MatmulPlanner planner = make_planner();
  std::vector<std::vector<double>> found(2);
  {
    std::vector<std::jthread> threads;
    for (std::vector<double>& mine : found) {
      threads.emplace_back([&planner, &mine] {
        for (const Vector& v : k_vectors) {
          mine.push_back(planner.plan(v.shape, AmpMode::half_half, v.proportion).total().in_base());
        }
      });
    }
  }
  CHECK(found[0].size() == k_vectors.size());
  CHECK(found[0] == found[1]);
}
