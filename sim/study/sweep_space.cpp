#include "sim/study/sweep_space.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <set>
#include <utility>

#include "sim/core/check.hpp"
#include "sim/core/random.hpp"

namespace podsim {
namespace {

constexpr std::int64_t k_dense = 4;  // a grid of at most so many times the points is shuffled whole

[[noreturn]] void refuse(const Place& place, const std::string& key, const std::string& problem,
                         const std::string& expected) {
  Diagnostics diagnostics;
  diagnostics.error(place, key, problem, expected);
  throw ConfigError(diagnostics);
}

template <class T>
void shuffle(std::vector<T>& values, Random& random) {
  for (std::size_t i = values.size(); i > 1; --i) std::swap(values[i - 1], values[random.below(i)]);
}

std::size_t index_at(double share, std::size_t count) {
  return std::min(static_cast<std::size_t>(share * static_cast<double>(count)), count - 1);
}

// In the middle of what stands for a value of `count`.
double share_of(std::size_t index, std::size_t count) {
  return (static_cast<double>(index) + 0.5) / static_cast<double>(count);
}

}  // namespace

SweepSpace::SweepSpace(std::vector<SweepGroup> groups, const SamplingPlan& plan, const Place& place)
    : groups_(std::move(groups)), plan_(plan), place_(place) {
  PODSIM_CHECK(!groups_.empty(), "a sweep without axes");
  for (const SweepGroup& group : groups_) {
    for (const SweepAxis& axis : group.axes) keys_.push_back(axis.key);
  }
  if (plan_.kind == Sampling::grid) {
    for (const SweepGroup& group : groups_) {
      const SweepAxis& axis = group.axes.front();
      if (axis.range) refuse(axis.range->place, "sweep.axes." + axis.key, "has no spacing", "step, count or factor");
    }
    size_ = grid_size();
    return;
  }
  if (plan_.points < 1) refuse(place_, "sweep.points", "is missing", "how many points are drawn");
  if (!is_continuous() && plan_.points > grid_size()) {
    refuse(place_, "sweep.points", fmt::format("{} points of {}", plan_.points, grid_size()),
           "at most as many as the grid has");
  }
  if (plan_.kind == Sampling::random)
    draw_evenly();
  else
    draw_latin_hypercube();
  size_ = static_cast<std::int64_t>(drawn_.size() / groups_.size());
}

bool SweepSpace::is_continuous() const {
  return std::any_of(groups_.begin(), groups_.end(),
                     [](const SweepGroup& group) { return group.axes.front().range.has_value(); });
}

std::int64_t SweepSpace::grid_size() const {
  std::int64_t size = 1;
  for (const SweepGroup& group : groups_) {
    const auto count = static_cast<std::int64_t>(values_of(group));
    if (count > k_uncountable / size) return k_uncountable;
    size *= count;
  }
  return size;
}

void SweepSpace::draw_evenly() {
  Random random(plan_.seed);
  const std::int64_t grid = is_continuous() ? k_uncountable : grid_size();
  if (grid <= k_dense * plan_.points) {
    std::vector<std::int64_t> all(static_cast<std::size_t>(grid));
    std::iota(all.begin(), all.end(), 0);
    shuffle(all, random);
    for (std::int64_t p = 0; p < plan_.points; ++p) choose(all[static_cast<std::size_t>(p)], drawn_);
    return;
  }
  std::set<std::vector<double>> taken;
  while (static_cast<std::int64_t>(taken.size()) < plan_.points) {
    std::vector<double> point;
    for (const SweepGroup& group : groups_) {
      const double share = random.unit();
      const std::size_t count = values_of(group);
      point.push_back(group.axes.front().range ? share : share_of(index_at(share, count), count));
    }
    if (taken.insert(point).second) drawn_.insert(drawn_.end(), point.begin(), point.end());
  }
}

void SweepSpace::draw_latin_hypercube() {
  Random random(plan_.seed);
  const auto count = static_cast<std::size_t>(plan_.points);
  std::vector<std::vector<double>> points(count, std::vector<double>(groups_.size()));
  for (std::size_t g = 0; g < groups_.size(); ++g) {
    std::vector<std::size_t> strata(count);
    std::iota(strata.begin(), strata.end(), std::size_t{0});
    shuffle(strata, random);
    const std::size_t values = values_of(groups_[g]);
    for (std::size_t p = 0; p < count; ++p) {
      const double share = (static_cast<double>(strata[p]) + random.unit()) / static_cast<double>(count);
      points[p][g] = groups_[g].axes.front().range ? share : share_of(index_at(share, values), values);
    }
  }
  // Lists of fewer values than points can meet in the same combination again: once is enough.
  std::set<std::vector<double>> taken;
  for (const std::vector<double>& point : points) {
    if (taken.insert(point).second) drawn_.insert(drawn_.end(), point.begin(), point.end());
  }
}

void SweepSpace::choose(std::int64_t point, std::vector<double>& shares) const {
  std::vector<double> reversed;
  for (std::size_t g = groups_.size(); g-- > 0;) {
    const auto count = static_cast<std::int64_t>(values_of(groups_[g]));
    reversed.push_back(share_of(static_cast<std::size_t>(point % count), static_cast<std::size_t>(count)));
    point /= count;
  }
  shares.insert(shares.end(), reversed.rbegin(), reversed.rend());
}

void SweepSpace::take(const SweepGroup& group, double share, std::vector<Value>& values) const {
  for (const SweepAxis& axis : group.axes) {
    values.push_back(axis.range ? value_in(*axis.range, share) : axis.values[index_at(share, axis.values.size())]);
  }
}

std::vector<Value> SweepSpace::values(std::int64_t point) const {
  PODSIM_CHECK(point >= 0 && point < size_, "a point outside of the sweep");
  std::vector<double> shares;
  if (plan_.kind == Sampling::grid) {
    choose(point, shares);
  } else {
    const std::size_t begin = static_cast<std::size_t>(point) * groups_.size();
    shares.assign(drawn_.begin() + static_cast<std::ptrdiff_t>(begin),
                  drawn_.begin() + static_cast<std::ptrdiff_t>(begin + groups_.size()));
  }
  std::vector<Value> values;
  values.reserve(keys_.size());
  for (std::size_t g = 0; g < groups_.size(); ++g) take(groups_[g], shares[g], values);
  return values;
}

}  // namespace podsim
