#include "sim/config/csv.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace podsim {
namespace {

class Parser {
 public:
  Parser(std::string_view text, const std::string& file, Diagnostics& diagnostics)
      : text_(text), file_(file), diagnostics_(diagnostics) {
    if (text_.starts_with("\xEF\xBB\xBF")) at_ = 3;
    line_begin_ = at_;
  }

  std::optional<CsvTable> parse() {
    CsvTable table;
    bool header = true;
    bool sound = true;
    while (at_ < text_.size()) {
      if (header && text_[at_] == '#') {
        skip_line();
        continue;
      }
      CsvRow row;
      if (!read_row(row)) return std::nullopt;
      if (row.cells.size() == 1 && row.cells.front().empty()) continue;
      if (header) {
        sound = check_header(row);
        table.columns = std::move(row.cells);
        header = false;
      } else if (row.cells.size() != table.columns.size()) {
        diagnostics_.error({file_, row.line, 1}, "",
                           fmt::format("the row has {} cells, the header {}", row.cells.size(), table.columns.size()));
        sound = false;
      } else {
        table.rows.push_back(std::move(row));
      }
    }
    if (header) {
      diagnostics_.error({file_, 1, 1}, "", "there is no header line", "the names of the columns");
      sound = false;
    }
    if (!sound) return std::nullopt;
    return table;
  }

 private:
  void skip_line() {
    at_ = std::min(text_.find('\n', at_), text_.size());
    if (at_ < text_.size()) end_line();
  }

  Place here() const { return {file_, line_, static_cast<int>(at_ - line_begin_) + 1}; }

  bool check_header(const CsvRow& row) {
    bool sound = true;
    for (std::size_t i = 0; i < row.cells.size(); ++i) {
      const std::string& column = row.cells[i];
      if (column.empty()) {
        diagnostics_.error({file_, row.line, 1}, "", fmt::format("column {} has no name", i + 1));
        sound = false;
      } else if (std::count(row.cells.begin(), row.cells.begin() + static_cast<std::ptrdiff_t>(i), column) > 0) {
        diagnostics_.error({file_, row.line, 1}, "", fmt::format("there are two columns called \"{}\"", column));
        sound = false;
      }
    }
    return sound;
  }

  // False after a broken quote: what follows cannot be told apart.
  bool read_row(CsvRow& row) {
    row.line = line_;
    while (true) {
      row.cells.emplace_back();
      row.at.push_back(here().column);
      if (!read_cell(row.cells.back())) return false;
      if (at_ >= text_.size()) return true;
      if (text_[at_] == ',') {
        ++at_;
        continue;
      }
      end_line();
      return true;
    }
  }

  bool read_cell(std::string& cell) {
    if (at_ < text_.size() && text_[at_] == '"') return read_quoted(cell);
    const std::size_t end = std::min(text_.find_first_of(",\"\r\n", at_), text_.size());
    cell = text_.substr(at_, end - at_);
    at_ = end;
    if (at_ < text_.size() && text_[at_] == '"') {
      diagnostics_.error(here(), "", "there is a quote inside a cell that does not begin with one",
                         "the whole cell in quotes, the inner quote twice");
      return false;
    }
    return true;
  }

  bool read_quoted(std::string& cell) {
    const Place begin = here();
    ++at_;
    while (at_ < text_.size()) {
      const char c = text_[at_];
      if (c == '"' && at_ + 1 < text_.size() && text_[at_ + 1] == '"') {
        cell += '"';
        at_ += 2;
      } else if (c == '"') {
        ++at_;
        if (at_ >= text_.size() || text_[at_] == ',' || text_[at_] == '\n' || text_[at_] == '\r') return true;
        diagnostics_.error(here(), "", "there is text behind the closing quote of a cell", "a comma or a line end");
        return false;
      } else if (c == '\n') {
        cell += c;
        end_line();
      } else {
        cell += c;
        ++at_;
      }
    }
    diagnostics_.error(begin, "", "the quote of this cell is never closed");
    return false;
  }

  // At a line end of either kind.
  void end_line() {
    if (text_[at_] == '\r') ++at_;
    if (at_ < text_.size() && text_[at_] == '\n') ++at_;
    ++line_;
    line_begin_ = at_;
  }

  std::string_view text_;
  const std::string& file_;
  Diagnostics& diagnostics_;
  std::size_t at_ = 0;
  std::size_t line_begin_ = 0;
  int line_ = 1;
};

}  // namespace

std::optional<CsvTable> parse_csv(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  return Parser(text, file, diagnostics).parse();
}

}  // namespace podsim
