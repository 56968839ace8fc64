#include "models/loss_scaling/lazy_table.hpp"

#include <algorithm>
#include <cmath>

namespace podsim::loss_scaling {
namespace {

constexpr double k_lowest = -160;
constexpr double k_highest = 260;
constexpr int k_per_octave = 16;
constexpr int k_nodes = 420 * k_per_octave + 1;

}  // namespace

LazyTable::LazyTable(std::function<double(double)> function)
    : function_(std::move(function)),
      nodes_(static_cast<std::size_t>(k_nodes), -1),
      logs_(static_cast<std::size_t>(k_nodes)) {}

double LazyTable::operator()(double octaves) {
  const double place = (std::clamp(octaves, k_lowest, k_highest) - k_lowest) * k_per_octave;
  const int left = std::clamp(static_cast<int>(place), 1, k_nodes - 3);
  const double t = place - left;
  const double y1 = node(left);
  const double y2 = node(left + 1);
  if (y1 == 0 && y2 == 0) return 0;
  if (node(left - 1) == 0 || y1 == 0 || y2 == 0 || node(left + 2) == 0) return y1 + (y2 - y1) * t;
  const double a = log_of_node(left - 1);
  const double b = log_of_node(left);
  const double c = log_of_node(left + 1);
  const double d = log_of_node(left + 2);
  return std::exp(b + t / 2 * (c - a + t * (2 * a - 5 * b + 4 * c - d + t * (3 * (b - c) + d - a))));
}

double LazyTable::node(int index) {
  const auto i = static_cast<std::size_t>(index);
  if (nodes_[i] < 0) {
    nodes_[i] = function_(k_lowest + static_cast<double>(index) / k_per_octave);
    logs_[i] = std::log(nodes_[i]);
  }
  return nodes_[i];
}

double LazyTable::log_of_node(int index) {
  return logs_[static_cast<std::size_t>(index)];
}

}  // namespace podsim::loss_scaling
