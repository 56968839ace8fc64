#pragma once
// A table in plain text: columns as wide as their longest cell, two blanks between them, an indentation of two.

#include <string>
#include <string_view>
#include <vector>

#include "sim/observe/table.hpp"

namespace podsim {

enum class Align { left, right };

class TextTable {
 public:
  // An empty `heading` line is left out when all headings are empty.
  void column(std::string_view heading, Align align);
  // As many cells as columns.
  void row(std::vector<std::string> cells);
  // Lines without blanks at their ends. What is wider than `width` loses the ends of its longest texts, down to
  // k_least_text, and then its last columns.
  std::string text(std::size_t width = 100) const;
  // How many columns `text` would leave out.
  std::size_t columns_beyond(std::size_t width) const;

 private:
  static constexpr std::size_t k_least_text = 24;
  std::vector<std::size_t> widths(std::size_t width) const;
  std::vector<std::string> headings_;
  std::vector<Align> aligns_;
  std::vector<std::vector<std::string>> rows_;
};

// The first `rows` rows of a result, at most as many as it has; numbers as people read them, long words cut.
TextTable text_table_of(const Table& table, std::size_t rows);

}  // namespace podsim
