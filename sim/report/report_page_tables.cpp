#include "sim/report/report_page_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>

#include "sim/report/human.hpp"
#include "sim/report/phrases.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_most_rows = 200;
constexpr std::size_t k_most_categories = 11;  // of memory: as many as there are colours, and one for the rest

// Rows that differ in their first cell alone share one, named after the first of them.
class Rows {
 public:
  void add(const std::string& name, std::vector<Cell> cells) {
    for (Group& group : groups_) {
      if (group.cells != cells) continue;
      ++group.members;
      return;
    }
    groups_.push_back({name, 1, std::move(cells)});
  }
  bool empty() const { return groups_.empty(); }

  // Behind a column of names, the largest of `cell` first.
  std::vector<std::vector<Cell>> sorted_by(std::size_t cell) const {
    std::vector<Group> sorted = groups_;
    std::stable_sort(sorted.begin(), sorted.end(), [&](const Group& a, const Group& b) {
      return std::get<double>(a.cells[cell]) > std::get<double>(b.cells[cell]);
    });
    std::vector<std::vector<Cell>> rows;
    for (const Group& group : sorted) {
      std::string name = group.first;
      if (group.members > 1) name += fmt::format(" and {} alike", grouped(group.members - 1));
      std::vector<Cell> row{name};
      row.insert(row.end(), group.cells.begin(), group.cells.end());
      rows.push_back(std::move(row));
    }
    return rows;
  }

 private:
  struct Group {
    std::string first;
    std::int64_t members = 0;
    std::vector<Cell> cells;
  };
  std::vector<Group> groups_;
};

Cell bytes_cell(Bytes bytes) {
  return bytes.count();
}

// "memory" of "device0.memory": those of one kind are alike in size and share a chart.
std::string kind_of(const MemoryReport& memory) {
  std::string kind = memory.name.substr(memory.name.rfind('.') + 1);
  std::replace(kind.begin(), kind.end(), '_', ' ');
  return kind;
}

std::vector<std::string> memory_kinds(const Report& report) {
  std::vector<std::string> kinds;
  for (const DeviceReport& device : report.devices) {
    for (const MemoryReport& memory : device.memories) {
      if (std::ranges::find(kinds, kind_of(memory)) == kinds.end()) kinds.push_back(kind_of(memory));
    }
  }
  return kinds;
}

// Names of all categories in use by memories of a kind, those first that are largest somewhere.
std::vector<std::string> categories_in(const Report& report, const std::string& kind) {
  std::map<std::string, Bytes> largest;
  for (const DeviceReport& device : report.devices) {
    for (const MemoryReport& memory : device.memories) {
      if (kind_of(memory) != kind) continue;
      for (const auto& [category, bytes] : memory.categories) largest[category] = std::max(largest[category], bytes);
    }
  }
  std::vector<std::string> names;
  names.reserve(largest.size());
  for (const auto& [name, bytes] : largest) names.push_back(name);
  std::stable_sort(names.begin(), names.end(),
                   [&](const auto& a, const auto& b) { return largest.at(a) > largest.at(b); });
  return names;
}

std::vector<Cell> cells_of(const MemoryReport& memory, const std::vector<std::string>& categories, bool rest) {
  std::vector<Cell> cells{percent_of(memory.peak, memory.limit), bytes_cell(memory.always_live),
                          bytes_cell(memory.peak), bytes_cell(memory.limit)};
  Bytes others = memory.peak;
  for (const std::string& category : categories) {
    const auto mine = std::ranges::find(memory.categories, category, &std::pair<std::string, Bytes>::first);
    const Bytes bytes = mine == memory.categories.end() ? Bytes() : mine->second;
    others = others - bytes;
    cells.push_back(bytes == Bytes() ? Cell() : bytes_cell(bytes));
  }
  if (rest) cells.push_back(bytes_cell(others));
  return cells;
}

// Those that hold the same all the time are drawn once.
struct AlikeMemories {
  const TimelineMemory* first = nullptr;
  int others = 0;
};

