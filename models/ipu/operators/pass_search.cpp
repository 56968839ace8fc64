#include "models/ipu/operators/pass_search.hpp"

#include <algorithm>
#include <array>
#include <span>
#include <utility>

#include "models/ipu/operators/pass_cost.hpp"
#include "models/ipu/operators/split_counts.hpp"

namespace podsim::ipu {

namespace {

// Splits of the input channels. Reductions of more parts than the usual ones have are not planned by the library; they
// are tried where no plan fits a tile without them.
constexpr std::array<std::int64_t, 18> k_usual_splits = {1,  2,  3,  4,  5,  6,  7,  8,  10,
                                                         12, 14, 16, 20, 24, 32, 40, 48, 64};
constexpr std::array<std::int64_t, 8> k_finer_splits = {96, 128, 192, 256, 384, 512, 768, 1024};
constexpr std::array<std::int64_t, 5> k_serial_steps = {1, 2, 4, 8, 16};

std::int64_t divide_up(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

// A candidate is kept unless one that was found earlier needs neither more temporary bytes nor more cycles.
class Front {
 public:
  bool dominates(std::int64_t bytes, Cycles cycle_count) const {
    const auto after = std::upper_bound(candidates_.begin(), candidates_.end(), bytes,
                                        [](std::int64_t b, const PassCandidate& c) { return b < c.temporary; });
    return after != candidates_.begin() && std::prev(after)->cycles <= cycle_count;
  }

  void add(const PassCandidate& candidate) {
    if (dominates(candidate.temporary, candidate.cycles)) return;
    const auto first = std::lower_bound(candidates_.begin(), candidates_.end(), candidate.temporary,
                                        [](const PassCandidate& c, std::int64_t b) { return c.temporary < b; });
    const auto last =
        std::find_if(first, candidates_.end(), [&](const PassCandidate& c) { return c.cycles < candidate.cycles; });
    candidates_.insert(candidates_.erase(first, last), candidate);
  }

  bool fits(Bytes bytes) const { return !candidates_.empty() && candidates_.front().temporary <= bytes.count(); }

  PassFront take() { return std::move(candidates_); }

 private:
  PassFront candidates_;
};

// The splits of one variant. Loops go from the splits that decide most (groups, channels) to those of the field; a
// bound from below spares the field of those that cannot join the front.
class VariantSearch {
 public:
  VariantSearch(const PassPricer& pricer, const PassVariant& variant, std::int64_t tiles,
                std::span<const std::int64_t> input_splits, Front& front)
      : pricer_(pricer),
        variant_(variant),
        tiles_(tiles),
        input_splits_(input_splits),
        front_(front),
        shape_(pricer.shape()) {}

  void run() {
    for (const std::int64_t groups : distinct_splits(shape_.pass.groups, tiles_)) {
      split_.groups = groups;
      if (shape_.sliding_window) {
        split_field(tiles_ / groups);
      } else {
        split_inner(tiles_ / groups);
      }
    }
  }

 private:
  void split_inner(std::int64_t tiles) {
    const std::vector<std::int64_t> output_splits = distinct_splits(shape_.output_grains, tiles);
    for (const std::int64_t input_split : input_splits_) {
      if (input_split > shape_.input_grains || input_split > tiles) break;
      split_.input_channels = input_split;
      split_.kernel_rows = 1;
      split_outputs(output_splits, tiles / input_split);
      if (shape_.kernel_rows == 1 || input_split * shape_.kernel_rows > tiles) continue;
      split_.kernel_rows = shape_.kernel_rows;
      split_outputs(output_splits, tiles / (input_split * shape_.kernel_rows));
    }
  }

  void split_outputs(const std::vector<std::int64_t>& output_splits, std::int64_t tiles) {
    for (auto split = output_splits.rbegin(); split != output_splits.rend(); ++split) {
      if (*split > tiles) continue;
      split_.output_channels = *split;
      std::int64_t before = 0;
      for (const std::int64_t steps : k_serial_steps) {
        if (steps > 1 && steps * *split > shape_.output_grains) break;
        split_.serial_steps = steps;
        const std::int64_t grains = divide_up(shape_.output_grains, *split * steps);
        if (grains == before) continue;
        before = grains;
        split_field(tiles / *split);
      }
    }
    split_.serial_steps = 1;
  }

  void split_field(std::int64_t tiles) {
    split_.batch = 1;
    split_.rows = 1;
    split_.columns = std::min(tiles, shape_.pass.output_width);
    if (shape_.flat) return try_split();
    const double positions = static_cast<double>(shape_.pass.positions()) / static_cast<double>(tiles);
    if (!shape_.sliding_window && hopeless(positions)) return;
    for (const std::int64_t batch : distinct_splits(shape_.pass.batch, tiles)) {
      split_.batch = batch;
      for (const std::int64_t rows : distinct_splits(shape_.pass.output_height, tiles / batch)) {
        split_.rows = rows;
        split_.columns = std::min(tiles / (batch * rows), shape_.pass.output_width);
        try_split();
      }
    }
  }

  bool hopeless(double positions) const {
    const CostByPart least = pricer_.least(split_, pricer_.share(split_), positions);
    return front_.dominates(least.temporary.count(), least.total());
  }

  void try_split() {
    const CostByPart cost = pricer_.price(split_, pricer_.share(split_));
    front_.add({cost.temporary.count(), cost.total(), variant_, split_});
  }

  const PassPricer& pricer_;
  const PassVariant& variant_;
  std::int64_t tiles_;
  std::span<const std::int64_t> input_splits_;
  Front& front_;
  const VariantShape& shape_;
  PassSplit split_;
};

}  // namespace

PassFront search_passes(const PassConstants& constants, const ChipConstants& chip, const PassShape& shape,
                        AmpMode mode) {
  Front front;
  const PassMode& of_mode = constants.modes[static_cast<std::size_t>(mode)];
  const auto search = [&](std::span<const std::int64_t> input_splits) {
    for (const PassVariant& variant : variants_of(shape, mode)) {
      const PassPricer pricer(constants, mode, chip.tiles, reshape(shape, variant, of_mode));
      VariantSearch(pricer, variant, chip.tiles, input_splits, front).run();
    }
  };
  search(k_usual_splits);
  if (!front.fits(chip.tile_memory)) search(k_finer_splits);
  return front.take();
}

}  // namespace podsim::ipu
