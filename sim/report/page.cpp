#include "sim/report/page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/report/human.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr double k_most_bytes = 9e18;

std::string number_text(double value, const std::string& unit) {
  if (!std::isfinite(value)) return "";
  if (value < 0 && (unit == "s" || unit == "byte")) return "-" + number_text(-value, unit);
  if (unit == "s") return value < 120 ? format_time(seconds(value)) : human_long_time(value);
  if (unit == "byte" && value < k_most_bytes) return format_bytes(Bytes(std::llround(value)));
  if (unit == "%") return value == 0 ? human_percent(value) : human_share(value / 100);
  return human_number(value);
}

bool unit_in_cells(const std::string& unit) {
  return unit.empty() || unit == "s" || unit == "byte" || unit == "%";
}

}  // namespace

std::string cell_text(const Cell& cell, const Column& column) {
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) {
    return column.unit.empty() || !unit_in_cells(column.unit) ? grouped(*integer)
                                                              : number_text(static_cast<double>(*integer), column.unit);
  }
  if (const auto* number = std::get_if<double>(&cell)) return number_text(*number, column.unit);
  if (const auto* text = std::get_if<std::string>(&cell)) return *text;
  return "";
}

std::string heading_text(const Column& column) {
  std::string text = column.name;
  for (const std::string_view suffix : {"_s", "_bytes", "_pct"}) {
    if (unit_in_cells(column.unit) && !column.unit.empty() && text.ends_with(suffix)) {
      text.resize(text.size() - suffix.size());
      break;
    }
  }
  // Keys stay as they are written.
  if (text.find('.') == std::string::npos) std::replace(text.begin(), text.end(), '_', ' ');
  return unit_in_cells(column.unit) ? text : text + " (" + column.unit + ")";
}

bool is_numeric(const Table& table, std::size_t column) {
  return std::none_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
    return std::holds_alternative<std::string>(row[column]) || std::holds_alternative<bool>(row[column]);
  });
}

std::string origin_text(const Page& page) {
  std::string text = "podsim " + page.tool_version;
  if (!page.tool_commit.empty()) text += " (" + page.tool_commit + ")";
  if (!page.inputs_sha256.empty()) text += ", inputs sha256 " + page.inputs_sha256;
  return text;
}

Table shortened(Table table, std::size_t most, std::vector<std::string>& notes, std::string_view elsewhere) {
  if (table.rows.size() <= most) return table;
  notes.push_back(fmt::format("Rows left out here: {}; {} has them.",
                              grouped(std::ssize(table.rows) - static_cast<std::ptrdiff_t>(most)), elsewhere));
  table.rows.resize(most);
  return table;
}

}  // namespace podsim
