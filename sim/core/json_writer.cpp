#include "sim/core/json_writer.hpp"

#include <cmath>

#include "sim/core/check.hpp"
#include "sim/core/utf8.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

void append_escaped(std::string& out, unsigned char c) {
  constexpr std::string_view k_hex = "0123456789abcdef";
  switch (c) {
    case '"':
      out += "\\\"";
      return;
    case '\\':
      out += "\\\\";
      return;
    case '\n':
      out += "\\n";
      return;
    case '\r':
      out += "\\r";
      return;
    case '\t':
      out += "\\t";
      return;
    case '\b':
      out += "\\b";
      return;
    case '\f':
      out += "\\f";
      return;
    default:
      break;
  }
  if (c < 0x20) {
    out += "\\u00";
    out += k_hex[c >> 4];
    out += k_hex[c & 15];
  } else {
    out += static_cast<char>(c);
  }
}

}  // namespace

std::string json_quoted(std::string_view text) {
  std::string out = "\"";
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t length = utf8_length_at(text, i);
    if (length == 0) {
      out += "\xEF\xBF\xBD";
      ++i;
    } else if (length == 1) {
      append_escaped(out, static_cast<unsigned char>(text[i]));
      ++i;
    } else {
      out += text.substr(i, length);
      i += length;
    }
  }
  return out + '"';
}

void JsonWriter::new_line() {
  if (layout_ == JsonLayout::compact) return;
  text_ += '\n';
  text_.append(2 * levels_.size(), ' ');
}

void JsonWriter::before_value() {
  PODSIM_CHECK(!done_, "the JSON document is already complete");
  if (levels_.empty()) return;
  if (levels_.back().object) {
    PODSIM_CHECK(key_pending_, "a JSON value in an object needs a key");
    key_pending_ = false;
    return;
  }
  if (!levels_.back().empty) text_ += ',';
  levels_.back().empty = false;
  new_line();
}

void JsonWriter::key(std::string_view name) {
  PODSIM_CHECK(!levels_.empty() && levels_.back().object && !key_pending_, "a JSON key stands only in an object");
  if (!levels_.back().empty) text_ += ',';
  levels_.back().empty = false;
  new_line();
  text_ += json_quoted(name) + (layout_ == JsonLayout::compact ? ":" : ": ");
  key_pending_ = true;
}

void JsonWriter::begin(bool object) {
  before_value();
  text_ += object ? '{' : '[';
  levels_.push_back({object, true});
}

void JsonWriter::end(bool object) {
  PODSIM_CHECK(!levels_.empty() && levels_.back().object == object && !key_pending_, "unbalanced JSON levels");
  const bool empty = levels_.back().empty;
  levels_.pop_back();
  if (!empty) new_line();
  text_ += object ? '}' : ']';
  done_ = levels_.empty();
  if (done_) text_ += '\n';
}

void JsonWriter::begin_object() {
  begin(true);
}
void JsonWriter::end_object() {
  end(true);
}
void JsonWriter::begin_array() {
  begin(false);
}
void JsonWriter::end_array() {
  end(false);
}

void JsonWriter::value(bool value) {
  before_value();
  text_ += value ? "true" : "false";
}

void JsonWriter::value(double value) {
  PODSIM_CHECK(std::isfinite(value), "JSON has no number that is not finite");
  before_value();
  text_ += format_number(value);
}

void JsonWriter::value(std::string_view value) {
  before_value();
  text_ += json_quoted(value);
}

void JsonWriter::integer(std::int64_t value) {
  before_value();
  text_ += std::to_string(value);
}

void JsonWriter::null() {
  before_value();
  text_ += "null";
}

const std::string& JsonWriter::text() const {
  PODSIM_CHECK(done_, "the JSON document is not complete");
  return text_;
}

}  // namespace podsim
