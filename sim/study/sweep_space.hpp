#pragma once
// The points of a sweep: which value each key takes at which point. The same input gives the same points everywhere.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/study/sweep_axes.hpp"
#include "sim/study/sweep_condition.hpp"

namespace podsim {

enum class Sampling {
  grid,             // every combination, the last group varies fastest
  random,           // drawn evenly, none twice
  latin_hypercube,  // each group's values in equal strata, each stratum once (McKay, Beckman, Conover 1979)
};

struct SamplingPlan {
  Sampling kind = Sampling::grid;
  std::int64_t points = 0;  // to draw; not of a grid
  std::uint64_t seed = 1;
};

class SweepSpace {
 public:
  static constexpr std::int64_t k_uncountable = std::int64_t{1} << 62;

  // Groups are not empty. Throws ConfigError when the sampling cannot be had of these axes; its place is `place`.
  SweepSpace(std::vector<SweepGroup> groups, const SamplingPlan& plan, const Place& place);

  const std::vector<SweepGroup>& groups() const { return groups_; }
  const SamplingPlan& plan() const { return plan_; }
  const std::vector<std::string>& keys() const { return keys_; }
  std::int64_t size() const { return size_; }  // saturates at k_uncountable
  // One value per key.
  std::vector<Value> values(std::int64_t point) const;

 private:
  std::int64_t grid_size() const;
  std::size_t values_of(const SweepGroup& group) const { return group.axes.front().values.size(); }
  bool is_continuous() const;
  void draw_evenly();
  void draw_latin_hypercube();
  void choose(std::int64_t point, std::vector<double>& shares) const;
  void take(const SweepGroup& group, double share, std::vector<Value>& values) const;

  std::vector<SweepGroup> groups_;
  SamplingPlan plan_;
  Place place_;
  std::vector<std::string> keys_;
  std::vector<double> drawn_;  // shares by point and group; of a sampling
  std::int64_t size_ = 0;
};

}  // namespace podsim
