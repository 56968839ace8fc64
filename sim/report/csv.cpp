// One line of headings and one row: for spreadsheets and sweeps.

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

std::string csv_line(const std::vector<std::string>& cells) {
  std::string line;
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (i > 0) line += ',';
    if (cells[i].find_first_of(",\"\r\n") == std::string::npos) {
      line += cells[i];
      continue;
    }
    line += '"';
    for (const char c : cells[i]) line += c == '"' ? std::string("\"\"") : std::string(1, c);
    line += '"';
  }
  return line + '\n';
}

std::string to_csv(const Report& report) {
  return csv_line(csv_header()) + csv_line(csv_row(report));
}

}  // namespace podsim
