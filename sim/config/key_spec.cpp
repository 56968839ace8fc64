#include "sim/config/key_spec.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "sim/units/text.hpp"

namespace podsim {
namespace {

using Kind = Value::Kind;

std::string joined(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

bool is_number(const Value& value) {
  return value.is(Kind::integer) || value.is(Kind::floating);
}

// An integer, or a number that is exactly one, such as 1.0.
std::optional<std::int64_t> as_whole(const Value& value) {
  if (value.is(Kind::integer)) return value.as_integer();
  if (!value.is(Kind::floating)) return std::nullopt;
  const double number = value.as_number();
  if (!(std::abs(number) < 0x1p63) || number != std::floor(number)) return std::nullopt;
  return static_cast<std::int64_t>(number);
}

std::string in_words(const std::vector<std::string>& words) {
  if (words.size() < 2) return words.empty() ? "" : words.front();
  return fmt::format("{} or {}", fmt::join(words.begin(), words.end() - 1, ", "), words.back());
}

std::string number_text(const Value& value) {
  return value.is(Kind::integer) ? std::to_string(value.as_integer()) : format_number(value.as_number());
}

constexpr std::string_view k_power_of_two = "power of two";

// Of text such as "2^12" or "2^-3"; empty: it is none.
std::optional<double> power_of_two(const Value& value) {
  if (!value.is(Kind::string)) return std::nullopt;
  const std::string_view text = value.as_string();
  if (!text.starts_with("2^")) return std::nullopt;
  int exponent = 0;
  const char* end = text.data() + text.size();
  const auto [last, problem] = std::from_chars(text.data() + 2, end, exponent);
  if (problem != std::errc() || last != end) return std::nullopt;
  return std::ldexp(1.0, exponent);
}

// A bound as the user would write it: with the unit of a quantity, whole numbers without an exponent.
std::string bound_text(const KeySpec& spec, double bound) {
  if (spec.type == KeyType::quantity) return format_quantity(bound, spec.unit);
  const bool whole = bound == std::floor(bound) && std::abs(bound) < 1e15;
  return whole ? std::to_string(static_cast<std::int64_t>(bound)) : format_number(bound);
}

std::string range_text(const KeySpec& spec) {
  if (spec.minimum && spec.maximum) {
    return fmt::format("from {} to {}", bound_text(spec, *spec.minimum), bound_text(spec, *spec.maximum));
  }
  if (spec.minimum) return "at least " + bound_text(spec, *spec.minimum);
  return "at most " + bound_text(spec, *spec.maximum);
}

std::string expected_text(const KeySpec& spec) {
  switch (spec.type) {
    case KeyType::boolean:
      return "true or false";
    case KeyType::integer:
      return "an integer";
    case KeyType::number:
      return spec.unit == k_power_of_two ? "a number or a power of two such as \"2^12\"" : "a number";
    case KeyType::text:
      return "a string";
    case KeyType::choice:
      return in_words(spec.choices);
    case KeyType::quantity:
      return "a string with a unit: " + accepted_units(spec.unit);
    case KeyType::integer_list:
      return "a list of integers";
    case KeyType::number_list:
      return "a list of numbers";
    case KeyType::number_or_list:
      return "a number or a list of numbers";
    case KeyType::text_list:
      return "a list of strings";
    case KeyType::path:
      return "a path";
    case KeyType::table:
      return "a table";
  }
  return {};
}

class Checker {
 public:
  Checker(std::string_view section, std::span<const KeySpec> keys, Diagnostics& diagnostics)
      : section_(section), keys_(keys), diagnostics_(diagnostics) {}

  // `prefix` is the path of `table` inside the section.
  void table(const Value& table, const std::string& prefix) {
    for (const Value::Member& member : table.members()) {
      const std::string path = joined(prefix, member.key);
      const KeySpec* spec = find(path);
      // Most members are plain values of known keys, for which nobody asks what stands below.
      const bool has_children = (spec == nullptr || member.value.is(Kind::table)) && is_prefix(path);
      if (has_children && member.value.is(Kind::table)) {
        this->table(member.value, path);
      } else if (spec != nullptr) {
        value(*spec, member.value, path);
      } else if (has_children) {
        if (!member.value.is(Kind::null)) wrong_type(member.value, joined(section_, path), "a table");
      } else {
        unknown(member, prefix, path);
      }
    }
  }

 private:
  const KeySpec* find(std::string_view path) const {
    const auto it = std::find_if(keys_.begin(), keys_.end(), [&](const KeySpec& spec) { return spec.path == path; });
    return it == keys_.end() ? nullptr : &*it;
  }

  bool is_prefix(const std::string& path) const {
    const std::string start = path + ".";
    return std::any_of(keys_.begin(), keys_.end(), [&](const KeySpec& spec) { return spec.path.starts_with(start); });
  }

  void unknown(const Value::Member& member, const std::string& prefix, const std::string& path) {
    constexpr std::size_t k_listed = 12;
    const std::string near = suggestion(member.key, prefix);
    const std::vector<std::string> known = siblings(prefix);
    const bool listed = near.empty() && !known.empty() && known.size() <= k_listed;
    diagnostics_.error(member.key_place, joined(section_, path), "unknown key",
                       listed ? fmt::format("one of {}", fmt::join(known, ", ")) : "", near);
  }

  // Names that may stand in the table at `prefix`, in the order of the specifications.
  std::vector<std::string> siblings(const std::string& prefix) const {
    const std::string start = prefix.empty() ? "" : prefix + ".";
    std::vector<std::string> names;
    for (const KeySpec& spec : keys_) {
      if (!spec.path.starts_with(start)) continue;
      const std::string_view rest = std::string_view(spec.path).substr(start.size());
      const std::string_view name = rest.substr(0, rest.find('.'));
      if (std::find(names.begin(), names.end(), name) == names.end()) names.emplace_back(name);
    }
    return names;
  }

  // A near name at the same level; else the full path of a key of that very name elsewhere.
  std::string suggestion(const std::string& name, const std::string& prefix) const {
    const std::vector<std::string> known = siblings(prefix);
    if (const std::string near = nearest(name, known); !near.empty()) return near;
    // The only one whose name goes on with further words.
    const auto goes_on = [&](const std::string& sibling) { return sibling.starts_with(name + "_"); };
    const auto longer = std::find_if(known.begin(), known.end(), goes_on);
    if (std::count_if(known.begin(), known.end(), goes_on) == 1) return *longer;
    for (const KeySpec& spec : keys_) {
      if (spec.path.ends_with("." + name)) return joined(section_, spec.path);
    }
    return {};
  }

  void wrong_type(const Value& value, const std::string& key, const std::string& expected) {
    const bool bare_list = value.is(Kind::string) && value.as_string().find(',') != std::string::npos;
    const std::string bracketed = bare_list && expected.find("list") != std::string::npos
                                      ? fmt::format("[{}]", value.as_string())
                                      : std::string();
    diagnostics_.error(value.place(), key, "is " + kind_name(value.kind()), expected, bracketed);
  }

  void value(const KeySpec& spec, const Value& value, const std::string& path) {
    if (value.is(Kind::null) || plainly_right(spec, value)) return;
    const std::string key = joined(section_, path);
    switch (spec.type) {
      case KeyType::boolean:
        return kind(spec, value, key, Kind::boolean);
      case KeyType::text:
      case KeyType::path:
        return kind(spec, value, key, Kind::string);
      case KeyType::table:
        return kind(spec, value, key, Kind::table);
      case KeyType::integer:
        return integer(spec, value, key, expected_text(spec));
      case KeyType::number:
        return number(spec, value, key, expected_text(spec));
      case KeyType::choice:
        return choice(spec, value, key);
      case KeyType::quantity:
        return quantity(spec, value, key);
      case KeyType::integer_list:
      case KeyType::number_list:
        return list(spec, value, key);
      case KeyType::number_or_list:
        return value.is(Kind::array) ? list(spec, value, key) : number(spec, value, key, expected_text(spec));
      case KeyType::text_list:
        return texts(spec, value, key);
    }
  }

  // Right beyond question, so that no text for a message needs to be made.
  static bool plainly_right(const KeySpec& spec, const Value& value) {
    switch (spec.type) {
      case KeyType::boolean:
        return value.is(Kind::boolean);
      case KeyType::text:
      case KeyType::path:
        return value.is(Kind::string);
      case KeyType::integer:
        return plain_number(spec, value, true);
      case KeyType::number:
        return plain_number(spec, value, false);
      case KeyType::number_or_list:
        return plain_number(spec, value, false) || plain_list(spec, value, false);
      case KeyType::integer_list:
        return plain_list(spec, value, true);
      case KeyType::number_list:
        return plain_list(spec, value, false);
      case KeyType::table:
      case KeyType::choice:
      case KeyType::quantity:
      case KeyType::text_list:
        break;
    }
    return false;
  }

  static bool plain_number(const KeySpec& spec, const Value& value, bool integer) {
    if (!value.is(Kind::integer) && (integer || !value.is(Kind::floating))) return false;
    const double number = value.as_number();
    return std::isfinite(number) && (!spec.minimum || number >= *spec.minimum) &&
           (!spec.maximum || number <= *spec.maximum);
  }

  static bool plain_list(const KeySpec& spec, const Value& value, bool integers) {
    return value.is(Kind::array) &&
           std::all_of(value.elements().begin(), value.elements().end(),
                       [&](const Value& element) { return plain_number(spec, element, integers); });
  }

  void kind(const KeySpec& spec, const Value& value, const std::string& key, Kind wanted) {
    if (!value.is(wanted)) wrong_type(value, key, expected_text(spec));
  }

  void range(const KeySpec& spec, double number, const Value& value, const std::string& key, const std::string& text) {
    const bool inside = !(spec.minimum && number < *spec.minimum) && !(spec.maximum && number > *spec.maximum);
    if (!inside) diagnostics_.error(value.place(), key, text + " is out of range", range_text(spec));
  }

  void number(const KeySpec& spec, const Value& value, const std::string& key, const std::string& expected) {
    if (const auto power = spec.unit == k_power_of_two ? power_of_two(value) : std::nullopt) {
      return range(spec, *power, value, key, value.as_string());
    }
    if (!is_number(value)) return wrong_type(value, key, expected);
    if (!std::isfinite(value.as_number())) {
      diagnostics_.error(value.place(), key, "is not a finite number", expected);
      return;
    }
    range(spec, value.as_number(), value, key, number_text(value));
  }

  void integer(const KeySpec& spec, const Value& value, const std::string& key, const std::string& expected) {
    if (!is_number(value)) return wrong_type(value, key, expected);
    const auto whole = as_whole(value);
    if (!whole) {
      const bool huge = std::abs(value.as_number()) >= 0x1p63;
      const std::string limits = spec.minimum || spec.maximum ? range_text(spec) : "an integer of 64 bits";
      diagnostics_.error(value.place(), key,
                         number_text(value) + (huge ? " is out of range" : " is not a whole number"),
                         huge ? limits : expected);
      return;
    }
    range(spec, static_cast<double>(*whole), value, key, std::to_string(*whole));
  }

  void list(const KeySpec& spec, const Value& value, const std::string& key) {
    if (!value.is(Kind::array)) return wrong_type(value, key, expected_text(spec));
    const bool integers = spec.type == KeyType::integer_list;
    for (std::size_t i = 0; i < value.elements().size(); ++i) {
      const Value& element = value.elements()[i];
      const std::string element_key = fmt::format("{}[{}]", key, i);
      if (integers) {
        integer(spec, element, element_key, "an integer");
      } else {
        number(spec, element, element_key, "a number");
      }
    }
  }

  void texts(const KeySpec& spec, const Value& value, const std::string& key) {
    if (!value.is(Kind::array)) return wrong_type(value, key, expected_text(spec));
    for (std::size_t i = 0; i < value.elements().size(); ++i) {
      const Value& element = value.elements()[i];
      if (!element.is(Kind::string)) wrong_type(element, fmt::format("{}[{}]", key, i), "a string");
    }
  }

  void choice(const KeySpec& spec, const Value& value, const std::string& key) {
    if (!value.is(Kind::string)) return wrong_type(value, key, expected_text(spec));
    const std::string& word = value.as_string();
    if (std::find(spec.choices.begin(), spec.choices.end(), word) != spec.choices.end()) return;
    diagnostics_.error(value.place(), key, fmt::format("unknown value \"{}\"", word), expected_text(spec),
                       nearest(word, spec.choices));
  }

  void quantity(const KeySpec& spec, const Value& value, const std::string& key) {
    if (is_number(value) && value.as_number() != 0) {
      diagnostics_.error(value.place(), key, number_text(value) + " has no unit", expected_text(spec));
      return;
    }
    if (is_number(value)) return range(spec, 0, value, key, "0");
    if (!value.is(Kind::string)) return wrong_type(value, key, expected_text(spec));
    const auto parsed = parse_quantity_of(value.as_string(), spec.unit);
    if (const auto* problem = std::get_if<std::string>(&parsed)) {
      diagnostics_.error(value.place(), key, *problem);
      return;
    }
    range(spec, std::get<double>(parsed), value, key, value.as_string());
  }

  std::string section_;
  std::span<const KeySpec> keys_;
  Diagnostics& diagnostics_;
};

}  // namespace

void check_keys(const Value& table, std::string_view section, std::span<const KeySpec> keys, Diagnostics& diagnostics) {
  if (!table.is(Kind::table)) {
    diagnostics.error(table.place(), std::string(section), "is " + kind_name(table.kind()), "a table");
    return;
  }
  Checker(section, keys, diagnostics).table(table, "");
}

std::optional<bool> read_boolean(const Value& table, std::string_view path) {
  const Value* value = table.find(path);
  if (value == nullptr || !value->is(Kind::boolean)) return std::nullopt;
  return value->as_boolean();
}

std::optional<std::int64_t> read_integer(const Value& table, std::string_view path) {
  const Value* value = table.find(path);
  return value == nullptr ? std::nullopt : as_whole(*value);
}

std::optional<double> read_number(const Value& table, std::string_view path) {
  const Value* value = table.find(path);
  if (value == nullptr) return std::nullopt;
  return is_number(*value) ? value->as_number() : power_of_two(*value);
}

std::optional<std::string> read_text(const Value& table, std::string_view path) {
  const Value* value = table.find(path);
  if (value == nullptr || !value->is(Kind::string)) return std::nullopt;
  return value->as_string();
}

std::optional<std::vector<std::int64_t>> read_integers(const Value& table, std::string_view path) {
  const Value* value = table.find(path);
  if (value == nullptr || !value->is(Kind::array)) return std::nullopt;
  std::vector<std::int64_t> result;
  for (const Value& element : value->elements()) {
    const auto whole = as_whole(element);
    if (!whole) return std::nullopt;
    result.push_back(*whole);
  }
  return result;
}

std::optional<std::vector<double>> read_numbers(const Value& table, std::string_view path) {
  const Value* value = table.find(path);
  if (value == nullptr || !value->is(Kind::array)) return std::nullopt;
  std::vector<double> result;
  for (const Value& element : value->elements()) {
    if (!is_number(element)) return std::nullopt;
    result.push_back(element.as_number());
  }
  return result;
}

std::optional<double> read_quantity(const Value& table, std::string_view path, std::string_view dimension) {
  const Value* value = table.find(path);
  if (value == nullptr) return std::nullopt;
  if (is_number(*value)) return value->as_number() == 0 ? std::optional(0.0) : std::nullopt;
  if (!value->is(Kind::string)) return std::nullopt;
  const auto parsed = parse_quantity_of(value->as_string(), dimension);
  const double* base = std::get_if<double>(&parsed);
  return base == nullptr ? std::nullopt : std::optional(*base);
}

}  // namespace podsim
