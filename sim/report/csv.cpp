// One line of headings and one row: for spreadsheets and sweeps. An empty cell means: not known or without meaning.

#include <fmt/format.h>

#include <charconv>
#include <string_view>

#include "sim/report/human.hpp"
#include "sim/report/report.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

std::string number(double value) {
  return format_number(value);
}

std::string number(const std::optional<double>& value) {
  return value ? number(*value) : "";
}

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
std::pair<std::string, double> fullest_memory(const Report& report) {
  std::pair<std::string, double> fullest{"", -1.0};
  for (const DeviceReport& device : report.devices) {
    for (const MemoryReport& memory : device.memories) {
      if (memory.limit.count() <= 0) continue;
      const double fill = 100.0 * static_cast<double>(memory.peak.count()) / static_cast<double>(memory.limit.count());
      if (fill > fullest.second) fullest = {memory.name, fill};
    }
  }
  return fullest;
}

void add_throughput(const Report& report, std::vector<std::string>& row) {
  if (!report.throughput) {
    row.insert(row.end(), 8, "");
    return;
  }
  const Throughput& t = *report.throughput;
  row.insert(row.end(),
             {number(t.samples_per_s), number(t.sequences_per_s), number(t.packs_per_s), number(t.tokens_per_s),
              number(t.images_per_s), number(t.samples_per_s_per_device), number(t.mfu_pct), number(t.hfu_pct)});
}

}  // namespace

std::vector<std::string> csv_header() {
  std::vector<std::string> header{"name",          "system",
                                  "software",      "model",
                                  "mode",          "fits",
                                  "why_not",       "micro_batch",
                                  "global_batch",  "samples_per_call",
                                  "devices",       "step_time_s",
                                  "samples_per_s", "sequences_per_s",
                                  "packs_per_s",   "tokens_per_s",
                                  "images_per_s",  "samples_per_s_per_device",
                                  "mfu_pct",       "hfu_pct",
                                  "cycle_time_s"};
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    header.push_back(std::string(name(static_cast<CostCategory>(c))) + "_s");
  }
  header.insert(header.end(), {"bottleneck", "bottleneck_pct", "fullest_memory", "fullest_memory_pct",
                               "training_time_s", "engine", "events"});
  return header;
}

std::vector<std::string> csv_row(const Report& report) {
  const bool ran = report.engine.has_value();
  std::vector<std::string> row{report.name,
                               report.system,
                               report.software,
                               report.model,
                               std::string(name(report.mode)),
                               report.verdict.fits() ? "true" : "false",
                               broken_limits(report.verdict),
                               std::to_string(report.batch.micro_batch),
                               std::to_string(report.batch.global_batch),
                               std::to_string(report.batch.samples_per_call),
                               std::to_string(report.batch.devices),
                               ran ? number(in_seconds(report.step_time)) : ""};
  add_throughput(report, row);
  row.push_back(report.cycle_time ? number(in_seconds(*report.cycle_time)) : "");
  for (const SimTime part : report.breakdown.part) row.push_back(ran ? number(in_seconds(part)) : "");
  const auto [memory, fill] = fullest_memory(report);
  row.insert(row.end(), {report.bottleneck, ran ? number(report.bottleneck_pct) : "", memory,
                         memory.empty() ? "" : number(fill), report.training ? number(report.training->time_s) : "",
                         ran ? report.engine->name : "", ran ? std::to_string(report.engine->events) : ""});
  return row;
}

namespace {

// A spreadsheet takes a text that begins so for a formula. Numbers may have a sign.
bool looks_like_formula(const std::string& cell) {
  if (cell.empty() || std::string_view("=+-@\t\r").find(cell.front()) == std::string_view::npos) return false;
  double number = 0;
  const char* const first = cell.data() + (cell.front() == '+' ? 1 : 0);
  const auto [end, error] = std::from_chars(first, cell.data() + cell.size(), number);
  return error != std::errc() || end != cell.data() + cell.size();
}

}  // namespace

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    const std::string cell = (looks_like_formula(cells[i]) ? "'" : "") + cells[i];
    if (cell.find_first_of(",\"\r\n") == std::string::npos) {
      line += cell;
      continue;
    }
    line += '"';
    for (const char c : cell) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + '\n';
}

std::string to_csv(const Report& report) {
  return csv_line(csv_header()) + csv_line(csv_row(report));
}

}  // namespace podsim
