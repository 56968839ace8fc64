// The report for people: first what matters, in at most twelve lines, then tables. At most 100 columns wide. It holds
// no wall time, so that two equal runs print equal bytes.

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/report/human.hpp"
#include "sim/report/loss_scale_text.hpp"
#include "sim/report/phrases.hpp"
#include "sim/report/report.hpp"
#include "sim/report/text_table.hpp"
#include "sim/report/uncertainty_format.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_width = 100;
constexpr std::size_t k_label = 13;      // width of the labels in the head
constexpr std::size_t k_most_rows = 16;  // of a table; what is beyond is counted

// A bar of up to twenty columns.
std::string bar(double percent) {
  const double clamped = std::clamp(percent, 0.0, 100.0);
  const auto halves = static_cast<std::size_t>(clamped * 0.4 + 0.5);
  std::string text;
  for (std::size_t i = 0; i < halves / 2; ++i) text += "█";
  return text + (halves % 2 != 0 ? "▌" : "");
}

std::string line_of_head(std::string_view label, const std::string& content) {
  std::string text = "  " + std::string(label);
  text.resize(k_label + 2, ' ');
  return text + wrapped(content, k_width - k_label - 2, k_label + 2) + '\n';
}

std::string heading(const std::string& text) {
  return '\n' + fit_width(text, k_width) + '\n';
}

std::string with_rest(std::size_t left_out, std::string_view of_what) {
  return left_out == 0 ? "" : fmt::format("  … and {} more {}\n", left_out, of_what);
}

std::string lines_text(const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) text += "  " + wrapped(line, k_width - 2, 4) + '\n';
  return text;
}

std::string head(const Report& report) {
  std::string text = fit_width(report.name.empty() ? "podsim" : printable(report.name), k_width) + '\n';
  text += fit_width(printable(subtitle_text(report)), k_width) + "\n\n";
  for (const HeadLine& line : head_lines(report)) text += line_of_head(line.label, line.content);
  return text;
}

std::string broken_limits(const Verdict& verdict) {
  if (verdict.broken.size() < 2) return "";
  std::vector<std::string> lines = broken_limit_lines(verdict);
  const std::string remedy = shared_remedy(verdict);
  if (lines.size() > 1 && !remedy.empty()) lines.push_back("for all of them, try " + remedy);
  return heading("Why it does not fit") + lines_text(lines);
}

std::string batch_text(const Report& report) {
  return heading("Batch and schedule") + lines_text(batch_lines(report));
}

std::string breakdown_text(const Report& report) {
  if (!report.engine || report.step_time == SimTime()) return "";
  TextTable table;
  table.column("", Align::left);
  table.column("", Align::right);
  table.column("", Align::right);
  table.column("", Align::left);
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    const SimTime part = report.breakdown.part[c];
    if (part == SimTime()) continue;
    const double share = percent_of(part, report.step_time);
    table.row({spoken(static_cast<CostCategory>(c)), format_time(part), human_percent(share), bar(share)});
  }
  return heading("Where the time goes (" + report.busiest_device + ", one step)") + table.text();
}

// Rows that show the same for several things are printed once, with their number.
struct Grouped {
  std::string first;
  std::size_t members = 0;
  std::vector<std::string> cells;
};

void add_to_groups(std::vector<Grouped>& groups, const std::string& first, std::vector<std::string> cells) {
  for (Grouped& group : groups) {
    if (group.cells != cells) continue;
    ++group.members;
    return;
  }
  groups.push_back({first, 1, std::move(cells)});
}

std::string group_name(const Grouped& group) {
  if (group.members == 1) return fit_width(group.first, 40);
  return fmt::format("{} and {} alike", fit_width(group.first, 40), group.members - 1);
}

