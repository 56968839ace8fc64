#include "models/ipu/matmul_planner.hpp"

#include <algorithm>
#include <array>
#include <mutex>

#include "sim/core/check.hpp"

namespace podsim::ipu {

namespace {

constexpr std::array<std::int64_t, 15> k_inner_splits = {1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 14, 16, 20, 24, 32};
constexpr std::array<std::int64_t, 5> k_serial_steps = {1, 2, 4, 8, 16};
constexpr std::int64_t k_workers = 6;
constexpr std::int64_t k_most_groups_per_tile = 8;
// Up to this many rows every distinct share of rows is tried; above it, every distinct number of row parts.
constexpr std::int64_t k_rows_tried_one_by_one = 512;

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

// Rows, inner dimension and columns as the chosen operand order has them.
MatmulShape oriented(const MatmulShape& shape, bool swapped) {
  return swapped ? MatmulShape{shape.groups, shape.columns, shape.inner, shape.rows} : shape;
}

// What one tile holds in one serial step, in rows and in grains of the matrix unit.
struct TileShare {
  std::int64_t rows = 0;
  std::int64_t inner_grains = 0;
  std::int64_t column_grains = 0;
};

std::int64_t temporary_bytes(const AmpConstants& amp, const MatmulSplit& split, const TileShare& share) {
  const std::int64_t m = share.rows;
  const std::int64_t k = share.inner_grains * amp.input_grain;
  const std::int64_t n = share.column_grains * amp.output_grain;
  const std::int64_t partials = m * n * amp.partial_bytes * (split.inner_split > 1 ? 2 : 1);
  return split.groups_per_tile * (m * k * amp.element_bytes + k * n * amp.element_bytes + partials);
}

MatmulPlan cost_of(const PlannerConstants& constants, const AmpConstants& amp, const MatmulSplit& split,
                   const TileShare& share) {
  MatmulPlan plan;
  plan.split = split;
  plan.rows = share.rows;
  plan.inner = share.inner_grains * amp.input_grain;
  plan.columns = share.column_grains * amp.output_grain;
  plan.temporary = Bytes(temporary_bytes(amp, split, share));
  const double g = as_double(split.groups_per_tile);
  const double s = as_double(split.serial_steps);
  const double m = as_double(plan.rows);
  const double k = as_double(plan.inner);
  const double n = as_double(plan.columns);
  const double e = as_double(amp.element_bytes);
  const double parts = as_double(split.inner_split);
  const bool reduces = split.inner_split > 1;
  const double outputs = m * n * s / parts * g;
  const double rate = constants.exchange_bytes_per_cycle;
  const double row_rate = split.column_split % 2 == 0 ? rate * constants.pair_broadcast_factor : rate;
  const Cycles grain = as_double(divide_up(plan.rows, k_workers)) * amp.six_rows + amp.grain_overhead;
  plan.vertex = g * s * as_double(share.inner_grains * share.column_grains) * grain;
  plan.exchange = cycles(g * (m * k * e / row_rate + s * k * n * e / rate));
  if (reduces) {
    plan.reduction_exchange = cycles(outputs * as_double(amp.partial_bytes) * (parts - 1) / rate);
    plan.reduction_compute = cycles(outputs * parts / amp.adds_per_cycle);
    plan.reduction_sync = s * constants.reduction_step;
  }
  plan.layout = outputs * constants.output_element;
  if (amp.cast_output) plan.layout += outputs * constants.cast_element + constants.cast;
  plan.sync = s * (reduces ? 4.0 : 2.0) * constants.superstep_sync;
  return plan;
}

TileShare share_of(const AmpConstants& amp, const MatmulShape& order, const MatmulSplit& split) {
  return {divide_up(order.rows, split.row_split), divide_up(divide_up(order.inner, amp.input_grain), split.inner_split),
          divide_up(divide_up(order.columns, amp.output_grain), split.column_split * split.serial_steps)};
}

std::vector<std::int64_t> groups_per_tile(std::int64_t groups, std::int64_t tiles) {
  const std::int64_t most_parts = std::min(groups, tiles);
  std::vector<std::int64_t> counts;
  for (std::int64_t count = 1; count <= k_most_groups_per_tile; ++count) {
    const std::int64_t parts = divide_up(groups, count);
    if (parts <= most_parts && divide_up(groups, parts) == count) counts.push_back(count);
  }
  const std::int64_t least = divide_up(groups, most_parts);
  if (std::find(counts.begin(), counts.end(), least) == counts.end()) counts.push_back(least);
  return counts;
}

std::vector<std::int64_t> row_splits(std::int64_t rows, std::int64_t tiles) {
  const bool one_by_one = rows <= k_rows_tried_one_by_one;
  const std::int64_t last = one_by_one ? rows : std::min(rows, tiles);
  std::vector<std::int64_t> splits;
  for (std::int64_t i = 1; i <= last; ++i) {
    const std::int64_t share = one_by_one ? i : divide_up(rows, i);
    const std::int64_t split = divide_up(rows, share);
    if (split <= tiles && (splits.empty() || splits.back() != split)) splits.push_back(split);
  }
  return splits;
}

}  // namespace

Cycles MatmulPlan::total() const {
  return vertex + exchange + reduction_exchange + reduction_compute + reduction_sync + layout + sync;
}

// One search over all splits of one shape in one mode. A candidate is kept unless one that was found earlier needs
// neither more temporary bytes nor more cycles; lower bounds of both spare whole families of candidates.
class MatmulPlanner::Search {
 public:
  Search(const MatmulPlanner& planner, AmpMode mode)
      : tiles_(planner.tiles_),
        constants_(planner.constants_),
        amp_(constants_.modes[static_cast<std::size_t>(mode)]) {}

