// One line of headings and one row: for spreadsheets and sweeps.

#include <charconv>
#include <string_view>

#include "sim/report/report.hpp"
#include "sim/report/result_columns.hpp"

namespace podsim {

std::vector<std::string> csv_header() {
  std::vector<std::string> header;
  for (const Column& column : result_columns()) header.push_back(column.name);
  return header;
}

std::vector<std::string> csv_row(const Report& report) {
  std::vector<std::string> row;
  for (const Cell& cell : result_cells(report)) row.push_back(csv_text(cell));
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