std::string table_of_groups(TextTable table, const std::vector<Grouped>& groups, std::string_view of_what) {
  const std::size_t shown = std::min(groups.size(), k_most_rows);
  std::size_t left_out = 0;
  for (std::size_t g = 0; g < groups.size(); ++g) {
    if (g >= shown) {
      left_out += groups[g].members;
      continue;
    }
    std::vector<std::string> cells{group_name(groups[g])};
    cells.insert(cells.end(), groups[g].cells.begin(), groups[g].cells.end());
    table.row(std::move(cells));
  }
  return table.text(k_width) + with_rest(left_out, of_what);
}

// The categories worth a column: those with time on any device, at most six, the largest first chosen.
std::vector<CostCategory> shown_categories(const Report& report) {
  CostVector sum;
  for (const DeviceReport& device : report.devices) sum += device.breakdown;
  std::vector<std::size_t> order(k_cost_categories);
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return sum.part[a] > sum.part[b]; });
  std::erase_if(order, [&](std::size_t c) { return sum.part[c] == SimTime(); });
  if (order.size() > 6) order.resize(6);
  std::sort(order.begin(), order.end());
  std::vector<CostCategory> categories;
  for (const std::size_t c : order) categories.push_back(static_cast<CostCategory>(c));
  return categories;
}

std::string devices_text(const Report& report) {
  if (!report.engine || report.devices.empty()) return "";
  const std::vector<CostCategory> categories = shown_categories(report);
  TextTable table;
  table.column("", Align::left);
  table.column("busy", Align::right);
  for (const CostCategory category : categories) table.column(spoken(category), Align::right);
  std::vector<Grouped> groups;
  for (const DeviceReport& device : report.devices) {
    if (device.breakdown.total() == SimTime()) continue;
    std::vector<std::string> cells{human_percent(device.utilisation_pct)};
    for (const CostCategory category : categories) {
      cells.push_back(human_percent(percent_of(device.breakdown[category], report.step_time)));
    }
    add_to_groups(groups, device.id, std::move(cells));
  }
  if (groups.empty()) return "";
  return heading("Devices (share of the step)") + table_of_groups(std::move(table), groups, "devices");
}

std::string memories_text(const Report& report) {
  TextTable table;
  table.column("", Align::left);
  table.column("always live", Align::right);
  table.column("need", Align::right);
  table.column("limit", Align::right);
  table.column("fill", Align::right);
  table.column("", Align::left);
  std::vector<Grouped> groups;
  for (const DeviceReport& device : report.devices) {
    for (const MemoryReport& memory : device.memories) {
      const double fill = percent_of(memory.peak, memory.limit);
      add_to_groups(groups, memory.name,
                    {format_bytes(memory.always_live), format_bytes(memory.peak), format_bytes(memory.limit),
                     human_percent(fill), bar(fill) + (memory.peak > memory.limit ? " over" : "")});
    }
  }
  if (groups.empty()) return "";
  std::string text = heading("Memory") + table_of_groups(std::move(table), groups, "memories");
  const MemoryReport* fullest = fullest_memory(report);
  if (fullest == nullptr || fullest->categories.empty()) return text;
  auto parts = fullest->categories;
  std::stable_sort(parts.begin(), parts.end(), [](const auto& a, const auto& b) { return a.second > b.second; });
  std::string line = fmt::format("In {}{}:", fullest->name, report.engine ? " at its peak" : "");
  for (std::size_t i = 0; i < parts.size() && i < 8; ++i) {
    line += fmt::format("{} {} {}", i == 0 ? "" : ",", parts[i].first, format_bytes(parts[i].second));
  }
  return text + "  " + wrapped(line, k_width - 2, 4) + '\n';
}