  Front run(const MatmulShape& shape) {
    for (const std::int64_t groups : groups_per_tile(shape.groups, tiles_)) {
      const std::int64_t tiles = tiles_ / divide_up(shape.groups, groups);
      split_.groups_per_tile = groups;
      for (const bool swapped : {false, true}) {
        split_.swapped = swapped;
        try_order(oriented(shape, swapped), tiles);
      }
    }
    return std::move(front_);
  }

 private:
  void try_order(const MatmulShape& order, std::int64_t tiles) {
    const std::int64_t inner_grains = divide_up(order.inner, amp_.input_grain);
    const std::int64_t column_grains = divide_up(order.columns, amp_.output_grain);
    for (const std::int64_t row_split : row_splits(order.rows, tiles)) {
      split_.row_split = row_split;
      share_.rows = divide_up(order.rows, row_split);
      for (const std::int64_t inner_split : k_inner_splits) {
        if (inner_split > inner_grains || row_split * inner_split > tiles) break;
        split_.inner_split = inner_split;
        share_.inner_grains = divide_up(inner_grains, inner_split);
        try_columns(column_grains, std::min(tiles / (row_split * inner_split), column_grains));
      }
    }
  }

  void try_columns(std::int64_t grains, std::int64_t most) {
    // The most parallel split has the fewest cycles, the most serial steps the fewest temporary bytes.
    const std::int64_t least_grains = divide_up(grains, most);
    if (hopeless(divide_up(least_grains, k_serial_steps.back()), least_grains)) return;
    const std::array<std::int64_t, 4> splits = {most, std::max<std::int64_t>(most - 1, 1),
                                                std::max<std::int64_t>(most / 2, 1), grains / least_grains};
    for (std::size_t i = 0; i < splits.size(); ++i) {
      const std::int64_t column_split = splits[i];
      if (std::find(splits.begin(), splits.begin() + static_cast<std::ptrdiff_t>(i), column_split) !=
          splits.begin() + static_cast<std::ptrdiff_t>(i)) {
        continue;
      }
      split_.column_split = column_split;
      std::int64_t before = 0;
      for (const std::int64_t steps : k_serial_steps) {
        if (steps > 1 && steps > grains) break;
        split_.serial_steps = steps;
        share_.column_grains = divide_up(grains, column_split * steps);
        // More steps of the same size only repeat work: no fewer bytes, more cycles.
        if (share_.column_grains == before) continue;
        before = share_.column_grains;
        if (!hopeless(share_.column_grains, share_.column_grains * steps)) keep_candidate();
      }
    }
  }

