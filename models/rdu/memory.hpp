#pragma once
// What lives where: weights, optimizer state and gradients throughout; tensors between sections from the section that
// makes them to the last that reads them; what a section keeps on chip.

#include <cstdint>
#include <vector>

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/verdict.hpp"

namespace podsim::rdu {

inline constexpr const char* k_weights = "weights";
inline constexpr const char* k_optimizer_state = "optimizer state";
inline constexpr const char* k_gradients = "gradients";
inline constexpr const char* k_key_value_cache = "key-value cache";
inline constexpr const char* k_experts = "models to switch to";
inline constexpr const char* k_tensors = "tensors between sections";

// Off-chip tensors of a graph by section: bytes that appear when it starts and vanish when it has finished. Weights,
// their gradients and a cache are not among them; what the model returns is handed over behind its section.
struct GraphMemory {
  std::vector<Bytes> begins;
  std::vector<Bytes> ends;
  Bytes peak;
};
GraphMemory tensor_memory(const OperatorGraph& graph, const Partition& partition);

// Bytes per parameter that live throughout, by kind: bf16 weights; in training single-precision weights and the
// moments of the optimizer, and bf16 gradients.
struct ResidentBytes {
  std::int64_t weight = 2;
  std::int64_t state = 0;
  std::int64_t gradient = 0;
};
ResidentBytes resident_bytes(const RduSetup& setup, const WorkloadSettings& settings);

// Bytes per weight that an update moves besides reading the gradient: its state read and written, the bf16 weight
// written. Norms of weights (LAMB, LARS) would be read anew: how often is not known, they are not counted.
std::int64_t update_bytes(const WorkloadSettings& settings);

// Of one part, in the order of reports; those that always live.
std::vector<MemoryAccountEntry> resident_entries(const RduPlan& plan, const WorkloadSettings& settings);

// With the peak of the tensors between sections.
std::vector<MemoryAccountEntry> all_entries(const RduPlan& plan, const WorkloadSettings& settings);

// What stands in high-bandwidth memory and what in DDR.
struct Tiers {
  std::vector<MemoryAccountEntry> fast;
  std::vector<MemoryAccountEntry> slow;
};
Tiers spread(std::vector<MemoryAccountEntry> entries, Bytes fast_capacity);

MemoryAccount account_memory(const RduPlan& plan, const WorkloadSettings& settings);

// Every part's broken tier, with need and have; operators that no section can hold.
Verdict judge(const RduPlan& plan, const MemoryAccount& account);

}  // namespace podsim::rdu
