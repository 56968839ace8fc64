#include "sim/study/capacity_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "sim/report/human.hpp"
#include "sim/report/phrases.hpp"

namespace podsim {
namespace {

constexpr double k_kilowatt_hour = 3.6e6;

// Of the palette of a page.
constexpr int k_blue = 0;
constexpr int k_light_blue = 1;
constexpr int k_vermilion = 4;
constexpr int k_grey = 10;

std::string standing(const Capacity& capacity, std::size_t index) {
  if (capacity.chosen == index) return "chosen";
  switch (capacity.rows[index].status) {
    case CapacityStatus::meets:
      return "meets the goals";
    case CapacityStatus::misses:
      return "misses a goal";
    case CapacityStatus::does_not_fit:
      return "does not fit";
    case CapacityStatus::invalid:
      return "cannot run";
  }
  return "";
}

int colour_of(const Capacity& capacity, std::size_t index) {
  if (capacity.chosen == index) return k_blue;
  const CapacityStatus status = capacity.rows[index].status;
  return status == CapacityStatus::meets ? k_light_blue : status == CapacityStatus::misses ? k_vermilion : k_grey;
}

template <class Amount>
Cell base(const std::optional<Amount>& amount) {
  return amount ? Cell(amount->in_base()) : Cell();
}

Cell number(const std::optional<double>& value) {
  return value ? Cell(*value) : Cell();
}

std::optional<Duration> time_of(const CapacityRow& row) {
  return row.time ? row.time : row.training;
}

// A column of a row, and whether it is told only where some row has it.
struct Field {
  Column column;
  std::vector<Cell> cells;
};

std::vector<Field> fields_of(const Capacity& capacity, const CapacityCosts& costs) {
  const bool per_hour =
      std::ranges::any_of(capacity.rows, [](const CapacityRow& row) { return row.cost && !row.time; });
  const std::string money =
      "cost" + (costs.currency.empty() ? "" : ", " + costs.currency) + (per_hour ? " per hour" : "");
  std::vector<Field> fields{{{"system", ""}, {}},
                            {{"is", ""}, {}},
                            {{"why not", ""}, {}},
                            {{"time_s", "s"}, {}},
                            {{"tokens per s of each user", ""}, {}},
                            {{"systems", ""}, {}},
                            {{"devices", ""}, {}},
                            {{"idle", ""}, {}},
                            {{"hosts", ""}, {}},
                            {{"samples per s", ""}, {}},
                            {{"without failures_s", "s"}, {}},
                            {{"goodput_pct", "%"}, {}},
                            {{"checkpoint every_s", "s"}, {}},
                            {{"power", "kW"}, {}},
                            {{"energy", "kWh"}, {}},
                            {{money, ""}, {}}};
  for (std::size_t r = 0; r < capacity.rows.size(); ++r) {
    const CapacityRow& row = capacity.rows[r];
    const bool planned = row.devices > 0;
    const auto count = [&](std::int64_t value) { return planned ? Cell(value) : Cell(); };
    const std::vector<Cell> cells{label_of(capacity, row),
                                  standing(capacity, r),
                                  row.misses.empty() ? Cell() : Cell(fmt::format("{}", fmt::join(row.misses, "; "))),
                                  base(time_of(row)),
                                  number(row.tokens_per_s_per_user),
                                  row.systems,
                                  count(row.devices),
                                  count(row.idle_devices),
                                  count(row.hosts),
                                  row.samples_per_s > 0 ? Cell(row.samples_per_s) : Cell(),
                                  row.checkpoints ? base(row.training) : Cell(),
                                  row.checkpoints ? Cell(100 * row.checkpoints->goodput) : Cell(),
                                  row.checkpoints ? Cell(row.checkpoints->interval.in_base()) : Cell(),
                                  row.power ? Cell(row.power->in_base() / 1000) : Cell(),
                                  row.energy && row.time ? Cell(row.energy->in_base() / k_kilowatt_hour) : Cell(),
                                  number(row.cost)};
    for (std::size_t c = 0; c < cells.size(); ++c) fields[c].cells.push_back(cells[c]);
  }
  return fields;
}

// A goal as a column of its own, so that a chart can mark it in each row.
void add_goal(const std::string& name, const std::string& unit, const std::optional<double>& limit, std::size_t rows,
              std::vector<Field>& fields) {
  if (limit) fields.push_back({{name, unit}, std::vector<Cell>(rows, Cell(*limit))});
}

std::optional<std::size_t> place_of(const Table& table, const std::string& name) {
  const auto found = std::ranges::find(table.columns, name, &Column::name);
  if (found == table.columns.end()) return std::nullopt;
  return static_cast<std::size_t>(found - table.columns.begin());
}

// Bars of a column against its goal.
void add_bars(const Capacity& capacity, const std::string& column, const std::string& goal, PageSection& section) {
  const std::optional<std::size_t> value = place_of(*section.table, column);
  if (!value) return;
  Chart chart{.kind = ChartKind::bars, .labels = 0, .values = {*value}};
  chart.limit = place_of(*section.table, goal);
  chart.groups = 1;
  for (std::size_t r = 0; r < capacity.rows.size(); ++r) chart.row_colours.push_back(colour_of(capacity, r));
  section.charts.push_back(std::move(chart));
}

// Devices against time: what more of them buy.
void add_points(const Capacity& capacity, const CapacityGoal& goal, PageSection& section) {
  const std::optional<std::size_t> devices = place_of(*section.table, "devices");
  const std::optional<std::size_t> time = place_of(*section.table, "time_s");
  if (!devices || !time || capacity.rows.size() < 2) return;
  Chart chart{.kind = ChartKind::points, .labels = *devices, .values = {*time}};
  chart.groups = 1;
  chart.names = 0;
  chart.logarithmic_x = true;
  if (goal.deadline) chart.levels = {goal.deadline->in_base()};
  for (std::size_t r = 0; r < capacity.rows.size(); ++r) chart.row_colours.push_back(colour_of(capacity, r));
  section.charts.push_back(std::move(chart));
}

PageSection systems_section(const Capacity& capacity, const CapacityGoal& goal, const CapacityCosts& costs) {
  std::vector<Field> fields = fields_of(capacity, costs);
  const std::string money = fields.back().column.name;
  const std::size_t rows = capacity.rows.size();
  add_goal("deadline_s", "s", goal.deadline ? std::optional(goal.deadline->in_base()) : std::nullopt, rows, fields);
  add_goal("asked for each user", "", goal.tokens_per_s, rows, fields);
  add_goal("budget", "", goal.budget, rows, fields);
  add_goal("power cap", "kW", goal.power_cap ? std::optional(goal.power_cap->in_base() / 1000) : std::nullopt, rows,
           fields);
  std::erase_if(fields, [](const Field& field) {
    return std::ranges::all_of(field.cells, [](const Cell& cell) { return cell == Cell(); });
  });
  Table table{"systems", {}, std::vector<std::vector<Cell>>(rows)};
  for (const Field& field : fields) {
    table.columns.push_back(field.column);
    for (std::size_t r = 0; r < rows; ++r) table.rows[r].push_back(field.cells[r]);
  }
  PageSection section{"Systems", {}, {}, std::move(table)};
  if (goal.deadline || goal.budget || goal.power_cap || goal.tokens_per_s) {
    section.notes.push_back("A line across a bar, or a level one, is the goal.");
  }
  add_bars(capacity, "time_s", "deadline_s", section);
  add_bars(capacity, "tokens per s of each user", "asked for each user", section);
  if (goal.budget || place_of(*section.table, money)) add_bars(capacity, money, "budget", section);
  if (goal.power_cap) add_bars(capacity, "power", "power cap", section);
  add_points(capacity, goal, section);
  return section;
}

std::optional<PageSection> texts_section(const std::string& title, const std::string& heading,
                                         const std::vector<std::string>& texts) {
  if (texts.empty()) return std::nullopt;
  Table table{title, {{heading, ""}}, {}};
  for (const std::string& text : texts) table.rows.push_back({text});
  return PageSection{title, {}, {}, std::move(table)};
}

std::vector<PageFact> facts_of(const Capacity& capacity, const CapacityGoal& goal, const CapacityCosts& costs) {
  std::vector<PageFact> facts;
  if (!capacity.chosen) {
    facts.push_back({"Choice", "none meets the goals", Tone::bad});
  } else {
    const CapacityRow& row = capacity.rows[*capacity.chosen];
    std::string text = label_of(capacity, row);
    if (const std::optional<Duration> time = time_of(row)) text += " in " + plain_time(*time);
    if (row.tokens_per_s_per_user) {
      text += fmt::format(", {} tokens/s for each user", human_number(*row.tokens_per_s_per_user));
    }
    facts.push_back({"Choice", text, Tone::good});
    std::string takes = counted(row.devices, "device");
    if (row.hosts > 0) takes += ", " + counted(row.hosts, "host");
    if (row.power) takes += ", " + plain_power(*row.power);
    if (row.cost)
      takes += fmt::format(", {} {}{}", human_number(*row.cost), costs.currency, row.time ? "" : " per hour");
    facts.push_back({"It takes", takes});
  }
  facts.push_back({"Goals", goals_text(goal, costs, capacity)});
  return facts;
}

}  // namespace

Page capacity_page(const Capacity& capacity, const CapacityGoal& goal, const CapacityCosts& costs) {
  Page page;
  page.title = "Which machine does it";
  page.subtitle = work_text(capacity);
  page.facts = facts_of(capacity, goal, costs);
  page.sections.push_back(systems_section(capacity, goal, costs));
  for (std::optional<PageSection> section :
       {texts_section("Why", "why it is not as many times faster as it is larger", capacity.reasons),
        texts_section("Settings", "what was set or taken", settings_texts(capacity)),
        texts_section("Warnings", "warning", capacity.warnings),
        texts_section("Not counted", "what", capacity.left_out)}) {
    if (section) page.sections.push_back(std::move(*section));
  }
  return page;
}

}  // namespace podsim
