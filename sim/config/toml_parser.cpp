// The one file that includes toml++.

#include <fmt/format.h>
#include <toml++/toml.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "sim/config/value.hpp"

namespace podsim {
namespace {

Place place_of(const toml::source_region& region, const std::string& file, const Place& fallback) {
  if (region.begin.line == 0) return fallback;
  return {file, static_cast<int>(region.begin.line), static_cast<int>(region.begin.column)};
}

std::string joined(const std::string& path, std::string_view step) {
  return path.empty() ? std::string(step) : path + "." + std::string(step);
}

// toml++'s tree as ours. The library sorts members by name; they are put back into the order of the text.
class Converter {
 public:
  Converter(std::string file, Diagnostics& diagnostics) : file_(std::move(file)), diagnostics_(diagnostics) {}

  Value table(const toml::table& node, const Place& place, const std::string& path) {
    struct Entry {
      std::string key;
      Place place;
      const toml::node* node;
    };
    std::vector<Entry> entries;
    for (const auto& [key, child] : node) {
      entries.push_back({std::string(key.str()), place_of(key.source(), file_, place), &child});
    }
    std::stable_sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return std::pair(a.place.line, a.place.column) < std::pair(b.place.line, b.place.column);
    });
    Value result = Value::table(place);
    for (Entry& entry : entries) {
      const std::string child_path = joined(path, entry.key);
      Value child = value(*entry.node, place_of(entry.node->source(), file_, entry.place), child_path);
      result.add(std::move(entry.key), std::move(entry.place), std::move(child));
    }
    return result;
  }

 private:
  Value value(const toml::node& node, const Place& place, const std::string& path) {
    switch (node.type()) {
      case toml::node_type::table:
        return table(*node.as_table(), place, path);
      case toml::node_type::array:
        return array(*node.as_array(), place, path);
      case toml::node_type::string:
        return Value::string(node.as_string()->get(), place);
      case toml::node_type::integer:
        return Value::integer(node.as_integer()->get(), place);
      case toml::node_type::boolean:
        return Value::boolean(node.as_boolean()->get(), place);
      case toml::node_type::floating_point:
        return floating(node.as_floating_point()->get(), place, path);
      default:
        break;
    }
    diagnostics_.error(place, path, "dates and times are not used here", "a string, number, boolean, list or table");
    return Value::null(place);
  }

  Value array(const toml::array& node, const Place& place, const std::string& path) {
    std::vector<Value> elements;
    elements.reserve(node.size());
    for (const toml::node& child : node) {
      elements.push_back(
          value(child, place_of(child.source(), file_, place), fmt::format("{}[{}]", path, elements.size())));
    }
    return Value::array(std::move(elements), place);
  }

  Value floating(double number, const Place& place, const std::string& path) {
    if (!std::isfinite(number)) diagnostics_.error(place, path, "is not a finite number", "a number");
    return Value::floating(number, place);
  }

  std::string file_;
  Diagnostics& diagnostics_;
};

// The library's sentence begins with "Error while parsing …: "; the rest says what is wrong.
std::string syntax_problem(std::string_view description) {
  constexpr std::string_view k_start = "Error while parsing ";
  if (description.starts_with(k_start)) description.remove_prefix(k_start.size());
  std::string text = "not valid TOML: ";
  for (const char c : description) text += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  return text;
}

// The same value with all places replaced.
Value at_place(const Value& value, const Place& place) {
  switch (value.kind()) {
    case Value::Kind::null:
      return Value::null(place);
    case Value::Kind::boolean:
      return Value::boolean(value.as_boolean(), place);
    case Value::Kind::integer:
      return Value::integer(value.as_integer(), place);
    case Value::Kind::floating:
      return Value::floating(value.as_number(), place);
    case Value::Kind::string:
      return Value::string(value.as_string(), place);
    case Value::Kind::array:
      break;
    case Value::Kind::table: {
      Value result = Value::table(place);
      for (const Value::Member& member : value.members()) result.add(member.key, place, at_place(member.value, place));
      return result;
    }
  }
  std::vector<Value> elements;
  for (const Value& element : value.elements()) elements.push_back(at_place(element, place));
  return Value::array(std::move(elements), place);
}

// The first line whose key or table header has more than 256 parts, which the parser would follow by recursion; 0:
// none.
int line_with_endless_key(std::string_view text) {
  constexpr std::ptrdiff_t k_most_dots = 256;
  int line = 1;
  for (std::size_t begin = 0; begin < text.size(); ++line) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view key = text.substr(begin, std::min(text.find_first_of("=\"\'#", begin), end) - begin);
    if (std::count(key.begin(), key.end(), '.') > k_most_dots) return line;
    begin = end + 1;
  }
  return 0;
}

std::string_view trimmed(std::string_view text) {
  constexpr std::string_view k_blanks = " \t\r\n";
  const std::size_t begin = text.find_first_not_of(k_blanks);
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(k_blanks) - begin + 1);
}

}  // namespace

std::optional<Value> parse_toml(std::string_view text, const std::string& file, Diagnostics& diagnostics) {
  if (const int line = line_with_endless_key(text); line > 0) {
    diagnostics.error({file, line, 1}, "", "a key of more than 256 parts");
    return std::nullopt;
  }
  try {
    const toml::table root = toml::parse(text, std::string_view(file));
    Diagnostics found;
    Value result = Converter(file, found).table(root, {file, 1, 1}, "");
    diagnostics.append(found);
    if (found.has_errors()) return std::nullopt;
    return result;
  } catch (const toml::parse_error& error) {
    diagnostics.error(place_of(error.source(), file, {file, 0, 0}), "", syntax_problem(error.description()));
    return std::nullopt;
  }
}

Value parse_override_value(std::string_view text, const Place& place) {
  const std::string_view written = trimmed(text);
  Diagnostics ignored;
  const auto document = parse_toml("value = " + std::string(written), "", ignored);
  // Text with line breaks could hold more than one assignment; then it is no single value.
  if (document && document->members().size() == 1 && document->members().front().key == "value") {
    return at_place(document->members().front().value, place);
  }
  return Value::string(std::string(written), place);
}

}  // namespace podsim
