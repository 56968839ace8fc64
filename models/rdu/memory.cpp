#include "models/rdu/memory.hpp"

#include <algorithm>
#include <array>

#include "models/rdu/node.hpp"

namespace podsim::rdu {
namespace {

constexpr std::int64_t k_single = 4;
constexpr std::int64_t k_bf16 = 2;

std::int64_t moment_bytes(const WorkloadSettings& settings) {
  if (settings.optimizer == "sgd") return 0;
  if (settings.optimizer == "sgd-momentum" || settings.optimizer == "lars") return k_single;
  return 2 * k_single;
}

Bytes cache_bytes(const RduPlan& plan) {
  const TransformerDescription& share = plan.share;
  return Bytes(2 * k_bf16 * share.layers * share.kv_width()) * plan.setup.static_length * plan.setup.batch;
}

// The one that runs, too, has its place in DDR. There they need no copies of what the parts do not share.
Bytes stored_experts(const RduPlan& plan, std::int64_t bytes_per_weight) {
  const std::int64_t parts = plan.setup.parts;
  const std::int64_t all = bytes_per_weight * plan.parameter_count() * plan.setup.experts;
  return Bytes((all + parts - 1) / parts);
}

double bytes(Bytes size) {
  return static_cast<double>(size.count());
}

void add(std::vector<MemoryAccountEntry>& entries, const char* category, Bytes bytes, bool always_live = true) {
  if (bytes > Bytes()) entries.push_back({category, bytes, always_live});
}

bool feeds_update(const OperatorGraph& graph, const RduTensor& tensor) {
  return !tensor.consumers.empty() && graph[tensor.consumers.back()].phase >= RduPhase::gradient_norm;
}

// Off-chip memory is filled by what moves most bytes per byte held: weights and the cache of every token, then tensors
// of a step, gradients, and the optimizer's state last. A kind stands in one tier.
int order_of(const std::string& category) {
  constexpr std::array k_order = {k_weights, k_key_value_cache, k_tensors, k_gradients, k_optimizer_state};
  return static_cast<int>(std::ranges::find(k_order, category) - k_order.begin());
}

}  // namespace

Tiers spread(std::vector<MemoryAccountEntry> entries, Bytes fast_capacity) {
  std::ranges::stable_sort(entries, {}, [](const MemoryAccountEntry& entry) { return order_of(entry.category); });
  Tiers tiers;
  Bytes used;
  for (MemoryAccountEntry& entry : entries) {
    const bool fits = entry.category != k_experts && entry.bytes <= fast_capacity - used;
    if (fits) used += entry.bytes;
    (fits ? tiers.fast : tiers.slow).push_back(std::move(entry));
  }
  return tiers;
}

GraphMemory tensor_memory(const OperatorGraph& graph, const Partition& partition) {
  const std::vector<std::uint32_t> section_of = section_of_operators(graph, partition);
  GraphMemory memory;
  memory.begins.resize(partition.sections.size());
  memory.ends.resize(partition.sections.size());
  for (const RduTensor& tensor : graph.tensors) {
    // Inputs (labels, a cache) and gradients live elsewhere in the account.
    if (!tensor.producer.valid() || feeds_update(graph, tensor)) continue;
    const std::uint32_t first = section_of[tensor.producer.index()];
    const std::uint32_t last = tensor.consumers.empty() ? first : section_of[tensor.consumers.back().index()];
    if (last == first && !tensor.model_output) continue;  // it never leaves the chip
    memory.begins[first] += tensor.bytes;
    memory.ends[std::max(first, last)] += tensor.bytes;
  }
  Bytes live;
  for (std::size_t section = 0; section < memory.begins.size(); ++section) {
    live += memory.begins[section];
    memory.peak = std::max(memory.peak, live);
    live -= memory.ends[section];
  }
  return memory;
}

ResidentBytes resident_bytes(const RduSetup& setup, const WorkloadSettings& settings) {
  ResidentBytes bytes;
  if (!setup.training()) return bytes;
  bytes.state = k_single + moment_bytes(settings);
  bytes.gradient = k_bf16;
  return bytes;
}

std::int64_t update_bytes(const WorkloadSettings& settings) {
  return 2 * (k_single + moment_bytes(settings)) + k_bf16;
}

std::vector<MemoryAccountEntry> resident_entries(const RduPlan& plan, const WorkloadSettings& settings) {
  const ResidentBytes per_parameter = resident_bytes(plan.setup, settings);
  const std::int64_t parameters = plan.share_parameters();
  std::vector<MemoryAccountEntry> entries;
  add(entries, k_weights, Bytes(per_parameter.weight) * parameters);
  add(entries, k_optimizer_state, Bytes(per_parameter.state) * parameters);
  add(entries, k_gradients, Bytes(per_parameter.gradient) * parameters);
  if (plan.setup.experts > 1) add(entries, k_experts, stored_experts(plan, per_parameter.weight));
  if (plan.setup.run == RunMode::generation) add(entries, k_key_value_cache, cache_bytes(plan));
  return entries;
}

std::vector<MemoryAccountEntry> all_entries(const RduPlan& plan, const WorkloadSettings& settings) {
  std::vector<MemoryAccountEntry> entries = resident_entries(plan, settings);
  Bytes tensors;
  for (const CompiledGraph* graph : {&plan.compiled, &plan.token}) {
    if (!graph->graph.operators.empty()) {
      tensors = std::max(tensors, tensor_memory(graph->graph, graph->partition).peak);
    }
  }
  add(entries, k_tensors, tensors, false);
  return entries;
}

MemoryAccount account_memory(const RduPlan& plan, const WorkloadSettings& settings) {
  const std::vector<MemoryAccountEntry> entries = all_entries(plan, settings);
  MemoryAccount account;
  const ChipConstants& chip = plan.constants.chip;
  const double share = static_cast<double>(plan.setup.tiles_per_part) / static_cast<double>(chip.tiles);
  const auto tier = [&](const OffChipMemory& memory) { return memory.capacity_of(share); };
  for (std::int64_t replica = 0; replica < plan.setup.replicas; ++replica) {
    for (std::int64_t part = 0; part < plan.setup.parts; ++part) {
      const std::string device = part_name(plan, replica, part);
      const Bytes ddr = tier(chip.ddr);
      if (!chip.hbm) {
        account.memories.push_back({device + ".ddr", device, ddr, ddr, entries});
        continue;
      }
      const Bytes hbm = tier(*chip.hbm);
      Tiers tiers = spread(entries, hbm);
      account.memories.push_back({device + ".ddr", device, ddr, ddr, std::move(tiers.slow)});
      account.memories.push_back({device + ".hbm", device, hbm, hbm, std::move(tiers.fast)});
    }
  }
  return account;
}

Verdict judge(const RduPlan& plan, const MemoryAccount& account) {
  Verdict verdict;
  for (const DeviceMemoryAccount& memory : account.memories) {
    if (memory.total() <= memory.limit) continue;
    const bool fast = memory.memory.ends_with(".hbm");
    verdict.broken.push_back(
        {memory.device, fast ? "HBM" : "DDR", bytes(memory.total()), bytes(memory.limit), "byte", ""});
  }
  if (const auto& failure = plan.compiled.partition.failure) {
    const std::string& where = plan.compiled.graph[failure->op].name;
    verdict.broken.push_back({part_name(plan, 0, 0), "on-chip memory of a section for operator \"" + where + "\"",
                              bytes(failure->need), bytes(failure->have), "byte", ""});
  }
  return verdict;
}

}  // namespace podsim::rdu