std::vector<AlikeMemories> different_memories(const Timeline& timeline) {
  std::vector<AlikeMemories> different;
  for (const TimelineMemory& memory : timeline.memories) {
    const auto same = std::ranges::find_if(different, [&](const AlikeMemories& known) {
      return known.first->most == memory.most && known.first->limit == memory.limit;
    });
    if (same == different.end()) {
      different.push_back({&memory, 0});
    } else {
      ++same->others;
    }
  }
  return different;
}

}  // namespace

std::optional<PageSection> breakdown_section(const Report& report) {
  if (!report.engine || report.step_time == SimTime()) return std::nullopt;
  Chart chart{.kind = ChartKind::bars, .labels = 0, .values = {2}};
  Table table{"step", {{"category", ""}, {"time_s", "s"}, {"share_pct", "%"}}, {}};
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    const SimTime part = report.breakdown.part[c];
    if (part == SimTime()) continue;
    table.rows.push_back({spoken(static_cast<CostCategory>(c)), in_seconds(part), percent_of(part, report.step_time)});
    chart.row_colours.push_back(static_cast<int>(c));
  }
  return PageSection{
      "Where the time goes",
      {fmt::format("One step of {}, the busiest device: {}.", report.busiest_device, format_time(report.step_time))},
      {chart},
      table};
}

std::vector<PageSection> memory_sections(const Report& report) {
  std::vector<PageSection> sections;
  for (const std::string& kind : memory_kinds(report)) {
    std::vector<std::string> categories = categories_in(report, kind);
    const bool rest = categories.size() > k_most_categories;
    if (rest) categories.resize(k_most_categories);
    Rows rows;
    for (const DeviceReport& device : report.devices) {
      for (const MemoryReport& memory : device.memories) {
        if (kind_of(memory) == kind) rows.add(memory.name, cells_of(memory, categories, rest));
      }
    }
    Table table{"memory",
                {{"memory", ""},
                 {"fill_pct", "%"},
                 {"always_live_bytes", "byte"},
                 {"peak_bytes", "byte"},
                 {"limit_bytes", "byte"}},
                rows.sorted_by(0)};
    Chart chart{.kind = ChartKind::stacked, .labels = 0, .values = {}};
    chart.limit = 4;
    if (rest) categories.emplace_back("others");
    for (const std::string& category : categories) {
      chart.values.push_back(table.columns.size());
      table.columns.push_back({category, "byte"});
    }
    if (chart.values.empty()) chart.values = {3};
    PageSection section{"Memory: " + kind, {}, {chart}, {}};
    section.notes.push_back(std::string(report.engine ? "At its peak" : "By the plan's account") +
                            "; the line across a bar is the limit. Memories that hold the same share a row.");
    section.table = shortened(std::move(table), k_most_rows, section.notes);
    sections.push_back(std::move(section));
  }
  return sections;
}

std::optional<PageSection> devices_section(const Report& report) {
  if (!report.engine || report.step_time == SimTime()) return std::nullopt;
  CostVector sum;
  for (const DeviceReport& device : report.devices) sum += device.breakdown;
  PageSection section{"Devices", {"Share of the step, by kind of work or waiting."}, {}, {}};
  Table table{"devices", {{"device", ""}, {"busy_pct", "%"}}, {}};
  Chart chart{.kind = ChartKind::stacked, .labels = 0, .values = {}};
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    if (sum.part[c] == SimTime()) continue;
    chart.values.push_back(table.columns.size());
    chart.colours.push_back(static_cast<int>(c));
    table.columns.push_back({spoken(static_cast<CostCategory>(c)), "%"});
  }
  Rows rows;
  for (const DeviceReport& device : report.devices) {
    if (device.breakdown.total() == SimTime()) continue;
    std::vector<Cell> cells{device.utilisation_pct};
    for (std::size_t c = 0; c < k_cost_categories; ++c) {
      if (sum.part[c] != SimTime()) cells.emplace_back(percent_of(device.breakdown.part[c], report.step_time));
    }
    rows.add(device.id, std::move(cells));
  }
  if (rows.empty()) return std::nullopt;
  table.rows = rows.sorted_by(0);
  section.table = shortened(std::move(table), k_most_rows, section.notes);
  section.charts.push_back(chart);
  return section;
}

