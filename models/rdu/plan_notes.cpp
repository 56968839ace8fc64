#include "models/rdu/plan_notes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "models/rdu/memory.hpp"
#include "models/rdu/step_time.hpp"
#include "sim/units/text.hpp"

namespace podsim::rdu {
namespace {

constexpr double k_told = 1.01;  // a note is worth one percent

// All sections of a step, with the traffic of each as `memory` says.
template <class MemoryOf>
Duration sections_with(const RduPlan& plan, const MemoryOf& memory) {
  const CompiledGraph& compiled = plan.compiled;
  Duration total;
  for (std::size_t i = 0; i < compiled.work.size(); ++i) {
    const RduPhase phase = compiled.partition.sections[i].phase;
    const SectionTime time =
        section_time(compiled.work[i].flop, memory(compiled.work[i]), compiled.partition.factors.of(phase), plan.rates);
    total += time.total * static_cast<double>(calls_per_step(plan.setup, phase));
  }
  return total;
}

void add_mapping(const RduPlan& plan, std::vector<std::string>& notes) {
  const RduSetup& setup = plan.setup;
  if (plan.compiled.traffic_hidden) {
    notes.emplace_back(
        "a mapping made by hand is taken to hide all off-chip traffic behind products: assumed, two published runs of "
        "one model show no more; it is said of recomputation alone, so that without it a step may read slower, and "
        "memory is that of sections without recomputation");
  } else if (setup.human_decision && setup.training() && plan.model.layers > 0) {
    const Duration hidden = sections_with(plan, [](const SectionWork&) { return Duration(); });
    notes.push_back(fmt::format(
        "a mapping made by hand is published with recomputation alone: without it all off-chip traffic counts here, "
        "{} of sections; with all of it hidden, as with recomputation, they would take {}",
        format_time(section_sums(plan).total), format_time(hidden)));
  }
}

// "tensors between sections (74.5 GiB), optimizer state (9.1 GiB)": those that a step moves.
std::string kinds_in_ddr(const RduPlan& plan, const WorkloadSettings& settings) {
  static constexpr std::array k_moved = {k_weights, k_key_value_cache, k_tensors, k_optimizer_state};
  const Tiers tiers = spread(all_entries(plan, settings), plan.constants.chip.hbm->capacity_of(plan.allotment.chips));
  std::string text;
  for (const MemoryAccountEntry& entry : tiers.slow) {
    if (std::ranges::count(k_moved, entry.category) == 0) continue;
    text += fmt::format("{}{} ({})", text.empty() ? "" : ", ", entry.category, format_bytes(entry.bytes));
  }
  return text;
}

void add_tiers(const RduPlan& plan, const WorkloadSettings& settings, std::vector<std::string>& notes) {
  if (!plan.constants.chip.hbm) return;
  const std::string kinds = kinds_in_ddr(plan, settings);
  if (kinds.empty()) return;
  const std::string where =
      fmt::format("HBM has no room for {}: in DDR at {}", kinds, format_bandwidth(plan.allotment.ddr));
  if (plan.setup.fused_generation) {
    notes.push_back(where + ", where every token reads it");
    return;
  }
  const Duration now = section_sums(plan).total;
  const Duration fast =
      sections_with(plan, [&](const SectionWork& work) { return work.bytes().size() / plan.rates.memory; });
  if (now / fast < k_told) return;
  notes.push_back(
      fmt::format("{}, sections take {}, with all in HBM {}; a kind of memory stands in one tier, so that a "
                  "little more of it costs all of this at once",
                  where, format_time(now), format_time(fast)));
}

}  // namespace

std::vector<std::string> plan_notes(const RduPlan& plan, const WorkloadSettings& settings) {
  std::vector<std::string> notes;
  add_mapping(plan, notes);
  add_tiers(plan, settings, notes);
  return notes;
}

}  // namespace podsim::rdu
