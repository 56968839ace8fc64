#include "models/ipu/operators/pooling_cost.hpp"

#include <algorithm>
#include <array>
#include <mutex>
#include <optional>
#include <utility>
#include <vector>

#include "models/ipu/operators/split_counts.hpp"
#include "sim/core/check.hpp"

namespace podsim::ipu {

namespace {

constexpr std::int64_t k_workers = 6;
constexpr std::array<std::int64_t, 2> k_free_words = {1, 2};  // what lies together in the input, and less
constexpr std::int64_t k_preferred_words = 4;
constexpr double k_preference = 4.0 / 3;

double as_double(std::int64_t value) {
  return static_cast<double>(value);
}

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

std::int64_t groups_of(const PoolingPass& pass, std::int64_t words) {
  return divide_up(pass.channels * pass.element_bytes, words * k_pooling_word);
}

// Positions of the field that is read under the windows of a share.
std::int64_t positions_read(const PoolingPass& pass, const PoolingShare& share) {
  const auto span = [&](std::int64_t outputs, std::int64_t kernel, std::int64_t all) {
    return std::min(((outputs - 1) * pass.stride + kernel - 1) / pass.dilation + 1, all);
  };
  return share.batch * span(share.rows, pass.kernel_height, pass.input_height) *
         span(share.columns, pass.kernel_width, pass.input_width);
}

}  // namespace

bool pools_whole_field(const ConvolutionShape& window) {
  return window.output_height == 1 && window.output_width == 1 && window.kernel_height >= window.input_height &&
         window.kernel_width >= window.input_width;
}

PoolingPass pooling_forward(const ConvolutionShape& window, std::int64_t element_bytes) {
  PoolingPass pass;
  pass.channels = window.out_channels;
  pass.batch = window.batch;
  pass.output_height = window.output_height;
  pass.output_width = window.output_width;
  pass.input_height = window.input_height;
  pass.input_width = window.input_width;
  pass.kernel_height = window.kernel_height;
  pass.kernel_width = window.kernel_width;
  pass.stride = window.stride;
  pass.element_bytes = element_bytes;
  return pass;
}

PoolingPass pooling_gradient(const ConvolutionShape& window, std::int64_t element_bytes) {
  PoolingPass pass = pooling_forward(window, element_bytes);
  std::swap(pass.input_height, pass.output_height);
  std::swap(pass.input_width, pass.output_width);
  std::swap(pass.stride, pass.dilation);
  pass.gradient = true;
  return pass;
}

PoolingPlanner::PoolingPlanner(const ChipConstants& chip, const OperatorConstants& constants)
    : tiles_(chip.tiles),
      constants_(constants.pooling),
      reduction_(constants.reduction),
      elementwise_(constants.elementwise),
      exchange_bytes_per_cycle_(constants.passes.exchange_bytes_per_cycle),
      superstep_sync_(constants.passes.superstep_sync) {}

CostByPart PoolingPlanner::forward(const ConvolutionShape& window, AmpMode mode, ReductionKind kind) const {
  if (!pools_whole_field(window)) return plan(pooling_forward(window, element_bytes(mode))).cost;
  const Cycles element = kind == ReductionKind::largest ? reduction_.largest_element : reduction_.element;
  CostByPart cost;
  cost.launch = window.output_elements() >= tiles_ ? reduction_.one_stage : reduction_.two_stages;
  cost.vertex = as_double(window.input_elements()) / as_double(tiles_) * element;
  return cost;
}

CostByPart PoolingPlanner::gradient(const ConvolutionShape& window, AmpMode mode) const {
  if (!pools_whole_field(window)) return plan(pooling_gradient(window, element_bytes(mode))).cost;
  const double rate = mode == AmpMode::single ? elementwise_.single_per_cycle : elementwise_.half_per_cycle;
  CostByPart cost;
  cost.launch = elementwise_.launch;
  cost.vertex = cycles(as_double(window.input_elements()) / as_double(tiles_) / rate);
  return cost;
}

// Turns of a worker with the positions from `first` to before `last` of a tile's list. Of a dilated field every kernel
// position reaches a part of the rows, and of a row, alone.
double PoolingPlanner::worker(const PoolingPass& pass, const PoolingShare& share, std::int64_t first,
                              std::int64_t last) const {
  const PoolingDirection& direction = pass.gradient ? constants_.gradient : constants_.forward;
  const double groups = as_double(share.groups);
  const double group_words = groups * as_double(share.words);
  const double of_position =
      constants_.position + groups * constants_.position_group + (groups - 1) * direction.next_group;
  std::int64_t parts = 0;
  double of_kernel_rows = 0;
  const auto add = [&](std::int64_t length, std::int64_t count) {
    if (length == 0 || count == 0) return;
    parts += count;
    const std::int64_t reaching = std::min(divide_up(pass.kernel_width, pass.dilation), pass.input_width);
    const double kernel_columns = as_double(std::min(pass.kernel_width, length * reaching));
    const std::int64_t elements = std::min(divide_up(length, pass.dilation), pass.input_width);
    of_kernel_rows += as_double(count) * kernel_columns *
                      (of_position + group_words * (direction.word + direction.element * as_double(elements - 1)));
  };
  // The rest of the row that it begins in, whole rows, and the beginning of the last one.
  const std::int64_t begun = std::min((share.columns - first % share.columns) % share.columns, last - first);
  add(begun, 1);
  add(share.columns, (last - first - begun) / share.columns);
  add((last - first - begun) % share.columns, 1);
  const std::int64_t kernel_rows =
      std::min(divide_up(parts * pass.kernel_height, pass.dilation), parts * pass.input_height);
  const double cleared = as_double(divide_up(share.positions() * share.words, k_workers));
  return direction.start + groups * (constants_.group + cleared) + as_double(parts) * constants_.row +
         of_kernel_rows * as_double(kernel_rows) / as_double(parts);
}

CostByPart PoolingPlanner::price(const PoolingPass& pass, const PoolingShare& share) const {
  const std::int64_t positions = share.positions();
  double fullest = 0;
  for (std::int64_t i = 0; i < k_workers; ++i) {
    const std::int64_t first = i * positions / k_workers;
    const std::int64_t last = (i + 1) * positions / k_workers;
    if (first < last) fullest = std::max(fullest, worker(pass, share, first, last));
  }
  const std::int64_t read = positions_read(pass, share);
  const std::int64_t all_read = pass.gradient ? 2 * read + positions : read;
  const double bytes = as_double(all_read * share.groups * share.words * k_pooling_word);
  CostByPart cost;
  cost.vertex = constants_.supervisor + cycles(as_double(k_workers) * fullest);
  cost.exchange = cycles(bytes / exchange_bytes_per_cycle_);
  cost.sync = 2.0 * superstep_sync_;
  cost.launch = constants_.launch;
  return cost;
}

namespace {

std::vector<std::int64_t> finest_first(std::vector<std::int64_t> splits) {
  std::reverse(splits.begin(), splits.end());
  return splits;
}

}  // namespace

PoolingPlan PoolingPlanner::search(const PoolingPass& pass, std::int64_t words) const {
  const std::int64_t groups = groups_of(pass, words);
  std::optional<PoolingPlan> best;
  const auto try_share = [&](const PoolingShare& share) {
    // Results are cleared by the six workers, a word in a turn: a bound from below.
    const Cycles least = cycles(as_double(share.positions() * share.groups * words));
    if (best && least >= best->cost.vertex + best->cost.exchange) return;
    const CostByPart cost = price(pass, share);
    if (!best || cost.total() < best->cost.total()) best = {share, cost};
  };
  // From the finest splits, so that coarse ones are seldom priced.
  for (const std::int64_t by_groups : finest_first(distinct_splits(groups, tiles_))) {
    for (const std::int64_t by_batch : finest_first(distinct_splits(pass.batch, tiles_ / by_groups))) {
      const std::int64_t tiles = tiles_ / (by_groups * by_batch);
      for (const std::int64_t by_rows : finest_first(distinct_splits(pass.output_height, tiles))) {
        const std::int64_t by_columns = std::min(tiles / by_rows, pass.output_width);
        try_share({words, divide_up(groups, by_groups), divide_up(pass.batch, by_batch),
                   divide_up(pass.output_height, by_rows), divide_up(pass.output_width, by_columns)});
      }
    }
  }
  return *best;
}

PoolingPlan PoolingPlanner::choose(const PoolingPass& pass) const {
  PoolingPlan best = search(pass, k_free_words.front());
  const PoolingPlan wider = search(pass, k_free_words.back());
  if (wider.cost.total() < best.cost.total()) best = wider;
  const bool enough = pass.channels * pass.element_bytes >= k_preferred_words * k_pooling_word;
  if (!enough) return best;
  const PoolingPlan preferred = search(pass, k_preferred_words);
  const Cycles fixed = best.cost.sync + best.cost.launch;
  const bool near = preferred.cost.total() - fixed < k_preference * (best.cost.total() - fixed);
  return near ? preferred : best;
}

const PoolingPlan& PoolingPlanner::plan(const PoolingPass& pass) const {
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = plans_.find(pass); found != plans_.end()) return found->second;
  }
  PODSIM_CHECK(pass.channels > 0 && pass.batch > 0 && pass.output_height > 0 && pass.output_width > 0 &&
                   pass.kernel_height > 0 && pass.kernel_width > 0 && pass.input_height > 0 && pass.input_width > 0,
               "an empty pooling");
  const PoolingPlan made = choose(pass);
  const std::unique_lock lock(mutex_);
  return plans_.try_emplace(pass, made).first->second;
}

}  // namespace podsim::ipu
