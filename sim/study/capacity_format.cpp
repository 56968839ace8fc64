#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "sim/core/json_writer.hpp"
#include "sim/report/human.hpp"
#include "sim/report/text_table.hpp"
#include "sim/study/capacity.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr double k_kilowatt_hour = 3.6e6;

// What decided, where more than one row would do.
std::string advantage_of(const Capacity& capacity) {
  const auto meets = [](const CapacityRow& row) { return row.status == CapacityStatus::meets; };
  if (std::ranges::count_if(capacity.rows, meets) < 2) return "";
  return capacity.by_cost ? ", cheapest" : ", fewest devices";
}

std::string verdict_of(const Capacity& capacity, std::size_t index) {
  const CapacityRow& row = capacity.rows[index];
  const std::string misses = fmt::format("{}", fmt::join(row.misses, "; "));
  switch (row.status) {
    case CapacityStatus::meets:
      return capacity.chosen == index ? "CHOSEN" + advantage_of(capacity) : "meets the goals";
    case CapacityStatus::misses:
      return misses;
    case CapacityStatus::does_not_fit:
      return "does not fit: " + misses;
    case CapacityStatus::invalid:
      return "cannot run: " + misses;
  }
  return "";
}

std::string_view name_of(CapacityStatus status) {
  switch (status) {
    case CapacityStatus::meets:
      return "meets";
    case CapacityStatus::misses:
      return "misses";
    case CapacityStatus::does_not_fit:
      return "does_not_fit";
    case CapacityStatus::invalid:
      return "invalid";
  }
  return "";
}

std::string time_text(const std::optional<Duration>& time) {
  return time ? plain_time(*time) : "";
}

std::string work_line(const CapacityRow& row, bool with_head) {
  std::string text = row.report->model;
  if (with_head) {
    text += fmt::format(" ({} parameters)", grouped(row.work.parameters));
    if (!row.work.head.empty()) text += ", head " + row.work.head;
  }
  text += fmt::format(", {}, global batch {}", row.work.mode, human_number(row.work.global_batch));
  if (row.work.sequence_length > 0) text += fmt::format(", sequence length {}", row.work.sequence_length);
  if (!row.work.precision.empty()) text += ", " + row.work.precision;
  return text;
}

// A column is there when a row has something in it.
struct Shown {
  std::string heading;
  Align align = Align::right;
  std::vector<std::string> cells;
};

std::vector<Shown> columns_of(const Capacity& capacity, const CapacityCosts& costs) {
  std::vector<Shown> columns{{"system", Align::left, {}},
                             {"systems", Align::right, {}},
                             {"devices", Align::right, {}},
                             {"idle", Align::right, {}},
                             {"hosts", Align::right, {}},
                             {"samples/s", Align::right, {}},
                             {"tokens/s per user", Align::right, {}},
                             {"training", Align::right, {}},
                             {"goodput", Align::right, {}},
                             {"checkpoint every", Align::right, {}},
                             {"in all", Align::right, {}},
                             {"power", Align::right, {}},
                             {"energy", Align::right, {}},
                             {"cost " + costs.currency, Align::right, {}},
                             {"verdict", Align::left, {}}};
  for (std::size_t r = 0; r < capacity.rows.size(); ++r) {
    const CapacityRow& row = capacity.rows[r];
    const auto number = [](double value) { return value > 0 ? human_number(value) : std::string(); };
    const std::vector<std::string> cells{
        row.name,
        std::to_string(row.systems),
        row.devices > 0 ? grouped(row.devices) : "",
        row.devices > 0 ? grouped(row.idle_devices) : "",
        row.devices > 0 ? grouped(row.hosts) : "",
        number(row.samples_per_s),
        row.tokens_per_s_per_user ? human_number(*row.tokens_per_s_per_user) : "",
        time_text(row.training),
        row.checkpoints ? human_percent(100 * row.checkpoints->goodput) : "",
        row.checkpoints ? time_text(row.checkpoints->interval) : "",
        row.checkpoints ? time_text(row.time) : "",
        row.power ? plain_power(*row.power) : "",
        row.energy && row.time ? human_number(row.energy->in_base() / k_kilowatt_hour) + " kWh" : "",
        row.cost ? human_number(*row.cost) + (row.time ? "" : " per hour") : "",
        verdict_of(capacity, r)};
    for (std::size_t c = 0; c < cells.size(); ++c) columns[c].cells.push_back(cells[c]);
  }
  std::erase_if(columns, [](const Shown& column) {
    return std::ranges::all_of(column.cells, [](const std::string& cell) { return cell.empty(); });
  });
  return columns;
}

std::string table_of(const Capacity& capacity, const CapacityCosts& costs) {
  const std::vector<Shown> columns = columns_of(capacity, costs);
  TextTable table;
  for (const Shown& column : columns) table.column(column.heading, column.align, Overflow::wrap);
  for (std::size_t r = 0; r < capacity.rows.size(); ++r) {
    std::vector<std::string> cells;
    for (const Shown& column : columns) cells.push_back(column.cells[r]);
    table.row(std::move(cells));
  }
  return table.blocks();
}

void add_section(const std::string& heading, const std::vector<std::string>& lines, std::string& text) {
  if (lines.empty()) return;
  text += "\n" + heading + "\n";
  for (const std::string& line : lines) text += "  " + line + "\n";
}

