#include "models/rdu/report_tables.hpp"

#include <algorithm>
#include <array>
#include <numeric>

#include "models/rdu/lowering.hpp"
#include "models/rdu/lowering_generation.hpp"
#include "models/rdu/serving.hpp"
#include "models/rdu/step_cost.hpp"

namespace podsim::rdu {
namespace {

constexpr std::size_t k_listed_sections = 24;

double in_s(SimTime time) {
  return time.duration().in_base();
}
double in_s(Duration time) {
  return time.in_base();
}

// Of the top-level repeat with this name, all its iterations; 0 when there is none.
SimTime repeat_duration(const Lowered& lowered, const RunResult& result, const std::string& name) {
  for (const ProgramBlock& block : lowered.program.blocks) {
    const auto* repeat = std::get_if<Repeat>(&block);
    if (repeat != nullptr && repeat->name == name) return block_duration(block, result);
  }
  return SimTime();
}

double host_s(const RduPlan& plan) {
  if (!plan.setup.training()) return 0;
  const HostConstants& host = plan.constants.host;
  return in_s(plan.setup.host == HostModel::profiled ? profiled_host_time(plan) : host.production_gap);
}

// Sections run once per accumulation step, but those of the update.
std::int64_t calls(const RduPlan& plan, const RduSection& section) {
  return section.phase >= RduPhase::gradient_norm ? 1 : plan.setup.gradient_accumulation_steps;
}

struct DeviceSums {
  Duration execute;
  Duration program_load;
  Duration argument_load;
  Duration total;
};

DeviceSums device_sums(const RduPlan& plan) {
  DeviceSums sums;
  const Partition& partition = plan.compiled.partition;
  for (std::size_t i = 0; i < partition.sections.size(); ++i) {
    const auto times = static_cast<double>(calls(plan, partition.sections[i]));
    sums.execute += plan.compiled.times[i].execute * times;
    sums.program_load += plan.rates.program_load * times;
    sums.argument_load += plan.rates.argument_load * times;
    sums.total += plan.compiled.times[i].total * times;
  }
  return sums;
}

// What a tile's time goes to, in the words of the runtime's tile statistics.
struct TileShare {
  const char* state;
  const char* value;
  double time;
};

std::vector<TileShare> tile_shares(const RduPlan& plan, const RunResult& result) {
  const DeviceSums sums = device_sums(plan);
  const double busy = in_s(sums.execute) + in_s(sums.program_load) + in_s(sums.argument_load);
  return {{"execute", "tile_exec_pct", in_s(sums.execute)},
          {"program load", "tile_program_load_pct", in_s(sums.program_load)},
          {"argument load", "tile_argument_load_pct", in_s(sums.argument_load)},
          {"idle", "tile_idle_pct", std::max(0.0, in_s(result.total) - busy)}};
}

double share_pct(double time, const RunResult& result) {
  return result.total > SimTime() ? 100 * time / in_s(result.total) : 0;
}

Table share_table(const RduPlan& plan, const RunResult& result) {
  Table table;
  table.name = "tiles";
  table.columns = {{"state", ""}, {"time_s", "s"}, {"share_pct", "%"}};
  for (const TileShare& share : tile_shares(plan, result)) {
    table.rows.push_back({std::string(share.state), share.time, share_pct(share.time, result)});
  }
  return table;
}

Table phase_table(const RduPlan& plan) {
  Table table;
  table.name = "graph types";
  table.columns = {{"graph_type", ""},    {"sections", ""},           {"unique_sections", ""},
                   {"flop", "flop"},      {"off_chip_bytes", "byte"}, {"time_s", "s"},
                   {"compute_bound", ""}, {"memory_bound", ""},       {"launch_bound", ""}};
  const CompiledGraph& compiled = plan.compiled;
  for (const RduPhase phase : {RduPhase::forward, RduPhase::backward, RduPhase::gradient_norm, RduPhase::optimizer}) {
    std::int64_t sections = 0;
    std::int64_t unique = 0;
    std::array<std::int64_t, 3> bound{};
    double flop_count = 0;
    Bytes bytes;
    Duration time;
    for (std::size_t i = 0; i < compiled.partition.sections.size(); ++i) {
      const RduSection& section = compiled.partition.sections[i];
      if (section.phase != phase) continue;
      ++sections;
      if (section.program == i) ++unique;
      ++bound[static_cast<std::size_t>(compiled.times[i].bound)];
      flop_count += compiled.work[i].flop.in_base();
      bytes += compiled.work[i].bytes();
      time += compiled.times[i].total;
    }
    if (sections == 0) continue;
    const auto count = [&](SectionBound what) { return bound[static_cast<std::size_t>(what)]; };
    table.rows.push_back({std::string(phase_name(phase)), sections, unique, flop_count, bytes.count(), in_s(time),
                          count(SectionBound::compute), count(SectionBound::memory), count(SectionBound::issue)});
  }
  return table;
}

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

// All of them, or the longest.
Table section_table(const RduPlan& plan) {
  const CompiledGraph& compiled = plan.compiled;
  std::vector<std::size_t> order(compiled.partition.sections.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  const bool some = order.size() > k_listed_sections;
  if (some) {
    std::ranges::stable_sort(
        order, [&](std::size_t a, std::size_t b) { return compiled.times[a].total > compiled.times[b].total; });
    order.resize(k_listed_sections);
  }
  const SectionCapacity capacity = section_capacity(plan.constants.section, plan.allotment);
  const std::vector<Bytes> resident = section_resident_bytes(compiled.graph, compiled.partition, capacity);
  Table table;
  table.name = some ? "longest sections" : "sections";
  table.columns = {
      {"section", ""}, {"graph_type", ""},     {"name", ""},           {"time_s", "s"},  {"bound", ""},
      {"stages", ""},  {"pcu_share_pct", "%"}, {"pmu_share_pct", "%"}, {"flop", "flop"}, {"off_chip_bytes", "byte"}};
  for (const std::size_t i : order) {
    const RduSection& section = compiled.partition.sections[i];
    table.rows.push_back({static_cast<std::int64_t>(i), std::string(phase_name(section.phase)), section.name,
                          in_s(compiled.times[i].total), std::string(word(compiled.times[i].bound)),
                          static_cast<std::int64_t>(section.operators.size()), 100 * std::min(1.0, section.demand),
                          memory_share_pct(resident[i], section, compiled.partition, capacity),
                          compiled.work[i].flop.in_base(), compiled.work[i].bytes().count()});
  }
  return table;
}

}  // namespace

std::vector<Table> report_tables(const RduPlan& plan, const Lowered&, const RunResult& result) {
  if (plan.setup.fused_generation) return {};
  std::vector<Table> tables{phase_table(plan), section_table(plan)};
  if (plan.setup.training()) tables.insert(tables.begin(), share_table(plan, result));
  return tables;
}

std::vector<ReportedValue> report_values(const RduPlan& plan, const Lowered& lowered, const RunResult& result) {
  std::vector<ReportedValue> values;
  const RduSetup& setup = plan.setup;
  if (setup.run == RunMode::generation) {
    // A request also waits for its model.
    const Duration loaded = setup.switch_every_request ? expert_switch_time(plan) : Duration();
    const double first = in_s(loaded) + in_s(repeat_duration(lowered, result, k_prefill));
    const double tokens = in_s(repeat_duration(lowered, result, k_tokens));
    const auto outputs = static_cast<double>(setup.output_tokens);
    const auto batch = static_cast<double>(setup.batch);
    values.push_back({"time_to_first_token_s", "s", first});
    values.push_back({"time_per_output_token_s", "s", tokens / outputs});
    values.push_back({"output_tokens_per_s", "1/s", batch * outputs / tokens});
    values.push_back({"output_tokens_per_s_per_user", "1/s", outputs / tokens});
    values.push_back({"total_tokens_per_s", "1/s",
                      batch * static_cast<double>(setup.input_tokens + setup.output_tokens) / in_s(result.total)});
    if (setup.fused_generation) {
      const ExpertCapacity capacity = expert_capacity(expert_weights(plan), setup.parts, plan.constants.chip);
      values.push_back({"model_switch_time_s", "s", in_s(expert_switch_time(plan))});
      values.push_back({"experts_in_hbm", "", static_cast<double>(capacity.in_hbm)});
      values.push_back({"experts_in_ddr", "", static_cast<double>(capacity.in_ddr)});
    }
    return values;
  }
  values.push_back({"rdu_latency_s", "s", in_s(device_sums(plan).total)});
  if (setup.training()) values.push_back({"host_latency_s", "s", host_s(plan)});
  if (setup.training()) {
    for (const TileShare& share : tile_shares(plan, result)) {
      values.push_back({share.value, "%", share_pct(share.time, result)});
    }
  }
  if (plan.isolated) {
    const double rate = plan.isolated->operations / in_s(device_sums(plan).total);
    const bool product = plan.isolated->flop > FlopCount();
    values.push_back(
        {product ? "achieved_tflops" : "achieved_gops", product ? "1e12/s" : "1e9/s", rate / (product ? 1e12 : 1e9)});
  }
  values.push_back({"total_sections", "", static_cast<double>(plan.compiled.partition.sections.size())});
  return values;
}

}  // namespace podsim::rdu
