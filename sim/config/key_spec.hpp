#pragma once
// The description of one input key, written once beside the code that reads it. Parser, suggestions, the
// no-effect warning, `explain`, the key reference and search spaces all read it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/value.hpp"

namespace podsim {

enum class KeyType {
  boolean,
  integer,
  number,
  text,
  choice,    // one of `choices`
  quantity,  // text with a unit, see `unit`
  integer_list,
  number_list,
  number_or_list,
  text_list,
  path,
  table,  // an open table, read by its owner
};

struct KeySpec {
  std::string path;  // dotted, from the document's root or from its own section
  KeyType type = KeyType::text;
  std::string unit;               // of a quantity: its dimension; of a number: "power of two" if text as "2^9" will do
  std::string default_text;       // as it would be written; empty: none
  std::optional<double> minimum;  // of numbers and of each list element
  std::optional<double> maximum;
  std::vector<std::string> choices;  // of a choice
  std::string versions;              // of foreign files: the versions that know it; empty: all
  std::string summary;               // one line: what it says
  std::string time_effect;           // empty: none
  std::string memory_effect;         // empty: none
  std::string source;                // where its meaning is documented
};

// Checks a table against its keys: unknown keys (with a suggestion), wrong types, values out of range. A key whose
// type is `table` is not descended into; null counts as absent. `section` is the dotted path of `table` itself, for
// messages; empty: root.
void check_keys(const Value& table, std::string_view section, std::span<const KeySpec> keys, Diagnostics& diagnostics);

// Typed reads for a table that has passed check_keys; empty when absent or null or of the wrong type (already
// reported).
std::optional<bool> read_boolean(const Value& table, std::string_view path);
std::optional<std::int64_t> read_integer(const Value& table, std::string_view path);
std::optional<double> read_number(const Value& table, std::string_view path);
std::optional<std::string> read_text(const Value& table, std::string_view path);
std::optional<std::vector<std::int64_t>> read_integers(const Value& table, std::string_view path);
std::optional<std::vector<double>> read_numbers(const Value& table, std::string_view path);
// In base units of `dimension`; zero may stand without a unit, also as a number.
std::optional<double> read_quantity(const Value& table, std::string_view path, std::string_view dimension);

}  // namespace podsim
