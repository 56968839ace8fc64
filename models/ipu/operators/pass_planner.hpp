#pragma once
// How a convolution pass or a matmul is spread over the tiles of one IPU. For each shape and mode the search is done
// once and its Pareto front of temporary bytes against cycles is kept, so that a memory proportion is a binary search.

#include <compare>
#include <map>
#include <memory>
#include <shared_mutex>

#include "models/ipu/operators/pass_search.hpp"

namespace podsim::ipu {

// How the passes of one IPU are executed.
struct PassExecution {
  AmpMode mode = AmpMode::half_half;
  double proportion = 0.6;  // of tile memory that the temporaries of a pass may take
};

class PassPlanner {
 public:
  PassPlanner(const ChipConstants& chip, const PassConstants& constants);

  // The fastest plan whose temporary bytes stay within the proportion of a tile's memory; when none does, the one with
  // the least temporary bytes, as the library does. Dimensions must be at least 1. Safe to call from several threads.
  PassPlan plan(const PassShape& shape, const PassExecution& execution) const;
  // Among the plans within `tolerance` (0.05: 5 %) of that one the one with the least temporary bytes.
  PassPlan leanest_plan(const PassShape& shape, const PassExecution& execution, double tolerance) const;

  std::int64_t tiles() const { return chip_.tiles; }
  const PassMode& mode(AmpMode mode) const { return constants_.modes[static_cast<std::size_t>(mode)]; }

 private:
  struct Key {
    PassShape shape;
    AmpMode mode;
    friend auto operator<=>(const Key&, const Key&) = default;
  };

  // Found or searched; as many as a long sweep needs are kept.
  std::shared_ptr<const PassFront> front(const PassShape& shape, AmpMode mode) const;
  PassFront::const_iterator fastest(const PassFront& front, double proportion) const;
  PassPlan expand(const PassShape& shape, AmpMode mode, const PassCandidate& candidate) const;

  ChipConstants chip_;
  PassConstants constants_;
  mutable std::shared_mutex mutex_;
  mutable std::map<Key, std::shared_ptr<const PassFront>> fronts_;
};

}  // namespace podsim::ipu
