#include "sim/study/sweep_axes.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>

#include "sim/core/json_writer.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

using Kind = Value::Kind;

const Place k_command_line{"command line", 0, 0};
constexpr double k_most_values = 1e6;  // of one axis

// A number with what stands behind it.
struct Measured {
  double number = 0;
  bool whole = false;
  std::string unit;
};

std::optional<Measured> measured(const Value& value) {
  if (value.is(Kind::integer)) return Measured{value.as_number(), true, ""};
  if (value.is(Kind::floating)) {
    return std::isfinite(value.as_number()) ? std::optional(Measured{value.as_number(), false, ""}) : std::nullopt;
  }
  if (!value.is(Kind::string)) return std::nullopt;
  const std::string& text = value.as_string();
  Measured result;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), result.number);
  if (error != std::errc()) return std::nullopt;
  result.unit.assign(end, text.data() + text.size());
  result.unit.erase(0, result.unit.find_first_not_of(' '));
  return std::isfinite(result.number) ? std::optional(result) : std::nullopt;
}

// Twelve digits: steps of 0.1 give 0.3 and not 0.30000000000000004.
double tidy(double number) {
  double result = number;
  const std::string text = fmt::format("{:.12g}", number);
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

Value make_value(double number, bool whole, const std::string& unit, const Place& place) {
  if (!unit.empty()) return Value::string(format_number(tidy(number)) + " " + unit, place);
  if (whole) return Value::integer(static_cast<std::int64_t>(std::llround(number)), place);
  return Value::floating(tidy(number), place);
}

// Reads one range; a fault ends it.
class RangeReader {
 public:
  RangeReader(const std::string& key, const Value& table, Diagnostics& diagnostics)
      : key_(key), table_(table), diagnostics_(diagnostics) {}

  std::optional<SweepAxis> read() {
    if (!known_members() || !ends()) return std::nullopt;
    SweepAxis axis{key_, {}, std::nullopt};
    if (const Value* step = table_.find("step")) return by_step(axis, *step);
    if (const Value* factor = table_.find("factor")) return by_factor(axis, *factor);
    if (const Value* count = table_.find("count")) return by_count(axis, *count);
    if (from_.whole && to_.whole && !logarithmic_) return filled(axis, 1);
    axis.range = SweepRange{from_.number, to_.number, logarithmic_, from_.unit, table_.place()};
    return axis;
  }

 private:
  std::optional<SweepAxis> fault(const Value& value, const std::string& problem, const std::string& expected) {
    diagnostics_.error(value.place(), "sweep.axes." + key_, problem, expected);
    return std::nullopt;
  }

  bool known_members() {
    static const std::vector<std::string> k_known{"from", "to", "step", "count", "factor", "scale"};
    int spacings = 0;
    for (const Value::Member& member : table_.members()) {
      if (std::find(k_known.begin(), k_known.end(), member.key) == k_known.end()) {
        diagnostics_.error(member.key_place, "sweep.axes." + key_ + "." + member.key, "unknown key",
                           "from, to and one of step, count, factor", nearest(member.key, k_known));
        return false;
      }
      spacings += member.key == "step" || member.key == "count" || member.key == "factor" ? 1 : 0;
    }
    if (spacings > 1) fault(table_, "has more than one spacing", "one of step, count, factor");
    return spacings <= 1;
  }

  bool ends() {
    const Value* from = table_.find("from");
    const Value* to = table_.find("to");
    const std::optional<Measured> first = from != nullptr ? measured(*from) : std::nullopt;
    const std::optional<Measured> last = to != nullptr ? measured(*to) : std::nullopt;
    if (!first || !last || first->unit != last->unit) {
      fault(table_, "is no range", "from and to: two numbers, or two quantities in the same unit");
      return false;
    }
    const Value* scale = table_.find("scale");
    if (scale != nullptr &&
        !(scale->is(Kind::string) && (scale->as_string() == "log" || scale->as_string() == "linear"))) {
      fault(*scale, "is no scale", "\"log\" or \"linear\"");
      return false;
    }
    constexpr double k_exact = 0x1p53;  // whole numbers beyond it are not all doubles
    if (std::fabs(first->number) > k_exact || std::fabs(last->number) > k_exact) {
      fault(table_, "is too large a range", "numbers up to 2^53");
      return false;
    }
    from_ = *first;
    to_ = *last;
    logarithmic_ = (scale != nullptr && scale->as_string() == "log") || table_.find("factor") != nullptr;
    if (from_.number > to_.number || (logarithmic_ && from_.number <= 0)) {
      fault(
          table_, fmt::format("goes from {} to {}", format_number(from_.number), format_number(to_.number)),
          logarithmic_ ? "a first value above 0 and a last that is not below it" : "a last value not below the first");
      return false;
    }
    return true;
  }

  std::optional<SweepAxis> by_step(SweepAxis axis, const Value& written) {
    const std::optional<Measured> step = measured(written);
    if (!step || step->unit != from_.unit || !(step->number > 0)) {
      return fault(written, "is no step", "a value above 0 in the unit of from and to");
    }
    whole_step_ = step->whole;
    return filled(axis, step->number);
  }

  std::optional<SweepAxis> filled(SweepAxis axis, double step) {
    const double count = std::floor((to_.number - from_.number) / step + 1e-9) + 1;
    if (count > k_most_values) return too_many(count);
    for (double i = 0; i < count; ++i) add(axis, from_.number + i * step, from_.whole && whole_step_);
    return axis;
  }

  std::optional<SweepAxis> by_factor(SweepAxis axis, const Value& written) {
    const std::optional<Measured> factor = measured(written);
    if (!factor || !factor->unit.empty() || !(factor->number > 1)) {
      return fault(written, "is no factor", "a number above 1");
    }
    const double count = std::floor(std::log(to_.number / from_.number) / std::log(factor->number) + 1e-9) + 1;
    if (count > k_most_values) return too_many(count);
    for (double i = 0; i < count; ++i) {
      add(axis, from_.number * std::pow(factor->number, i), from_.whole && factor->whole);
    }
    return axis;
  }

  std::optional<SweepAxis> by_count(SweepAxis axis, const Value& written) {
    if (!written.is(Kind::integer) || written.as_integer() < 2) {
      return fault(written, "is no count", "a whole number of at least 2");
    }
    const double count = written.as_number();
    if (count > k_most_values) return too_many(count);
    const SweepRange range{from_.number, to_.number, logarithmic_, from_.unit, table_.place()};
    const bool whole = from_.whole && to_.whole;
    for (double i = 0; i < count; ++i) {
      const double share = i / (count - 1);
      const double number = logarithmic_ ? range.from * std::pow(range.to / range.from, share)
                                         : range.from + share * (range.to - range.from);
      add(axis, number, whole && (logarithmic_ || tidy(number) == std::round(number)));
    }
    return axis;
  }

  void add(SweepAxis& axis, double number, bool whole) {
    Value value = make_value(number, whole, from_.unit, table_.place());
    if (axis.values.empty() || toml_text(axis.values.back()) != toml_text(value))
      axis.values.push_back(std::move(value));
  }

  std::optional<SweepAxis> too_many(double count) {
    return fault(table_, fmt::format("has {:.3g} values", count), "at most a million");
  }

  const std::string& key_;
  const Value& table_;
  Diagnostics& diagnostics_;
  Measured from_, to_;
  bool logarithmic_ = false;
  bool whole_step_ = true;
};

bool is_range(const Value& value) {
  return value.is(Kind::table) && (value.find("from") != nullptr || value.find("to") != nullptr);
}

std::vector<std::string> split_values(const std::string& text) {
  std::vector<std::string> parts{""};
  int depth = 0;
  char quote = '\0';
  for (const char c : text) {
    if (quote != '\0')
      quote = c == quote ? '\0' : quote;
    else if (c == '"' || c == '\'')
      quote = c;
    else if (c == '[' || c == '{')
      ++depth;
    else if (c == ']' || c == '}')
      --depth;
    if (c == ',' && depth == 0 && quote == '\0')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

// Collects the axes of a table that may be nested, each as a group of its own.
void collect(const Value& table, const std::string& section, const std::string& prefix, std::vector<SweepGroup>& groups,
             Diagnostics& diagnostics) {
  for (const Value::Member& member : table.members()) {
    const std::string key = prefix.empty() ? member.key : prefix + "." + member.key;
    if (is_range(member.value)) {
      auto axis = RangeReader(key, member.value, diagnostics).read();
      if (axis) groups.push_back({key, {std::move(*axis)}});
    } else if (member.value.is(Kind::table)) {
      collect(member.value, section, key, groups, diagnostics);
    } else if (!member.value.is(Kind::array) || member.value.elements().empty()) {
      diagnostics.error(member.value.place(), section + "." + key, "is no list of values",
                        "a list with at least one value, or a range {from, to, step}");
    } else {
      groups.push_back({key, {{key, member.value.elements(), std::nullopt}}});
    }
  }
}

// One group of all axes in a table.
void collect_zipped(const Value::Member& written, std::vector<SweepGroup>& groups, Diagnostics& diagnostics) {
  const std::string section = "sweep.zip." + written.key;
  if (!written.value.is(Kind::table)) {
    diagnostics.error(written.value.place(), section, "is " + kind_name(written.value.kind()),
                      "a table of axes that vary together");
    return;
  }
  std::vector<SweepGroup> single;
  collect(written.value, section, "", single, diagnostics);
  SweepGroup group{written.key, {}};
  for (SweepGroup& axis : single) group.axes.push_back(std::move(axis.axes.front()));
  if (group.axes.empty()) return;
  const std::size_t length = group.axes.front().values.size();
  for (const SweepAxis& axis : group.axes) {
    if (axis.range || axis.values.size() != length) {
      diagnostics.error(written.value.place(), section,
                        fmt::format("\"{}\" has {} values, \"{}\" has {}", group.axes.front().key, length, axis.key,
                                    axis.range ? "any" : std::to_string(axis.values.size())),
                        "lists of equal length");
      return;
    }
  }
  groups.push_back(std::move(group));
}

void refuse_repeated(const std::vector<SweepGroup>& groups, const Place& place, Diagnostics& diagnostics) {
  std::vector<std::string> keys;
  for (const SweepGroup& group : groups) {
    for (const SweepAxis& axis : group.axes) {
      if (std::find(keys.begin(), keys.end(), axis.key) != keys.end()) {
        diagnostics.error(place, "sweep.axes", fmt::format("\"{}\" is an axis twice", axis.key),
                          "all its values in one");
      }
      keys.push_back(axis.key);
    }
  }
}

}  // namespace

std::vector<SweepGroup> parse_axes(const std::vector<std::string>& texts, Diagnostics& diagnostics,
                                   const std::string& option) {
  std::vector<SweepGroup> groups;
  for (const std::string& text : texts) {
    const std::size_t equals = text.find('=');
    if (equals == std::string::npos || equals == 0 || equals + 1 == text.size()) {
      diagnostics.error(k_command_line, option, fmt::format("\"{}\" is no axis", text), "KEY=VALUE,VALUE,…");
      continue;
    }
    SweepAxis axis{text.substr(0, equals), {}, std::nullopt};
    const bool twice =
        std::any_of(groups.begin(), groups.end(), [&](const SweepGroup& other) { return other.name == axis.key; });
    if (twice) {
      diagnostics.error(k_command_line, option, fmt::format("\"{}\" is an axis twice", axis.key),
                        "all its values in one");
      continue;
    }
    for (const std::string& part : split_values(text.substr(equals + 1))) {
      axis.values.push_back(parse_override_value(part, k_command_line));
    }
    if (axis.values.size() == 1 && is_range(axis.values.front())) {
      const Value table = axis.values.front();
      auto range = RangeReader(axis.key, table, diagnostics).read();
      if (!range) continue;
      axis = std::move(*range);
    }
    const std::string name = axis.key;
    groups.push_back({name, {std::move(axis)}});
  }
  return groups;
}

std::vector<SweepGroup> document_axes(const Value& document, Diagnostics& diagnostics) {
  std::vector<SweepGroup> groups;
  const Value* sweep = document.find("sweep");
  if (sweep == nullptr) return groups;
  const Value* axes = sweep->is(Kind::table) ? sweep->find("axes") : nullptr;
  const Value* zip = sweep->is(Kind::table) ? sweep->find("zip") : nullptr;
  const bool has_axes = axes != nullptr && axes->is(Kind::table);
  const bool has_zip = zip != nullptr && zip->is(Kind::table);
  const bool mistyped = (axes != nullptr && !has_axes) || (zip != nullptr && !has_zip);  // the check of the keys tells
  if (mistyped) return groups;
  if (!has_axes && !has_zip) {
    diagnostics.error(sweep->place(), "sweep", "has no table of axes", "[sweep.axes] with KEY = [VALUE, …]");
    return groups;
  }
  if (has_axes) collect(*axes, "sweep.axes", "", groups, diagnostics);
  if (has_zip) {
    for (const Value::Member& member : zip->members()) collect_zipped(member, groups, diagnostics);
  }
  refuse_repeated(groups, sweep->place(), diagnostics);
  return groups;
}

Value value_in(const SweepRange& range, double share) {
  const double number = range.logarithmic ? range.from * std::pow(range.to / range.from, share)
                                          : range.from + share * (range.to - range.from);
  return make_value(number, false, range.unit, range.place);
}

std::string toml_text(const Value& value) {
  switch (value.kind()) {
    case Kind::boolean:
      return value.as_boolean() ? "true" : "false";
    case Kind::integer:
      return std::to_string(value.as_integer());
    case Kind::floating:
      return format_number(value.as_number());
    case Kind::string:
      return json_quoted(value.as_string());
    case Kind::null:
    case Kind::table:
    case Kind::array:
      break;
  }
  std::string text;
  if (value.is(Kind::array)) {
    for (const Value& element : value.elements()) text += (text.empty() ? "" : ", ") + toml_text(element);
    return "[" + text + "]";
  }
  if (!value.is(Kind::table)) return "\"\"";
  for (const Value::Member& member : value.members()) {
    text += (text.empty() ? "" : ", ") + json_quoted(member.key) + " = " + toml_text(member.value);
  }
  return "{" + text + "}";
}

Cell input_cell(const Value& value) {
  if (value.is(Kind::integer)) return value.as_integer();
  if (value.is(Kind::floating)) return value.as_number();
  return value.is(Kind::string) ? value.as_string() : toml_text(value);
}

}  // namespace podsim
