#pragma once
// Constants are data: each has a value with its unit, a source, a confidence and, where known, a spread. They come
// from TOML files, may be overridden by the user, and a run records which it read.
//
// In a file a constant is an inline table under its dotted name:
//   [chip_link]
//   bandwidth = { value = "75 GB/s", source = "…", confidence = "measured", spread = "70 to 80 GB/s" }
// A number without unit has dimension "number" and is written bare: value = 1472. One written without a point counts
// things and stays whole where studies vary it; a factor of one is written 1.0. Text that begins with a digit, sign or
// point is a quantity; other text has dimension "text".

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/value.hpp"
#include "sim/core/ids.hpp"
#include "sim/core/shared_vector.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"

namespace podsim {

struct Constant {
  std::string name;       // dotted, e.g. "system.chip_link.bandwidth"
  std::string text;       // value as written, with unit
  double base_value = 0;  // in base units of its dimension
  std::string dimension;  // "number", "time", "data", "bandwidth", "flop_rate", "cycles", "clock", "power",
                          // "energy", "flop_count", "text"
  std::string source;
  std::string confidence;  // datasheet, measured, derived, fitted, assumed, user
  std::string spread;      // empty: not known
  Place place;
  bool whole = false;  // a count of things, or bytes
};

// The text of `constant` with another value, in the unit that it is written in: six significant digits.
std::string text_with_value(const Constant& constant, double base_value);

class ConstantSet {
 public:
  // Adds every constant of a document, its names prefixed by `prefix` and a dot; members named in `skip` at the
  // document's root are not constants. Bad entries go to `diagnostics`.
  void add(const Value& document, std::string_view prefix, const std::vector<std::string>& skip,
           Diagnostics& diagnostics);
  // Replaces the value of a known constant and marks it "user". Unknown names (with a suggestion), wrong
  // dimensions and values that are not positive where the old one was go to `diagnostics`.
  void override_value(std::string_view name, const Value& value, Diagnostics& diagnostics);

  // Another value in the same base units, for studies that vary constants; whole constants are rounded to the nearest
  // whole value, at least 1.
  void vary(ConstantId id, double base_value);
  // Says of an overridden constant that it was fitted: by whom and on what, and how far it may be off.
  void mark_fitted(ConstantId id, std::string source, std::string spread);

  std::optional<ConstantId> find(std::string_view name) const;
  const Constant& operator[](ConstantId id) const { return *constants_.get()[id.index()]; }
  std::size_t size() const { return constants_.size(); }
  std::vector<std::string> names() const;
  // Copies share their constants, and all but the changed ones when one is changed: sets with the same identity are
  // equal.
  const void* identity() const { return constants_.identity(); }

 private:
  void insert(Constant constant);
  SharedVector<std::shared_ptr<const Constant>> constants_;  // in the order of reading
  SharedVector<std::uint32_t> by_name_;                      // indices into constants_, sorted by name
};

// Reads constants for one run and remembers which. A required constant that is absent or of another dimension is a
// fault of the shipped or replaced configs: it throws ConfigError naming it.
class ConstantReader {
 public:
  explicit ConstantReader(const ConstantSet& set);
  bool has(std::string_view name) const;
  double number(std::string_view name);
  std::int64_t count(std::string_view name);
  Duration time(std::string_view name);
  Bytes data(std::string_view name);
  Bandwidth bandwidth(std::string_view name);
  FlopRate flop_rate(std::string_view name);
  Cycles cycle_count(std::string_view name);
  Clock clock(std::string_view name);
  Power power(std::string_view name);
  std::string text(std::string_view name);

  // Throws ConfigError about a constant that was read, at its place.
  [[noreturn]] void refuse(std::string_view name, std::string problem, std::string expected) const;

  std::vector<ConstantId> read_ids() const;  // ascending

 private:
  const Constant& constant(std::string_view name, std::string_view dimension);
  double read(std::string_view name, std::string_view dimension);
  const ConstantSet& set_;
  std::vector<bool> read_;
};

}  // namespace podsim
