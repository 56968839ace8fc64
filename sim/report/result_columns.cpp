#include "sim/report/result_columns.hpp"

#include <fmt/format.h>

#include <type_traits>
#include <utility>

#include "sim/core/check.hpp"
#include "sim/report/human.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

std::string broken_limits(const Verdict& verdict) {
  std::string text;
  for (const BrokenLimit& broken : verdict.broken) {
    if (!text.empty()) text += "; ";
    text += fmt::format("{} on {}: needs {}{}{}, has {}", broken.limit, broken.device, format_number(broken.need),
                        broken.unit.empty() ? "" : " ", broken.unit, format_number(broken.have));
  }
  return text;
}

// The memory with the largest share of its limit in use.
FullestMemory fullest_memory(const Report& report) {
  if (report.fullest_memory) return *report.fullest_memory;
  FullestMemory fullest;
  for (const DeviceReport& device : report.devices) {
    for (const MemoryReport& memory : device.memories) {
      if (memory.limit.count() <= 0) continue;
      const double fill = fill_pct(memory.peak, memory.limit);
      if (fill > fullest.fill_pct) fullest = {memory.name, fill};
    }
  }
  return fullest;
}

Cell number(const std::optional<double>& value) {
  return value ? Cell(*value) : Cell();
}

Cell seconds(bool known, SimTime time) {
  return known ? Cell(in_seconds(time)) : Cell();
}

void add_throughput(const Report& report, std::vector<Cell>& row) {
  if (!report.throughput) {
    row.insert(row.end(), 8, Cell());
    return;
  }
  const Throughput& t = *report.throughput;
  for (const std::optional<double>& value :
       {std::optional(t.samples_per_s), t.sequences_per_s, t.packs_per_s, t.tokens_per_s, t.images_per_s,
        std::optional(t.samples_per_s_per_device), std::optional(t.mfu_pct), std::optional(t.hfu_pct)}) {
    row.push_back(number(value));
  }
}

void add_loss_scale(const Report& report, std::vector<Cell>& row) {
  row.push_back(report.throughput ? number(report.throughput->effective_samples_per_s) : Cell());
  if (!report.loss_scaling) {
    row.insert(row.end(), 5, Cell());
    return;
  }
  const LossScaleOutlook& outlook = *report.loss_scaling;
  row.insert(row.end(), {outlook.scheme, std::string(name(outlook.verdict)), number(outlook.reached_scale),
                         100 * outlook.skipped_share, 100 * outlook.saturated_share});
}

std::vector<Column> make_columns() {
  std::vector<Column> columns{{"name", ""},
                              {"system", ""},
                              {"software", ""},
                              {"model", ""},
                              {"mode", ""},
                              {"fits", ""},
                              {"why_not", ""},
                              {"micro_batch", ""},
                              {"global_batch", ""},
                              {"samples_per_call", ""},
                              {"devices", ""},
                              {"step_time_s", "s"},
                              {"samples_per_s", "1/s"},
                              {"sequences_per_s", "1/s"},
                              {"packs_per_s", "1/s"},
                              {"tokens_per_s", "1/s"},
                              {"images_per_s", "1/s"},
                              {"samples_per_s_per_device", "1/s"},
                              {"mfu_pct", "%"},
                              {"hfu_pct", "%"},
                              {"cycle_time_s", "s"}};
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    columns.push_back({std::string(name(static_cast<CostCategory>(c))) + "_s", "s"});
  }
  columns.insert(columns.end(), {{"bottleneck", ""},
                                 {"bottleneck_pct", "%"},
                                 {"fullest_memory", ""},
                                 {"fullest_memory_pct", "%"},
                                 {"training_time_s", "s"},
                                 {"request_s", "s"},
                                 {"time_to_first_token_s", "s"},
                                 {"time_per_output_token_s", "s"},
                                 {"compile_estimate_s", "s"},
                                 {"effective_samples_per_s", "1/s"},
                                 {"loss_scale_scheme", ""},
                                 {"loss_scale_verdict", ""},
                                 {"reached_loss_scale", ""},
                                 {"skipped_updates_pct", "%"},
                                 {"saturated_updates_pct", "%"},
                                 {"engine", ""},
                                 {"events", ""},
                                 {"simulated_ps", "ps"}});
  return columns;
}

}  // namespace

const std::vector<Column>& result_columns() {
  static const std::vector<Column> k_columns = make_columns();
  return k_columns;
}

std::vector<Cell> result_cells(const Report& report) {
  std::vector<Cell> row;
  row.reserve(result_columns().size());
  add_result_cells(report, row);
  return row;
}

void add_result_cells(const Report& report, std::vector<Cell>& row) {
  const std::size_t before = row.size();
  const bool ran = report.engine.has_value();
  const auto add = [&](auto&&... cells) { (row.emplace_back(std::forward<decltype(cells)>(cells)), ...); };
  add(report.name, report.system, report.software, report.model, std::string(name(report.mode)), report.verdict.fits(),
      broken_limits(report.verdict), report.batch.micro_batch, report.batch.global_batch, report.batch.samples_per_call,
      report.batch.devices, seconds(ran, report.step_time));
  add_throughput(report, row);
  add(report.cycle_time ? Cell(in_seconds(*report.cycle_time)) : Cell());
  for (const SimTime part : report.breakdown.part) add(seconds(ran, part));
  const auto [memory, fill] = fullest_memory(report);
  const Latency latency = report.latency.value_or(Latency{});
  add(report.bottleneck, ran ? Cell(report.bottleneck_pct) : Cell(), memory, memory.empty() ? Cell() : Cell(fill),
      report.training ? Cell(report.training->time_s) : Cell(), number(latency.request_s),
      number(latency.time_to_first_token_s), number(latency.time_per_output_token_s),
      report.compile ? Cell(report.compile->estimate.in_base()) : Cell());
  add_loss_scale(report, row);
  add(ran ? Cell(report.engine->name) : Cell(), ran ? Cell(report.engine->events) : Cell(),
      ran ? Cell(report.engine->simulated.picoseconds()) : Cell());
  PODSIM_CHECK(row.size() - before == result_columns().size(), "a cell without a column");
}

std::string csv_text(const Cell& cell) {
  return std::visit(
      [](const auto& content) -> std::string {
        using Type = std::decay_t<decltype(content)>;
        if constexpr (std::is_same_v<Type, std::monostate>)
          return "";
        else if constexpr (std::is_same_v<Type, bool>)
          return content ? "true" : "false";
        else if constexpr (std::is_same_v<Type, double>)
          return format_number(content);
        else if constexpr (std::is_same_v<Type, std::int64_t>)
          return std::to_string(content);
        else
          return content;
      },
      cell);
}

}  // namespace podsim
