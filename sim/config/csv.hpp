#pragma once
// Comma-separated values as in RFC 4180: a header line, cells in double quotes where they hold commas, quotes (written
// twice) or line ends. A byte-order mark, line ends of either kind, empty lines and, above the header, lines that begin
// with # are accepted.

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/core/diagnostics.hpp"

namespace podsim {

struct CsvRow {
  int line = 0;                    // where it begins, from 1
  std::vector<std::string> cells;  // as many as columns
  std::vector<int> at;             // where on its line each begins, from 1
};

struct CsvTable {
  std::vector<std::string> columns;
  std::vector<CsvRow> rows;
};

// `file` names the text in places. All problems go to `diagnostics`; empty when there is one.
std::optional<CsvTable> parse_csv(std::string_view text, const std::string& file, Diagnostics& diagnostics);

}  // namespace podsim
