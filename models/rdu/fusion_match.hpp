#pragma once
// Where fusion rules match a graph, and so what o1 fuses. Rules are matched to the traced forward; recomputed operators
// follow their first run. Backward sections mirror the forward: each match has one for every product in it, or for its
// attention, as the built-in rules have. An operator is not divided: it goes whole to the first match that
// includes a part of it.

#include <cstdint>
#include <vector>

#include "models/rdu/fusion_rules.hpp"
#include "models/rdu/operator_graph.hpp"
#include "models/rdu/partition.hpp"

namespace podsim::rdu {

struct FusionOptions {
  bool separate_projections = false;  // see trace_forward
  bool built_in = true;               // what no rule takes is fused by the built-in rules; else it stands alone
};

// What became of a rule.
struct RuleUse {
  std::int64_t matches = 0;
  std::int64_t cut = 0;     // of these, whose operators do not follow each other: several sections
  bool overlapped = false;  // without a match, as rules of higher priority took the operators
  bool gave_up = false;     // it stands for too many patterns, or the search grew too long
};

struct Fusion {
  std::vector<FusedPattern> patterns;  // of every operator of the graph
  std::vector<RuleUse> uses;           // by rule
};

Fusion apply_fusion_rules(const OperatorGraph& graph, const std::vector<FusionRule>& rules,
                          const FusionOptions& options);

}  // namespace podsim::rdu
