#include "sim/report/text_table.hpp"

#include <algorithm>

#include "sim/core/check.hpp"
#include "sim/core/diagnostics.hpp"
#include "sim/report/human.hpp"

namespace podsim {

void TextTable::column(std::string_view heading, Align align, Overflow overflow) {
  headings_.push_back({printable(std::string(heading)), align, overflow});
}

void TextTable::row(std::vector<std::string> cells) {
  PODSIM_CHECK(cells.size() == headings_.size(), "a row has a cell for each column");
  for (std::size_t c = 0; c < cells.size(); ++c) {
    cells[c] = printable(std::move(cells[c]));
    if (headings_[c].overflow == Overflow::wrap) cells[c] = fit_width(cells[c], k_longest_text);
  }
  rows_.push_back(std::move(cells));
}

std::size_t TextTable::narrowest(std::size_t column) const {
  const Heading& heading = headings_[column];
  std::size_t width = text_width(heading.text);
  if (heading.overflow == Overflow::wrap) {
    width = 0;
    for (std::string_view rest = heading.text; !rest.empty();) {
      const std::size_t end = std::min(rest.find_first_of(" ._,"), rest.size() - 1);
      width = std::max(width, text_width(rest.substr(0, end + (rest[end] == ' ' ? 0 : 1))));
      rest.remove_prefix(end + 1);
    }
    width = std::min(width, k_least_text);
  }
  for (const auto& row : rows_) width = std::max(width, text_width(row[column]));
  return width;
}

std::vector<std::size_t> TextTable::widths(std::size_t width) const {
  std::vector<std::size_t> result;
  std::vector<std::size_t> least;
  std::size_t used = 0;
  for (std::size_t c = 0; c < headings_.size(); ++c) {
    least.push_back(narrowest(c));
    result.push_back(std::max(least[c], text_width(headings_[c].text)));
    used += 2 + result[c];
  }
  const auto shrink = [&](const auto& may) {
    while (used > width) {
      std::size_t widest = result.size();
      for (std::size_t c = 0; c < result.size(); ++c) {
        if (may(c) && (widest == result.size() || result[c] > result[widest])) widest = c;
      }
      if (widest == result.size()) return;
      --result[widest];
      --used;
    }
  };
  shrink([&](std::size_t c) { return result[c] > least[c]; });
  shrink([&](std::size_t c) { return headings_[c].align == Align::left && result[c] > k_least_text; });
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

std::vector<std::string> TextTable::cell_lines(const std::string& cell, std::size_t column, std::size_t width,
                                               bool is_heading) const {
  const Heading& heading = headings_[column];
  const bool wraps = heading.overflow == Overflow::wrap && (is_heading || heading.align == Align::left);
  if (wraps) return broken_lines(cell, std::max<std::size_t>(width, 1));
  return {fit_width(cell, width)};
}

std::string TextTable::line(const std::vector<std::vector<std::string>>& cells, const std::vector<std::size_t>& columns,
                            bool at_bottom) const {
  std::size_t height = 1;
  for (const auto& lines : cells) height = std::max(height, lines.size());
  std::string result;
  for (std::size_t l = 0; l < height; ++l) {
    std::string text;
    for (std::size_t c = 0; c < cells.size(); ++c) {
      const std::size_t above = at_bottom ? height - cells[c].size() : 0;
      const std::string cell = l >= above && l - above < cells[c].size() ? cells[c][l - above] : "";
      const std::string blanks(columns[c] - text_width(cell), ' ');
      text += "  " + (headings_[c].align == Align::left ? cell + blanks : blanks + cell);
    }
    text.erase(text.find_last_not_of(' ') + 1);
    result += text + '\n';
  }
  return result;
}

std::string TextTable::text(std::size_t width) const {
  const std::vector<std::size_t> columns = widths(width);
  const std::size_t shown = headings_.size() - columns_beyond(width);
  std::string result;
  std::vector<std::vector<std::string>> cells(shown);
  if (std::ranges::any_of(headings_, [](const Heading& heading) { return !heading.text.empty(); })) {
    for (std::size_t c = 0; c < shown; ++c) cells[c] = cell_lines(headings_[c].text, c, columns[c], true);
    result += line(cells, columns, true);
  }
  for (const auto& row : rows_) {
    for (std::size_t c = 0; c < shown; ++c) cells[c] = cell_lines(row[c], c, columns[c], false);
    result += line(cells, columns, false);
  }
  return result;
}

TextTable TextTable::part(std::size_t from, std::size_t to) const {
  const auto taken = [&](const auto& all, auto& some) {
    some.push_back(all.front());
    some.insert(some.end(), all.begin() + static_cast<std::ptrdiff_t>(from),
                all.begin() + static_cast<std::ptrdiff_t>(to));
  };
  TextTable part;
  taken(headings_, part.headings_);
  for (const auto& row : rows_) taken(row, part.rows_.emplace_back());
  return part;
}

std::string TextTable::blocks(std::size_t width) const {
  if (columns_beyond(width) == 0) return text(width);
  std::vector<std::size_t> least;
  for (std::size_t c = 0; c < headings_.size(); ++c) {
    const std::size_t whole = narrowest(c);
    least.push_back(2 + (headings_[c].align == Align::left ? std::min(whole, k_least_text) : whole));
  }
  std::string result;
  for (std::size_t from = 1; from < headings_.size();) {
    std::size_t used = least[0] + least[from];
    std::size_t to = from + 1;
    while (to < headings_.size() && used + least[to] <= width) used += least[to++];
    result += (result.empty() ? "" : "\n") + part(from, to).text(width);
    from = to;
  }
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
