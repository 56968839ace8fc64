#pragma once
// Into how many parts an axis may be cut: one count for every distinct share, the least that gives it.

#include <algorithm>
#include <cstdint>
#include <vector>

namespace podsim::ipu {

// Of `count` things, at most `most` parts; ascending, from 1. None when `most` is 0.
inline std::vector<std::int64_t> distinct_splits(std::int64_t count, std::int64_t most) {
  std::vector<std::int64_t> splits;
  for (std::int64_t parts = 1; parts <= std::min(count, most);) {
    const std::int64_t share = (count + parts - 1) / parts;
    splits.push_back(parts);
    if (share == 1) break;
    parts = (count + share - 2) / (share - 1);
  }
  return splits;
}

}  // namespace podsim::ipu