void write_row(JsonWriter& json, const CapacityRow& row, bool chosen) {
  const auto number = [&](std::string_view key, std::optional<double> value) {
    json.key(key);
    if (value)
      json.value(*value);
    else
      json.null();
  };
  const auto base = [](const auto& quantity) {
    return quantity ? std::optional<double>(quantity->in_base()) : std::nullopt;
  };
  json.begin_object();
  json.member("system", std::string_view(row.name));
  json.member("status", name_of(row.status));
  json.member("chosen", chosen);
  json.member("systems", row.systems);
  json.member("devices", row.devices);
  json.member("idle_devices", row.idle_devices);
  json.member("hosts", row.hosts);
  json.member("samples_per_s", row.samples_per_s);
  number("tokens_per_s_per_user", row.tokens_per_s_per_user);
  number("training_s", base(row.training));
  number("goodput_pct", row.checkpoints ? std::optional(100 * row.checkpoints->goodput) : std::nullopt);
  number("checkpoint_interval_s", row.checkpoints ? std::optional(row.checkpoints->interval.in_base()) : std::nullopt);
  number("time_s", base(row.time));
  number("power_w", base(row.power));
  json.member("power_source", std::string_view(row.power_source));
  number("energy_j", base(row.energy));
  number("cost", row.cost);
  number("compile_estimate_s", row.compile ? std::optional(row.compile->estimate.in_base()) : std::nullopt);
  json.member("changed", std::string_view(row.changed));
  json.member("global_batch", row.work.global_batch);
  json.key("misses");
  json.begin_array();
  for (const std::string& miss : row.misses) json.value(std::string_view(miss));
  json.end_array();
  json.end_object();
}

void write_texts(JsonWriter& json, std::string_view key, const std::vector<std::string>& texts) {
  json.key(key);
  json.begin_array();
  for (const std::string& text : texts) json.value(std::string_view(text));
  json.end_array();
}

}  // namespace

std::string label_of(const Capacity& capacity, const CapacityRow& row) {
  const bool shared = std::ranges::any_of(
      capacity.rows, [&](const CapacityRow& other) { return other.name == row.name && other.systems != row.systems; });
  return shared ? fmt::format("{} × {}", row.systems, row.name) : row.name;
}

std::string plain_time(Duration time) {
  constexpr double k_hour = 3600;
  const double value = time.in_base();
  constexpr double k_readable = 1e7 * k_hour;
  if (value >= k_readable) return fmt::format("{:.3g} h", value / k_hour);
  return value >= 2 * k_hour ? fmt::format("{:.1f} h", value / k_hour) : human_long_time(value);
}

std::string plain_power(Power power) {
  constexpr double k_kilowatt = 1000;
  const double value = power.in_base();
  return value >= k_kilowatt ? human_number(value / k_kilowatt) + " kW" : human_number(value) + " W";
}

std::string goals_text(const CapacityGoal& goal, const CapacityCosts& costs, const Capacity& capacity) {
  std::vector<std::string> goals;
  for (const CapacityRow& row : capacity.rows) {
    if (!row.report || !row.report->training) continue;
    goals.push_back(human_number(row.report->training->target_samples) + " samples");
    break;
  }
  if (goal.deadline) goals.push_back("within " + plain_time(*goal.deadline));
  if (goal.users) goals.push_back(fmt::format("{} users at once", grouped(*goal.users)));
  if (goal.tokens_per_s) goals.push_back(fmt::format("{} tokens/s for each", human_number(*goal.tokens_per_s)));
  if (goal.budget) goals.push_back(fmt::format("for at most {} {}", human_number(*goal.budget), costs.currency));
  if (goal.power_cap) goals.push_back("with at most " + plain_power(*goal.power_cap));
  return goals.empty() ? "No goal" : fmt::format("{}", fmt::join(goals, ", "));
}

std::string work_text(const Capacity& capacity) {
  std::string common;
  std::set<std::string> works;
  std::vector<std::string> of_rows;
  for (const CapacityRow& row : capacity.rows) {
    if (!row.report) continue;
    if (common.empty()) common = work_line(row, false);
    const std::string work = work_line(row, true);
    works.insert(work);
    of_rows.push_back(fmt::format("{}: {}", label_of(capacity, row), work));
  }
  return works.size() < 2 ? common : fmt::format("{}", fmt::join(of_rows, "\n"));
}

std::vector<std::string> settings_texts(const Capacity& capacity) {
  std::vector<std::string> notes;
  for (const CapacityRow& row : capacity.rows) {
    if (!row.changed.empty())
      notes.push_back(fmt::format("{}: {}, for the same global batch", label_of(capacity, row), row.changed));
  }
  for (const CapacityRow& row : capacity.rows) {
    if (!row.power_source.empty() && row.power_source != "given") {
      const std::string note = fmt::format("power of {}: {}", row.name, row.power_source);
      if (std::ranges::find(notes, note) == notes.end()) notes.push_back(note);
    }
  }
  return notes;
}

std::string to_text(const Capacity& capacity, const CapacityGoal& goal, const CapacityCosts& costs) {
  std::string text =
      goals_text(goal, costs, capacity) + "\n" + work_text(capacity) + "\n\n" + table_of(capacity, costs);
  if (!capacity.chosen) text += "\nnone meets the goals\n";
  add_section("Why", capacity.reasons, text);
  add_section("Settings", settings_texts(capacity), text);
  add_section("Warnings", capacity.warnings, text);
  add_section("Not counted", capacity.left_out, text);
  return text;
}

std::string to_json(const Capacity& capacity, const CapacityCosts& costs) {
  JsonWriter json;
  json.begin_object();
  json.member("currency", std::string_view(costs.currency));
  json.key("rows");
  json.begin_array();
  for (std::size_t r = 0; r < capacity.rows.size(); ++r) write_row(json, capacity.rows[r], capacity.chosen == r);
  json.end_array();
  write_texts(json, "reasons", capacity.reasons);
  write_texts(json, "warnings", capacity.warnings);
  write_texts(json, "not_counted", capacity.left_out);
  json.end_object();
  return json.text();
}

}  // namespace podsim
