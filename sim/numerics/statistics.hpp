#pragma once
// Statistics of paired series.

#include <optional>
#include <utility>
#include <vector>

namespace podsim {

// Spearman's rank correlation: Pearson's correlation of the ranks, equal values sharing the mean of theirs. Empty with
// fewer than two pairs or when one side is constant.
std::optional<double> spearman(const std::vector<std::pair<double, double>>& pairs);

}  // namespace podsim
