#include "models/rdu/compiled_graphs.hpp"

#include <algorithm>
#include <utility>

namespace podsim::rdu {
namespace {

constexpr std::size_t k_kept = 32;

}  // namespace

std::shared_ptr<const CompiledGraph> CompiledGraphs::find(const CompileKey& key) {
  const std::lock_guard lock(mutex_);
  const auto known = std::find_if(entries_.rbegin(), entries_.rend(), [&](const Entry& e) { return e.key == key; });
  return known != entries_.rend() ? known->graph : nullptr;
}

void CompiledGraphs::keep(CompileKey key, std::shared_ptr<const CompiledGraph> graph) {
  const std::lock_guard lock(mutex_);
  if (entries_.size() >= k_kept) entries_.erase(entries_.begin());
  entries_.push_back({std::move(key), std::move(graph)});
}

}  // namespace podsim::rdu
