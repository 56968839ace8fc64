#include "models/rdu/report_tables.hpp"

#include <algorithm>
#include <array>

#include "models/rdu/lowering_generation.hpp"
#include "models/rdu/node.hpp"
#include "models/rdu/section_tables.hpp"
#include "models/rdu/serving.hpp"
#include "models/rdu/step_time.hpp"

namespace podsim::rdu {
namespace {

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

// What the time of a device's tiles goes to, in the words of the runtime's tile statistics.
struct TileShares {
  double execute = 0;
  double program_load = 0;
  double argument_load = 0;
  double idle = 0;  // waits for launches, other devices, the host
};

double share_pct(Duration time, const RunResult& result) {
  return result.total > SimTime() ? 100 * in_s(time) / in_s(result.total) : 0;
}

TileShares tile_shares(const RduPlan& plan, const RunResult& result, double slowdown) {
  const SectionSums sums = section_sums(plan, slowdown);
  const Duration busy = sums.execute + sums.program_load + sums.argument_load;
  const Duration idle = std::max(Duration(), result.total.duration() - busy);
  return {share_pct(sums.execute, result), share_pct(sums.program_load, result), share_pct(sums.argument_load, result),
          share_pct(idle, result)};
}

// Devices of one speed in one row.
Table share_table(const RduPlan& plan, const RunResult& result) {
  Table table;
  table.name = "tiles";
  table.columns = {{"device", ""},
                   {"alike", ""},
                   {"tiles", ""},
                   {"execute_pct", "%"},
                   {"program_load_pct", "%"},
                   {"argument_load_pct", "%"},
                   {"idle_pct", "%"}};
  std::vector<double> listed;
  for (std::size_t i = 0; i < plan.slowdown.size(); ++i) {
    const double slowdown = plan.slowdown[i];
    if (std::ranges::count(listed, slowdown) > 0) continue;
    listed.push_back(slowdown);
    const auto device = static_cast<std::int64_t>(i);
    const std::int64_t parts = plan.setup.parts;
    const TileShares shares = tile_shares(plan, result, slowdown);
    table.rows.push_back({part_name(plan, device / parts, device % parts),
                          static_cast<std::int64_t>(std::ranges::count(plan.slowdown, slowdown)),
                          plan.setup.tiles_per_part, shares.execute, shares.program_load, shares.argument_load,
                          shares.idle});
  }
  return table;
}

Table phase_table(const RduPlan& plan) {
  Table table;
  table.name = "graph types";
  table.columns = {{"graph_type", ""},    {"sections", ""},      {"unique_sections", ""}, {"flop", "flop"},
                   {"ddr_bytes", "byte"}, {"hbm_bytes", "byte"}, {"time_s", "s"},         {"compute_bound", ""},
                   {"memory_bound", ""},  {"launch_bound", ""}};
  const CompiledGraph& compiled = plan.compiled;
  for (const RduPhase phase : {RduPhase::forward, RduPhase::backward, RduPhase::gradient_norm, RduPhase::optimizer}) {
    std::int64_t sections = 0;
    std::int64_t unique = 0;
    std::array<std::int64_t, 3> bound{};
    double flop_count = 0;
    TierBytes bytes;
    Duration time;
    for (std::size_t i = 0; i < compiled.partition.sections.size(); ++i) {
      const RduSection& section = compiled.partition.sections[i];
      if (section.phase != phase) continue;
      ++sections;
      if (section.program == i) ++unique;
      ++bound[static_cast<std::size_t>(compiled.times[i].bound)];
      flop_count += compiled.work[i].flop.in_base();
      const TierBytes moved = plan.tiers.traffic(compiled.work[i], phase);
      bytes.ddr += moved.ddr;
      bytes.hbm += moved.hbm;
      time += compiled.times[i].total;
    }
    if (sections == 0) continue;
    const auto count = [&](SectionBound what) { return bound[static_cast<std::size_t>(what)]; };
    table.rows.push_back({std::string(phase_name(phase)), sections, unique, flop_count, bytes.ddr.count(),
                          bytes.hbm.count(), in_s(time), count(SectionBound::compute), count(SectionBound::memory),
                          count(SectionBound::issue)});
  }
  return table;
}

// Bytes over the memory ports of the first device, in a step.
void add_traffic(const RduPlan& plan, const Lowered& lowered, const RunResult& result,
                 std::vector<ReportedValue>& values) {
  const auto carried = [&](const std::string& port) {
    const auto& links = lowered.platform.links();
    const auto found = std::ranges::find(links, part_name(plan, 0, 0) + port, &Link::name);
    return static_cast<double>(result.links[static_cast<std::size_t>(found - links.begin())].bytes.count());
  };
  values.push_back({"ddr_traffic_bytes", "byte", carried("-ddr")});
  if (plan.constants.chip.hbm) values.push_back({"hbm_traffic_bytes", "byte", carried("-hbm")});
}

// The rate that micro-benchmarks publish.
void add_isolated(const IsolatedOperator& op, Duration time, std::vector<ReportedValue>& values) {
  const double rate = op.operations / in_s(time);
  if (op.flop > FlopCount()) {
    values.push_back({"achieved_tflops", "1e12/s", rate / 1e12});
  } else {
    values.push_back({"achieved_gops", "1e9/s", rate / 1e9});
  }
}

}  // namespace

std::vector<Table> report_tables(const RduPlan& plan, const Lowered&, const RunResult& result) {
  if (plan.setup.fused_generation) return {};
  std::vector<Table> tables{phase_table(plan), section_table(plan)};
  if (plan.setup.run != RunMode::generation) tables.insert(tables.begin(), share_table(plan, result));
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
    add_traffic(plan, lowered, result, values);
    return values;
  }
  values.push_back({"rdu_latency_s", "s", in_s(section_sums(plan).total)});
  if (setup.training()) values.push_back({"host_latency_s", "s", in_s(host_time(plan))});
  if (plan.isolated) add_isolated(*plan.isolated, section_sums(plan).total, values);
  const TileShares shares = tile_shares(plan, result, plan.slowdown.front());
  values.push_back({"tile_exec_pct", "%", shares.execute});
  values.push_back({"tile_program_load_pct", "%", shares.program_load});
  values.push_back({"tile_argument_load_pct", "%", shares.argument_load});
  values.push_back({"tile_idle_pct", "%", shares.idle});
  values.push_back({"total_sections", "", static_cast<double>(plan.compiled.partition.sections.size())});
  add_traffic(plan, lowered, result, values);
  return values;
}

}  // namespace podsim::rdu
