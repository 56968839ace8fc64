#pragma once
// Layers in their order on consecutive IPUs, so that the busiest of them has the least to do.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <optional>
#include <vector>

#include "sim/units/sim_time.hpp"

namespace podsim::ipu {

struct PartitionProblem {
  std::int64_t layers = 0;
  std::vector<std::int64_t> least;  // by part: layers that it has at least
  // Of `count` layers from `first` on, in part `part`; empty: they do not fit there.
  std::function<std::optional<SimTime>(std::size_t part, std::int64_t first, std::int64_t count)> time;
};

struct Partition {
  SimTime longest;                                // of its parts; no partition has a shorter one
  std::vector<std::vector<std::int64_t>> counts;  // by part; with layers as early as possible, then as late
};

// By dynamic programming over the first part that is not filled yet; empty: no partition fits.
std::optional<Partition> best_partition(const PartitionProblem& problem);

}  // namespace podsim::ipu