std::string links_text(const Report& report) {
  std::vector<LinkReport> links;
  for (const LinkReport& link : report.links) {
    if (link.bytes > Bytes() || link.busy_pct > 0) links.push_back(link);
  }
  if (links.empty()) return "";
  std::stable_sort(links.begin(), links.end(), [](const auto& a, const auto& b) { return a.busy_pct > b.busy_pct; });
  TextTable table;
  table.column("", Align::left);
  table.column("carried", Align::right);
  table.column("busy", Align::right);
  table.column("", Align::left);
  std::vector<Grouped> groups;
  for (const LinkReport& link : links) {
    add_to_groups(groups, link.name, {format_bytes(link.bytes), human_percent(link.busy_pct), bar(link.busy_pct)});
  }
  return heading("Links (one program run)") + table_of_groups(std::move(table), groups, "links");
}

std::string training_text(const std::optional<TimeToTrain>& training) {
  return training ? heading("Time to train") + lines_text({training_line(*training)}) : "";
}

std::string latency_text(const Report& report) {
  return report.latency ? heading("Latency") + lines_text(latency_lines(report)) : "";
}

std::string values_text(const std::vector<ReportedValue>& values) {
  if (values.empty()) return "";
  TextTable table;
  table.column("value", Align::left);
  table.column("", Align::right);
  for (const ReportedValue& value : values) {
    const bool time = value.unit == "s";
    table.row({value.name, time ? format_time(to_sim_time(seconds(value.value))) : human_number(value.value)});
  }
  return heading("Further values") + table.text(k_width);
}

std::string paragraphs_text(const char* title, const std::vector<std::string>& paragraphs) {
  if (paragraphs.empty()) return "";
  std::string text = heading(title);
  for (const std::string& paragraph : paragraphs) text += "  " + wrapped(paragraph, k_width - 2, 4) + '\n';
  return text;
}

std::string levers_text(const Report& report) {
  const std::vector<std::string> lines = lever_lines(report.levers);
  if (lines.empty()) return "";
  return heading("What would make it faster (all: --view sensitivity)") + lines_text(lines);
}

std::string interval_text(const Report& report) {
  if (!report.interval) return "";
  std::string text = heading("Interval") + lines_text(interval_lines(*report.interval));
  const Table table = interval_table(*report.interval);
  return table.rows.empty() ? text : text + text_table_of(table, table.rows.size()).text(k_width);
}

std::string foot(const Report& report) {
  std::string text = "\n";
  if (report.engine) text += wrapped(engine_line(*report.engine), k_width, 2) + '\n';
  text += fmt::format("podsim {}", report.tool_version);
  if (!report.tool_commit.empty()) text += " (" + report.tool_commit + ")";
  return text + ", inputs " + report.inputs_sha256.substr(0, 16) + '\n';
}

std::string table_text(const Table& table, std::size_t most_rows, std::size_t width) {
  const std::size_t shown = std::min(table.rows.size(), most_rows);
  const TextTable text = text_table_of(table, shown);
  return heading(table.name) + text.text(width) + with_rest(table.rows.size() - shown, "rows in --format json") +
         with_rest(text.columns_beyond(width), "columns in --format json");
}

}  // namespace

std::string to_text(const Table& table, std::size_t width) {
  return table_text(table, k_most_rows, width);
}

std::string to_text(const Report& report) {
  std::string text = head(report) + broken_limits(report.verdict) + batch_text(report) + breakdown_text(report) +
                     levers_text(report) + interval_text(report) + latency_text(report) + values_text(report.values) +
                     devices_text(report) + memories_text(report) + links_text(report) +
                     paragraphs_text("Loss scale", loss_scale_paragraphs(report)) + training_text(report.training);
  for (const Table& table : report.tables) {
    if (table.view.empty()) text += to_text(table);
  }
  return within_width(text + paragraphs_text("Warnings", report.warnings) + foot(report));
}

std::string view_text(const Report& report, std::string_view name) {
  constexpr std::size_t k_any = 100'000;  // rows and columns
  std::string text;
  for (const Table& table : report.tables) {
    if (table.name == name || table.view == name) text += table_text(table, k_any, k_any);
  }
  return text.empty() ? text : text.substr(1);
}

}  // namespace podsim