  // Whether a plan with at least these column grains in a step, and over all steps, cannot join the front: by its
  // vertex and exchange cycles alone, with the wide bus.
  bool hopeless(std::int64_t step_grains, std::int64_t all_grains) const {
    const double k = as_double(share_.inner_grains * amp_.input_grain);
    const double e = as_double(amp_.element_bytes);
    const double rate = constants_.exchange_bytes_per_cycle;
    const double grain =
        amp_.six_rows.in_base() * as_double(divide_up(share_.rows, k_workers)) + amp_.grain_overhead.in_base();
    const double vertex = as_double(share_.inner_grains * all_grains) * grain;
    const double exchange = as_double(share_.rows) * k * e / (rate * constants_.pair_broadcast_factor) +
                            k * as_double(all_grains * amp_.output_grain) * e / rate;
    const std::int64_t bytes = temporary_bytes(amp_, split_, {share_.rows, share_.inner_grains, step_grains});
    return dominated(bytes, as_double(split_.groups_per_tile) * (vertex + exchange));
  }

  bool dominated(std::int64_t bytes, double cycle_count) const {
    const auto after = std::upper_bound(front_.begin(), front_.end(), bytes,
                                        [](std::int64_t b, const Candidate& c) { return b < c.temporary; });
    return after != front_.begin() && std::prev(after)->cycles <= cycle_count;
  }

  void keep_candidate() {
    const MatmulPlan plan = cost_of(constants_, amp_, split_, share_);
    const Candidate candidate{plan.temporary.count(), plan.total().in_base(), split_};
    if (dominated(candidate.temporary, candidate.cycles)) return;
    const auto first = std::lower_bound(front_.begin(), front_.end(), candidate.temporary,
                                        [](const Candidate& c, std::int64_t b) { return c.temporary < b; });
    const auto last =
        std::find_if(first, front_.end(), [&](const Candidate& c) { return c.cycles < candidate.cycles; });
    front_.insert(front_.erase(first, last), candidate);
  }

  std::int64_t tiles_;
  const PlannerConstants& constants_;
  const AmpConstants& amp_;
  Front front_;
  MatmulSplit split_;  // of the candidate being tried
  TileShare share_;
};

MatmulPlanner::MatmulPlanner(const ChipConstants& chip, const PlannerConstants& constants)
    : tiles_(chip.tiles), tile_memory_(chip.tile_memory), constants_(constants) {
  PODSIM_CHECK(tiles_ > 0, "a chip without tiles");
}

MatmulPlan MatmulPlanner::plan(const MatmulShape& shape, AmpMode mode, double proportion) const {
  const Front& candidates = front(shape, mode);
  return expand(shape, mode, candidates[fastest(candidates, proportion)].split);
}

MatmulPlan MatmulPlanner::leanest_plan(const MatmulShape& shape, AmpMode mode, double proportion,
                                       double tolerance) const {
  const Front& candidates = front(shape, mode);
  std::size_t at = fastest(candidates, proportion);
  const double limit = candidates[at].cycles * (1.0 + tolerance);
  while (at > 0 && candidates[at - 1].cycles <= limit) --at;
  return expand(shape, mode, candidates[at].split);
}

const MatmulPlanner::Front& MatmulPlanner::front(const MatmulShape& shape, AmpMode mode) const {
  const Key key{shape, mode};
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = fronts_.find(key); found != fronts_.end()) return *found->second;
  }
  PODSIM_CHECK(shape.groups > 0 && shape.rows > 0 && shape.inner > 0 && shape.columns > 0, "an empty matmul");
  auto made = std::make_unique<const Front>(Search(*this, mode).run(shape));
  const std::unique_lock lock(mutex_);
  return *fronts_.try_emplace(key, std::move(made)).first->second;
}

std::size_t MatmulPlanner::fastest(const Front& front, double proportion) const {
  const double bound = proportion * tile_memory_.size().in_base();
  const auto after =
      std::find_if(front.begin(), front.end(), [bound](const Candidate& c) { return as_double(c.temporary) > bound; });
  return after == front.begin() ? 0 : static_cast<std::size_t>(after - front.begin()) - 1;
}

MatmulPlan MatmulPlanner::expand(const MatmulShape& shape, AmpMode mode, const MatmulSplit& split) const {
  const AmpConstants& amp = constants_.modes[static_cast<std::size_t>(mode)];
  return cost_of(constants_, amp, split, share_of(amp, oriented(shape, split.swapped), split));
}

}  // namespace podsim::ipu
