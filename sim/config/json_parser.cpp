// The one file that includes nlohmann's JSON. Its reader tells no positions of values, but it tells values in the order
// of the text: a cursor that moves from token to token beside it knows where each stands.

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>
#include <map>
#include <nlohmann/json.hpp>
#include <vector>

#include "sim/config/value.hpp"

namespace podsim {
namespace {

using Json = nlohmann::json;

constexpr std::size_t k_deepest = 200;
constexpr std::string_view k_byte_order_mark = "\xEF\xBB\xBF";

// Walks over the text from token to token and counts lines and columns (in letters, from 1).
class Cursor {
 public:
  Cursor(std::string_view text, std::string file) : text_(text), file_(std::move(file)) {
    if (text_.starts_with(k_byte_order_mark)) offset_ = counted_ = k_byte_order_mark.size();
  }

  // Offset of the next token that is a value, a key or a closing bracket.
  std::size_t next_token() const { return std::min(text_.find_first_not_of(" \t\r\n:,", offset_), text_.size()); }

  // Place of the next token, and past it. Only for tokens that the reader has accepted.
  Place take() {
    const std::size_t begin = next_token();
    offset_ = end_of_token(begin);
    return place_of(begin);
  }

  // Offsets must not go back.
  Place place_of(std::size_t offset) {
    for (; counted_ < offset; ++counted_) {
      if (text_[counted_] == '\n') {
        ++line_;
        column_ = 1;
      } else if ((static_cast<unsigned char>(text_[counted_]) & 0xC0) != 0x80) {
        ++column_;
      }
    }
    return {file_, line_, column_};
  }

 private:
  std::size_t end_of_token(std::size_t begin) const {
    if (begin >= text_.size()) return begin;
    if (std::string_view("{}[]").find(text_[begin]) != std::string_view::npos) return begin + 1;
    if (text_[begin] != '"') return std::min(text_.find_first_of(" \t\r\n:,{}[]\"", begin), text_.size());
    std::size_t i = begin + 1;
    while (i < text_.size() && text_[i] != '"') i += text_[i] == '\\' ? 2 : 1;
    return std::min(i + 1, text_.size());
  }

  std::string_view text_;
  std::string file_;
  std::size_t offset_ = 0;
  std::size_t counted_ = 0;
  int line_ = 1;
  int column_ = 1;
};

class Builder : public nlohmann::json_sax<Json> {
 public:
  Builder(std::string_view text, const std::string& file, Diagnostics& diagnostics)
      : text_(text), cursor_(text, file), diagnostics_(diagnostics) {}

  std::optional<Value>& result() { return result_; }

  bool null() override { return add(Value::null(cursor_.take())); }
  bool boolean(bool value) override { return add(Value::boolean(value, cursor_.take())); }
  bool number_integer(std::int64_t value) override { return add(Value::integer(value, cursor_.take())); }
  bool number_unsigned(std::uint64_t value) override {
    Place place = cursor_.take();
    if (value > static_cast<std::uint64_t>(INT64_MAX)) {
      return add(Value::floating(static_cast<double>(value), std::move(place)));
    }
    return add(Value::integer(static_cast<std::int64_t>(value), std::move(place)));
  }
  bool number_float(double value, const std::string& /*written*/) override {
    return add(Value::floating(value, cursor_.take()));
  }
  bool string(std::string& value) override { return add(Value::string(std::move(value), cursor_.take())); }
  bool binary(Json::binary_t& /*value*/) override { return false; }

  bool start_object(std::size_t /*elements*/) override { return open(true); }
  bool start_array(std::size_t /*elements*/) override { return open(false); }

  bool key(std::string& name) override {
    Place place = cursor_.take();
    Frame& frame = frames_.back();
    const auto [earlier, is_new] = frame.keys.emplace(name, place);
    frame.key = std::move(name);
    if (!is_new) {
      diagnostics_.error(place, path(), fmt::format("written twice; the first is in line {}", earlier->second.line));
    }
    frame.key_place = std::move(place);
    frame.has_key = true;
    return true;
  }

  bool end_object() override { return close(); }
  bool end_array() override { return close(); }

