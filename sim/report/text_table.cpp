#include "sim/report/text_table.hpp"

#include <algorithm>

#include "sim/core/check.hpp"
#include "sim/report/human.hpp"

namespace podsim {

void TextTable::column(std::string_view heading, Align align) {
  headings_.emplace_back(heading);
  aligns_.push_back(align);
}

void TextTable::row(std::vector<std::string> cells) {
  PODSIM_CHECK(cells.size() == headings_.size(), "a row has a cell for each column");
  rows_.push_back(std::move(cells));
}

std::vector<std::size_t> TextTable::widths(std::size_t width) const {
  std::vector<std::size_t> result;
  for (std::size_t c = 0; c < headings_.size(); ++c) {
    std::size_t widest = text_width(headings_[c]);
    for (const auto& row : rows_) widest = std::max(widest, text_width(row[c]));
    result.push_back(widest);
  }
  std::size_t used = 0;
  for (const std::size_t column : result) used += 2 + column;
  while (used > width) {
    std::size_t longest = result.size();
    for (std::size_t c = 0; c < result.size(); ++c) {
      if (aligns_[c] != Align::left || result[c] <= k_least_text) continue;
      if (longest == result.size() || result[c] > result[longest]) longest = c;
    }
    if (longest == result.size()) break;
    --result[longest];
    --used;
  }
  return result;
}

std::size_t TextTable::columns_beyond(std::size_t width) const {
  std::size_t used = 0;
  std::size_t shown = 0;
  for (const std::size_t column : widths(width)) {
    used += 2 + column;
    if (used > width) break;
    ++shown;
  }
  return headings_.size() - shown;
}

std::string TextTable::text(std::size_t width) const {
  const std::vector<std::size_t> columns = widths(width);
  const std::size_t shown = headings_.size() - columns_beyond(width);
  std::string result;
  const auto line = [&](const std::vector<std::string>& cells) {
    std::string text;
    for (std::size_t c = 0; c < shown; ++c) {
      const std::string cell = fit_width(cells[c], columns[c]);
      const std::string blanks(columns[c] - text_width(cell), ' ');
      text += "  " + (aligns_[c] == Align::left ? cell + blanks : blanks + cell);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    result += text + '\n';
  };
  if (std::any_of(headings_.begin(), headings_.end(), [](const auto& h) { return !h.empty(); })) line(headings_);
  for (const auto& row : rows_) line(row);
  return result;
}

namespace {

std::string cell_text(const Cell& cell) {
  if (const auto* truth = std::get_if<bool>(&cell)) return *truth ? "yes" : "no";
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return grouped(*integer);
  if (const auto* number = std::get_if<double>(&cell)) return human_number(*number);
  if (const auto* text = std::get_if<std::string>(&cell)) return fit_width(*text, 40);
  return "-";
}

}  // namespace

TextTable text_table_of(const Table& table, std::size_t rows) {
  TextTable text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool words = std::any_of(table.rows.begin(), table.rows.end(), [&](const auto& row) {
      return std::holds_alternative<std::string>(row[c]) || std::holds_alternative<bool>(row[c]);
    });
    text.column(table.columns[c].name, words ? Align::left : Align::right);
  }
  for (std::size_t r = 0; r < rows; ++r) {
    std::vector<std::string> cells;
    for (const Cell& cell : table.rows[r]) cells.push_back(cell_text(cell));
    text.row(std::move(cells));
  }
  return text;
}

}  // namespace podsim