std::optional<PageSection> links_section(const Report& report) {
  Rows rows;
  for (const LinkReport& link : report.links) {
    if (link.bytes > Bytes() || link.busy_pct > 0) rows.add(link.name, {link.busy_pct, bytes_cell(link.bytes)});
  }
  if (rows.empty()) return std::nullopt;
  PageSection section{"Links", {"Over one run of the program."}, {}, {}};
  section.table = shortened({"links", {{"link", ""}, {"busy_pct", "%"}, {"carried_bytes", "byte"}}, rows.sorted_by(0)},
                            k_most_rows, section.notes);
  section.charts.push_back(Chart{.kind = ChartKind::bars, .labels = 0, .values = {1}});
  return section;
}

std::optional<PageSection> levels_section(const Timeline& timeline) {
  if (timeline.memories.empty() || timeline.instants.size() < 2) return std::nullopt;
  Table table{"levels", {{"time_s", "s"}}, {}};
  Chart chart{.kind = ChartKind::steps, .labels = 0, .values = {}};
  const Bytes limit = timeline.memories.front().limit;
  const bool one_limit = std::ranges::all_of(timeline.memories, [&](const auto& each) { return each.limit == limit; });
  const std::vector<AlikeMemories> lines = different_memories(timeline);
  for (const AlikeMemories& line : lines) {
    chart.values.push_back(table.columns.size());
    chart.colours.push_back(std::array{0, 4, 6, 2, 5, 7}[(chart.values.size() - 1) % 6]);
    const std::string alike = line.others > 0 ? fmt::format(" and {} alike", line.others) : "";
    table.columns.push_back({line.first->name + alike, one_limit ? "byte" : "%"});
  }
  if (one_limit) {
    chart.limit = table.columns.size();
    table.columns.push_back({"limit", "byte"});
  }
  for (std::size_t i = 0; i < timeline.instants.size(); ++i) {
    std::vector<Cell> row{in_seconds(timeline.instants[i])};
    for (const AlikeMemories& line : lines) {
      const Bytes most = line.first->most[i];
      row.push_back(one_limit ? bytes_cell(most) : Cell(percent_of(most, line.first->limit)));
    }
    if (one_limit) row.push_back(bytes_cell(limit));
    table.rows.push_back(std::move(row));
  }
  return PageSection{
      "Memory over time",
      {std::string("The largest level within each interval, over one pass through the program: its parts "
                   "side by side, each once") +
       (one_limit ? "." : ", as a share of each memory's limit.")},
      {chart},
      table,
      true};
}

std::optional<PageSection> timeline_section(const Report& report, const Timeline& timeline) {
  if (timeline.parts.empty() || timeline.lanes.empty()) return std::nullopt;
  PageSection section{"Timeline", {}, {TimelineChart{timeline, report.schedule.cycle_mark}}, {}, true};
  section.notes.push_back(
      "Every part of the program once, side by side; × n says how often it runs. Each device has a lane: its own work, "
      "below it the transfers it takes part in. Operations too short to be seen are drawn as one. "
      "Colours fill a bar by what its time goes to, not in their order. A click on a part shows it alone.");
  const auto left_out = [&](auto count, std::string_view what) {
    if (count > 0) section.notes.push_back(fmt::format("{}: {}.", what, grouped(static_cast<std::int64_t>(count))));
  };
  left_out(timeline.devices_alike, "Devices without a lane, since they do the same as one that was simulated");
  left_out(timeline.devices_left_out, "Further devices, not shown");
  left_out(timeline.parts_left_out, "Further parts, not shown");
  left_out(timeline.slices_left_out, "Operations or groups of them, not drawn");
  Table table{"parts", {{"part", ""}, {"runs", ""}, {"each_s", "s"}, {"together_s", "s"}, {"share_pct", "%"}}, {}};
  const SimTime run = report.engine ? report.engine->simulated : SimTime();
  for (const TimelinePart& part : timeline.parts) {
    const SimTime all = part.iterations * part.duration;
    table.rows.push_back(
        {part.name, part.iterations, in_seconds(part.duration), in_seconds(all), percent_of(all, run)});
  }
  section.table = std::move(table);
  return section;
}

}  // namespace podsim