  bool parse_error(std::size_t position, const std::string& /*last_token*/,
                   const nlohmann::detail::exception& error) override {
    const std::string_view what = error.what();
    const bool inside_token = what.find("; last read: '") != std::string_view::npos;
    // `position` counts the bytes read, the offending one or the end included.
    const std::size_t last = std::min(position == 0 ? 0 : position - 1, text_.size());
    std::size_t at = std::min(cursor_.next_token(), last);
    if (at < text_.size() && text_[at] == '"' && inside_token) at = last;
    const auto [problem, expected] = explain(at, last, error.id, what);
    diagnostics_.error(cursor_.place_of(at), path(), "not valid JSON: " + problem, expected);
    return false;
  }

 private:
  struct Frame {
    Value container;              // of an object
    std::vector<Value> elements;  // of an array
    Place place;
    bool object = false;
    bool has_key = false;  // an object between a key and its value
    std::string key;
    Place key_place;
    std::map<std::string, Place, std::less<>> keys;
  };

  bool open(bool object) {
    Place place = cursor_.take();
    if (frames_.size() >= k_deepest) {
      diagnostics_.error(std::move(place), "", fmt::format("nested deeper than {} levels", k_deepest));
      return false;
    }
    Frame frame;
    frame.container = Value::table(place);
    frame.place = std::move(place);
    frame.object = object;
    frames_.push_back(std::move(frame));
    return true;
  }

  bool close() {
    cursor_.take();
    Frame frame = std::move(frames_.back());
    frames_.pop_back();
    if (frame.object) return add(std::move(frame.container));
    return add(Value::array(std::move(frame.elements), std::move(frame.place)));
  }

  bool add(Value value) {
    if (frames_.empty()) {
      result_ = std::move(value);
      return true;
    }
    Frame& frame = frames_.back();
    if (frame.object) {
      frame.container.add(std::move(frame.key), std::move(frame.key_place), std::move(value));
      frame.key.clear();
      frame.has_key = false;
    } else {
      frame.elements.push_back(std::move(value));
    }
    return true;
  }

  // Where the reader is: "layers[2].name".
  std::string path() const {
    std::string result;
    for (const Frame& frame : frames_) {
      if (!frame.object) {
        result += fmt::format("[{}]", frame.elements.size());
      } else if (!frame.key.empty()) {
        result += (result.empty() ? "" : ".") + frame.key;
      }
    }
    return result;
  }

  struct Explanation {
    std::string problem;
    std::string expected;
  };

  Explanation explain(std::size_t at, std::size_t last, int id, std::string_view what) const {
    constexpr int k_number_out_of_range = 406;
    if (text_.find_first_not_of(" \t\r\n") == std::string_view::npos) return {"the text is empty", "a JSON value"};
    if (id == k_number_out_of_range) return {"a number beyond the range of numbers", "a finite number"};
    if (last >= text_.size()) return {"the text ends before its value is complete", ""};
    const std::string_view rest = text_.substr(at);
    for (const std::string_view word : {"NaN", "Infinity", "-Infinity"}) {
      if (rest.starts_with(word)) return {fmt::format("{} is not a number", word), "a finite number"};
    }
    const std::size_t before = at == 0 ? std::string_view::npos : text_.find_last_not_of(" \t\r\n", at - 1);
    const bool after_comma = before != std::string_view::npos && text_[before] == ',';
    if (after_comma && (text_[at] == ']' || text_[at] == '}')) return {"a comma before the closing bracket", ""};
    if (!frames_.empty() && frames_.back().object && !frames_.back().has_key && is_bare_word(text_[at])) {
      return {"a key without double quotes", "a string"};
    }
    return {readable(what), ""};
  }

  static bool is_bare_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '\'';
  }

  // The library's words between "… - " and its quotation of the text, which may hold any bytes.
  static std::string readable(std::string_view what) {
    if (const std::size_t dash = what.find(" - "); dash != std::string_view::npos) what.remove_prefix(dash + 3);
    what = what.substr(0, what.find("; last read: '"));
    std::string result;
    for (const char c : what) result += c >= ' ' && c <= '~' ? c : '?';
    return result;
  }

  std::string_view text_;
  Cursor cursor_;
  Diagnostics& diagnostics_;
  std::vector<Frame> frames_;
  std::optional<Value> result_;
};

}  // namespace

std::optional<Value> parse_json(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  Diagnostics found;
  Builder builder(text, file, found);
  Json::sax_parse(text.begin(), text.end(), &builder);
  diagnostics.append(found);
  if (found.has_errors()) return std::nullopt;
  return std::move(builder.result());
}

}  // namespace podsim
