#pragma once
// Graphs that earlier plans of a sweep compiled: what points have in common that differ in replicas, accumulation,
// host, or the constants of rates.

#include <memory>
#include <mutex>
#include <vector>

#include "models/rdu/partition.hpp"
#include "models/rdu/rdu_plan.hpp"
#include "models/rdu/transformer_graph.hpp"
#include "sim/plan/family.hpp"

namespace podsim::rdu {

// All that a transformer's graph, its sections and their work depend on, without fusion rules of the user.
struct CompileKey {
  TransformerDescription share;
  StepRequest request;
  SectionCapacity capacity;
  OptimizationLevel level = OptimizationLevel::o3;
  ResourceFactors factors;
  bool built_in_rules = true;
  bool separate_attention = false;
  friend bool operator==(const CompileKey&, const CompileKey&) = default;
};

// Safe to use from several threads.
class CompiledGraphs final : public FamilyCache {
 public:
  // Without times, which depend on rates; null: there is none yet.
  std::shared_ptr<const CompiledGraph> find(const CompileKey& key);
  void keep(CompileKey key, std::shared_ptr<const CompiledGraph> graph);

 private:
  struct Entry {
    CompileKey key;
    std::shared_ptr<const CompiledGraph> graph;
  };
  std::mutex mutex_;
  std::vector<Entry> entries_;  // the newest last
};

}  // namespace podsim::rdu
