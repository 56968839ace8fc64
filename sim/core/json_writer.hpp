#pragma once
// Writes JSON in the order of the calls, two spaces per level or, compact, on one line. The same calls give the same
// bytes. Misuse (a value without a key in an object, an unclosed level, a number that is not finite) is our fault:
// PODSIM_CHECK.

#include <concepts>
#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/core/check.hpp"

namespace podsim {

enum class JsonLayout { indented, compact };

class JsonWriter {
 public:
  explicit JsonWriter(JsonLayout layout = JsonLayout::indented) : layout_(layout) {}
  void begin_object();
  void end_object();
  void begin_array();
  void end_array();
  void key(std::string_view name);

  void value(bool value);
  void value(double value);  // the shortest decimal that reads back the same
  void value(std::string_view value);
  void value(const char* value) { this->value(std::string_view(value)); }
  template <std::integral T>
  void value(T value) {
    PODSIM_CHECK(std::in_range<std::int64_t>(value), "an integer beyond 64 bits with sign");
    integer(static_cast<std::int64_t>(value));
  }
  void null();

  // key() and value() in one.
  template <class T>
  void member(std::string_view name, const T& content) {
    key(name);
    value(content);
  }

  // The finished document with a newline at its end; every level must be closed.
  const std::string& text() const;

 private:
  struct Level {
    bool object = false;
    bool empty = true;
  };
  void integer(std::int64_t value);
  void before_value();
  void begin(bool object);
  void end(bool object);
  void new_line();

  JsonLayout layout_;
  std::string text_;
  std::vector<Level> levels_;
  bool key_pending_ = false;
  bool done_ = false;
};

// A JSON string with its quotes. Bytes that are not UTF-8 become U+FFFD, so that the output is always valid.
std::string json_quoted(std::string_view text);

}  // namespace podsim
