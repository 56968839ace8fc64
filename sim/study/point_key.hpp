#pragma once
// What a point's values are in its row: a cell each, and the key of all. From point to point only what differs is made
// again, which is little in a grid whose last axes vary fastest.

#include <string>
#include <vector>

#include "sim/config/value.hpp"
#include "sim/core/sha256.hpp"
#include "sim/observe/table.hpp"

namespace podsim {

class PointKey {
 public:
  // `keys` outlives it.
  explicit PointKey(const std::vector<std::string>& keys) : keys_(keys) {}
  // One for each key.
  void take(const std::vector<Value>& values);
  // As cells of the row, in the order of the keys.
  void add_cells(std::vector<Cell>& row) const;
  // The first 16 digits of the SHA-256 of "key = value" lines, values as TOML.
  std::string text() const;

 private:
  struct Part {
    Value value;
    std::string line;
    Cell cell;
    Sha256 hash;  // of all lines up to this one
  };
  const std::vector<std::string>& keys_;
  std::vector<Part> parts_;
};

}  // namespace podsim
