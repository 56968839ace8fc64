#pragma once
// A parsed document, whatever its syntax: a tree in which every key, value and array element knows its place.
// Tables keep the order of the text.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "sim/core/diagnostics.hpp"

namespace podsim {

class Value {
 public:
  enum class Kind { null, boolean, integer, floating, string, array, table };
  struct Member;

  Value() = default;
  static Value null(Place place);
  static Value boolean(bool value, Place place);
  static Value integer(std::int64_t value, Place place);
  static Value floating(double value, Place place);
  static Value string(std::string value, Place place);
  static Value array(std::vector<Value> elements, Place place);
  static Value table(Place place);

  Kind kind() const;
  const Place& place() const { return place_; }
  bool is(Kind kind) const { return this->kind() == kind; }

  // Typed access; PODSIM_CHECK fails on another kind.
  bool as_boolean() const;
  std::int64_t as_integer() const;
  double as_number() const;  // integer or floating
  const std::string& as_string() const;
  const std::vector<Value>& elements() const;
  const std::vector<Member>& members() const;

  // Look-up by dotted path; null pointer when absent or when a step is not a table.
  const Value* find(std::string_view path) const;
  // Sets the value at a dotted path and makes missing tables; replaces what stood there.
  void set(std::string_view path, Value value);
  // The same content from the same places.
  friend bool operator==(const Value&, const Value&) = default;
  // Adds a member to a table; the parser's way (duplicates are the parser's to refuse).
  void add(std::string key, Place key_place, Value value);

 private:
  std::variant<std::monostate, bool, std::int64_t, double, std::string, std::vector<Value>, std::vector<Member>> data_;
  Place place_;
};

struct Value::Member {
  std::string key;
  Place key_place;
  Value value;
  friend bool operator==(const Member&, const Member&) = default;
};

// "a string", "an integer", "a list", … for messages.
std::string kind_name(Value::Kind kind);

// Parses text; `file` names it in places. Problems go to `diagnostics`; empty result when the text has no value.
std::optional<Value> parse_toml(std::string_view text, const std::string& file, Diagnostics& diagnostics);
std::optional<Value> parse_json(std::string_view text, const std::string& file, Diagnostics& diagnostics);
// One TOML value as written after "=", for `--set key=value`; bare words that are no TOML value are strings.
Value parse_override_value(std::string_view text, const Place& place);

// Reads a whole file; errors (absent, a folder, unreadable, larger than 64 MiB) go to `diagnostics` at `asked_at`.
std::optional<std::string> read_text_file(const std::string& path, const Place& asked_at, const std::string& key,
                                          Diagnostics& diagnostics);

// Whether a file, folder or other thing has this path.
bool file_exists(const std::string& path);

}  // namespace podsim
