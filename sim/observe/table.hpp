#pragma once
// Results as tables, so that families can make their own and formatters only format.

#include <cstdint>
#include <string>
#include <variant>
#include <vector>

namespace podsim {

struct Column {
  std::string name;  // with its unit as a suffix where it has one: "compute_s"
  std::string unit;  // "s", "byte", "%", "" for none
};

using Cell = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

struct Table {
  std::string name;
  std::vector<Column> columns;
  std::vector<std::vector<Cell>> rows;
  std::string view = {};  // the table that it belongs to, by name; empty: it stands alone
};

struct Series {
  Column x;
  Column y;
  std::vector<std::pair<double, double>> points;
};

}  // namespace podsim
