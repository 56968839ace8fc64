#pragma once
// How a matmul is spread over the tiles of one IPU, and what that costs. The search follows the planner of
// graphcore/poplibs (lib/poplin, ConvPlan.cpp and PerformanceEstimation) condensed to whole-chip formulas:
//
//   per tile m rows, k inner elements, n columns, s serial steps over the columns, g groups:
//   vertex     g s (k/grain_in) (n/grain_out) (six_rows ceil(m/6) + overhead)
//   exchange   g (m k e / (4 or 8 when the column split is even: a pair of tiles listens to one bus) + s k n e / 4)
//   reduction  when the inner dimension is split pk ways, o = g m n s / pk outputs:
//              o p (pk-1) / 4 exchange, o pk / 4 additions, 100 s
//   layout     o / 2, and a cast when partials are wider than outputs
//   sync       150 s (2, or 4 with a reduction)
//   temporary  g (m k e + k n e + m n p (1, or 2 with a reduction)) bytes per tile
//
// For each shape and mode the search is done once and the Pareto front of temporary bytes against cycles is kept, so
// that a memory proportion is a binary search.

#include <compare>
#include <cstdint>
#include <map>
#include <memory>
#include <shared_mutex>
#include <vector>

#include "models/ipu/constants.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim::ipu {

// The part of each dimension that one tile holds in one serial step, and how the dimensions are split.
struct MatmulSplit {
  std::int64_t groups_per_tile = 1;
  std::int64_t row_split = 1;     // pm
  std::int64_t inner_split = 1;   // pk
  std::int64_t column_split = 1;  // pn
  std::int64_t serial_steps = 1;  // s
  bool swapped = false;           // rows and columns of the product have changed places
  friend bool operator==(const MatmulSplit&, const MatmulSplit&) = default;
};

struct MatmulPlan {
  MatmulSplit split;
  std::int64_t rows = 0;     // m, on a tile
  std::int64_t inner = 0;    // k
  std::int64_t columns = 0;  // n, in one serial step
  Cycles vertex;
  Cycles exchange;
  Cycles reduction_exchange;
  Cycles reduction_compute;
  Cycles reduction_sync;
  Cycles layout;
  Cycles sync;
  Bytes temporary;  // per tile
  Cycles total() const;
};

class MatmulPlanner {
 public:
  MatmulPlanner(const ChipConstants& chip, const PlannerConstants& constants);

  // The fastest plan whose temporary bytes stay within `proportion` of a tile's memory; when none does, the one with
  // the least temporary bytes, as the library does. Dimensions must be at least 1. Safe to call from several threads.
  MatmulPlan plan(const MatmulShape& shape, AmpMode mode, double proportion) const;
  // Among the plans within `tolerance` (0.05: 5 %) of that one the one with the least temporary bytes.
  MatmulPlan leanest_plan(const MatmulShape& shape, AmpMode mode, double proportion, double tolerance) const;

 private:
  struct Candidate {
    std::int64_t temporary = 0;
    double cycles = 0;
    MatmulSplit split;
  };
  using Front = std::vector<Candidate>;  // temporary ascending, cycles descending
  struct Key {
    MatmulShape shape;
    AmpMode mode;
    friend auto operator<=>(const Key&, const Key&) = default;
  };
  class Search;

  const Front& front(const MatmulShape& shape, AmpMode mode) const;
  std::size_t fastest(const Front& front, double proportion) const;  // index into the front
  MatmulPlan expand(const MatmulShape& shape, AmpMode mode, const MatmulSplit& split) const;

  std::int64_t tiles_;
  Bytes tile_memory_;
  PlannerConstants constants_;
  mutable std::shared_mutex mutex_;
  mutable std::map<Key, std::unique_ptr<const Front>> fronts_;
};

}  // namespace podsim::ipu
