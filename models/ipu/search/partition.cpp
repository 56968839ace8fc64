#include "models/ipu/search/partition.hpp"

#include <algorithm>
#include <numeric>

namespace podsim::ipu {
namespace {

class Solver {
 public:
  explicit Solver(const PartitionProblem& problem) : problem_(problem) {
    const auto starts = static_cast<std::size_t>(problem.layers) + 1;
    longest_.assign(problem.least.size() + 1, std::vector<std::optional<SimTime>>(starts));
    longest_.back().back() = SimTime();
    for (std::size_t part = problem.least.size(); part-- > 0;) {
      const std::int64_t before = std::accumulate(
          problem.least.begin(), problem.least.begin() + static_cast<std::ptrdiff_t>(part), std::int64_t{0});
      for (std::int64_t first = before; first <= (part == 0 ? 0 : problem.layers); ++first) fill(part, first);
    }
  }

  std::optional<Partition> solve() const {
    const std::optional<SimTime> longest = behind(0, 0);
    if (!longest) return std::nullopt;
    Partition partition{*longest, {counts(*longest, true)}};
    std::vector<std::int64_t> late = counts(*longest, false);
    if (late != partition.counts.front()) partition.counts.push_back(std::move(late));
    return partition;
  }

 private:
  // Of part `part` and all behind it, with the layers from `first` on; empty: they have no room.
  std::optional<SimTime> behind(std::size_t part, std::int64_t first) const {
    return longest_[part][static_cast<std::size_t>(first)];
  }

  void fill(std::size_t part, std::int64_t first) {
    std::optional<SimTime>& best = longest_[part][static_cast<std::size_t>(first)];
    for (std::int64_t count = problem_.least[part]; first + count <= problem_.layers; ++count) {
      const std::optional<SimTime> others = behind(part + 1, first + count);
      if (!others || (best && *others >= *best)) continue;
      const std::optional<SimTime> own = problem_.time(part, first, count);
      if (!own) continue;
      const SimTime both = std::max(*own, *others);
      if (!best || both < *best) best = both;
    }
  }

  std::vector<std::int64_t> counts(SimTime longest, bool early) const {
    std::vector<std::int64_t> counts;
    std::int64_t first = 0;
    for (std::size_t part = 0; part < problem_.least.size(); ++part) {
      std::int64_t chosen = -1;
      for (std::int64_t count = problem_.least[part]; first + count <= problem_.layers; ++count) {
        const std::optional<SimTime> others = behind(part + 1, first + count);
        if (!others || *others > longest) continue;
        const std::optional<SimTime> own = problem_.time(part, first, count);
        if (!own || *own > longest) continue;
        chosen = count;
        if (!early) break;
      }
      counts.push_back(chosen);
      first += chosen;
    }
    return counts;
  }

  const PartitionProblem& problem_;
  std::vector<std::vector<std::optional<SimTime>>> longest_;  // by part, then first layer
};

}  // namespace

std::optional<Partition> best_partition(const PartitionProblem& problem) {
  return Solver(problem).solve();
}

}  // namespace podsim::ipu
