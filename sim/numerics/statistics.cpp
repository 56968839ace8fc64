#include "sim/numerics/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>

namespace podsim {
namespace {

std::vector<double> ranks_of(const std::vector<double>& values) {
  std::vector<std::size_t> order(values.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return values[a] < values[b]; });
  std::vector<double> ranks(values.size());
  for (std::size_t begin = 0; begin < order.size();) {
    std::size_t end = begin;
    while (end < order.size() && values[order[end]] == values[order[begin]]) ++end;
    const double shared = static_cast<double>(begin + end - 1) / 2;
    for (std::size_t i = begin; i < end; ++i) ranks[order[i]] = shared;
    begin = end;
  }
  return ranks;
}

}  // namespace

std::optional<double> spearman(const std::vector<std::pair<double, double>>& pairs) {
  std::vector<double> first;
  std::vector<double> second;
  for (const auto& [a, b] : pairs) {
    first.push_back(a);
    second.push_back(b);
  }
  first = ranks_of(first);
  second = ranks_of(second);
  const double mean = (static_cast<double>(pairs.size()) - 1) / 2;
  double covariance = 0;
  double variance_first = 0;
  double variance_second = 0;
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    covariance += (first[i] - mean) * (second[i] - mean);
    variance_first += (first[i] - mean) * (first[i] - mean);
    variance_second += (second[i] - mean) * (second[i] - mean);
  }
  if (!(variance_first > 0 && variance_second > 0)) return std::nullopt;
  return covariance / std::sqrt(variance_first * variance_second);
}

}  // namespace podsim
