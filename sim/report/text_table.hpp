#pragma once
// A table in plain text: columns as wide as their longest cell, two blanks between them, an indentation of two.

#include <string>
#include <string_view>
#include <vector>

#include "sim/observe/table.hpp"

namespace podsim {

enum class Align { left, right };

// What becomes of a column where a table has not enough room.
enum class Overflow {
  cut,   // texts lose their ends
  wrap,  // texts, and the words of the heading, take several lines
};

class TextTable {
 public:
  // An empty `heading` line is left out when all headings are empty.
  void column(std::string_view heading, Align align, Overflow overflow = Overflow::cut);
  // As many cells as columns; control characters become "?".
  void row(std::vector<std::string> cells);
  // Lines without blanks at their ends. What is wider than `width` breaks headings that may be, then shortens its
  // longest texts, down to k_least_text, and then loses its last columns.
  std::string text(std::size_t width = 100) const;
  // How many columns `text` would leave out.
  std::size_t columns_beyond(std::size_t width) const;
  // All columns: those that `text` would leave out stand in further tables below, behind the first column again.
  std::string blocks(std::size_t width = 100) const;

 private:
  static constexpr std::size_t k_least_text = 24;
  static constexpr std::size_t k_longest_text = 400;  // of a cell that takes several lines
  struct Heading {
    std::string text;
    Align align = Align::left;
    Overflow overflow = Overflow::cut;
  };
  std::vector<std::size_t> widths(std::size_t width) const;
  std::size_t narrowest(std::size_t column) const;  // that it can be without a cut
  std::string line(const std::vector<std::vector<std::string>>& cells, const std::vector<std::size_t>& columns,
                   bool at_bottom) const;
  std::vector<std::string> cell_lines(const std::string& cell, std::size_t column, std::size_t width,
                                      bool is_heading) const;
  TextTable part(std::size_t from, std::size_t to) const;  // the first column and these
  std::vector<Heading> headings_;
  std::vector<std::vector<std::string>> rows_;
};

// The first `rows` rows of a result, at most as many as it has; numbers as people read them, long words cut.
TextTable text_table_of(const Table& table, std::size_t rows);

}  // namespace podsim
