#include "models/rdu/section_tables.hpp"

#include <algorithm>
#include <numeric>

#include "models/rdu/section_rates.hpp"
#include "models/rdu/step_time.hpp"

namespace podsim::rdu {
namespace {

constexpr std::size_t k_listed_sections = 24;

const char* word(SectionBound bound) {
  switch (bound) {
    case SectionBound::compute:
      return "compute";
    case SectionBound::memory:
      return "off-chip memory";
    case SectionBound::issue:
      break;
  }
  return "launch";
}

// Of the memory units that the section's graph type may use. A section whose operators also run in the one before holds
// less than all that is counted in it.
double memory_share_pct(Bytes resident, const RduSection& section, const Partition& partition,
                        const SectionCapacity& capacity) {
  const double visible = capacity.sram.size().in_base() * partition.factors.of(section.phase);
  return 100 * std::min(1.0, resident.size().in_base() / visible);
}

Table table_of(const RduPlan& plan, const std::vector<std::size_t>& order) {
  const CompiledGraph& compiled = plan.compiled;
  const SectionCapacity capacity = section_capacity(plan.constants.section, plan.allotment);
  const std::vector<Bytes> resident = section_resident_bytes(compiled.graph, compiled.partition, capacity);
  Table table;
  table.name = k_sections_table;
  table.columns = {{"section", ""},  {"graph_type", ""},    {"name", ""},           {"time_s", "s"},
                   {"bound", ""},    {"stages", ""},        {"pcu_share_pct", "%"}, {"pmu_share_pct", "%"},
                   {"calls", ""},    {"load_s", "s"},       {"execute_s", "s"},     {"wait_s", "s"},
                   {"flop", "flop"}, {"ddr_bytes", "byte"}, {"hbm_bytes", "byte"}};
  for (const std::size_t i : order) {
    const RduSection& section = compiled.partition.sections[i];
    const SectionTime& time = compiled.times[i];
    const TierBytes bytes = plan.tiers.traffic(compiled.work[i], section.phase);
    table.rows.push_back({static_cast<std::int64_t>(i), std::string(phase_name(section.phase)), section.name,
                          time.total.in_base(), std::string(word(time.bound)),
                          static_cast<std::int64_t>(section.operators.size()), 100 * std::min(1.0, section.demand),
                          memory_share_pct(resident[i], section, compiled.partition, capacity),
                          calls_per_step(plan.setup, section.phase), time.loads.in_base(), time.execute.in_base(),
                          std::max(0.0, (time.total - time.loads - time.execute).in_base()),
                          compiled.work[i].flop.in_base(), bytes.ddr.count(), bytes.hbm.count()});
  }
  return table;
}

std::vector<std::size_t> all_sections(const RduPlan& plan) {
  std::vector<std::size_t> order(plan.compiled.partition.sections.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  return order;
}

Table stage_table(const RduPlan& plan) {
  const CompiledGraph& compiled = plan.compiled;
  Table table;
  table.name = "stages";
  table.view = k_sections_table;
  table.columns = {{"section", ""},        {"stage", ""}, {"operator", ""},    {"flop", "flop"},
                   {"pcu_share_pct", "%"}, {"pcus", ""},  {"per_piece_s", "s"}};
  for (std::size_t i = 0; i < compiled.partition.sections.size(); ++i) {
    const RduSection& section = compiled.partition.sections[i];
    const double factor = compiled.partition.factors.of(section.phase);
    const StageView view = section_stages(compiled.graph, section, factor, plan.rates, plan.allotment.pcus,
                                          plan.constants.section.tiles_per_call);
    for (std::size_t stage = 0; stage < view.stages.size(); ++stage) {
      const SectionStage& own = view.stages[stage];
      const RduOperator& op = compiled.graph[own.op];
      table.rows.push_back({static_cast<std::int64_t>(i), static_cast<std::int64_t>(stage), op.name, op.flop.in_base(),
                            100 * own.compute_share, own.units, own.per_tile.in_base()});
    }
  }
  return table;
}

}  // namespace

Table section_table(const RduPlan& plan) {
  std::vector<std::size_t> order = all_sections(plan);
  if (order.size() <= k_listed_sections) return table_of(plan, order);
  const std::vector<SectionTime>& times = plan.compiled.times;
  std::ranges::stable_sort(order, [&](std::size_t a, std::size_t b) { return times[a].total > times[b].total; });
  order.resize(k_listed_sections);
  Table table = table_of(plan, order);
  table.name = "longest sections";
  return table;
}

std::vector<Table> section_details(const RduPlan& plan) {
  if (plan.setup.fused_generation) return {};
  std::vector<Table> tables;
  const std::vector<std::size_t> order = all_sections(plan);
  if (order.size() > k_listed_sections) tables.push_back(table_of(plan, order));
  tables.push_back(stage_table(plan));
  return tables;
}

}  // namespace podsim::rdu
