#include "sim/config/constants.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <variant>

#include "sim/core/check.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

const std::vector<std::string>& confidences() {
  static const std::vector<std::string> words = {"datasheet", "measured", "derived", "fitted", "assumed", "user"};
  return words;
}

const std::vector<std::string>& fields() {
  static const std::vector<std::string> words = {"value", "source", "confidence", "spread"};
  return words;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

std::string joined(std::string_view prefix, std::string_view name) {
  return prefix.empty() ? std::string(name) : fmt::format("{}.{}", prefix, name);
}

// Text that begins like a number must be a quantity; any other text is text.
bool looks_like_quantity(std::string_view text) {
  return !text.empty() && std::string_view("0123456789.+-").find(text.front()) != std::string_view::npos;
}

// Fills text, base_value and dimension; false when the value is unusable, which is told.
// `example` is a sound value, for messages; empty: none is known.
bool take_value(Constant& constant, const Value& value, const std::string& example, Diagnostics& diagnostics) {
  if (value.is(Value::Kind::integer) || value.is(Value::Kind::floating)) {
    constant.base_value = value.as_number();
    const bool whole = value.is(Value::Kind::integer);
    constant.text = whole ? std::to_string(value.as_integer()) : format_number(value.as_number());
    constant.dimension = "number";
    constant.whole = whole;
    return true;
  }
  if (!value.is(Value::Kind::string)) {
    diagnostics.error(value.place(), constant.name, "is " + kind_name(value.kind()), "a number or a text with a unit");
    return false;
  }
  constant.text = value.as_string();
  if (!looks_like_quantity(constant.text)) {
    constant.base_value = 0;
    constant.dimension = "text";
    return true;
  }
  const auto parsed = parse_quantity(constant.text);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    const std::string unit_hint = "a number or a text with a unit";
    diagnostics.error(value.place(), constant.name, *problem,
                      example.empty() ? unit_hint : fmt::format("a value such as \"{}\"", example));
    return false;
  }
  constant.base_value = std::get<ParsedQuantity>(parsed).base_value;
  constant.dimension = std::get<ParsedQuantity>(parsed).dimension;
  constant.whole = constant.dimension == "data";
  return true;
}

// A text field of a constant's table; empty when absent.
std::string text_field(const Value& entry, const std::string& name, std::string_view field, bool required,
                       Diagnostics& diagnostics) {
  const Value* value = entry.find(field);
  if (value == nullptr) {
    if (required) diagnostics.error(entry.place(), name, fmt::format("has no \"{}\"", field));
    return {};
  }
  if (value->is(Value::Kind::string)) return value->as_string();
  diagnostics.error(value->place(), joined(name, field), "is " + kind_name(value->kind()), "a string");
  return {};
}

std::optional<Constant> read_constant(const Value& entry, const std::string& name, Diagnostics& diagnostics) {
  Diagnostics found;
  for (const Value::Member& member : entry.members()) {
    if (contains(fields(), member.key)) continue;
    found.error(member.key_place, joined(name, member.key), "unknown key", "", nearest(member.key, fields()));
  }
  Constant constant;
  constant.name = name;
  constant.place = entry.place();
  constant.source = text_field(entry, name, "source", true, found);
  constant.confidence = text_field(entry, name, "confidence", true, found);
  constant.spread = text_field(entry, name, "spread", false, found);
  if (!constant.confidence.empty() && !contains(confidences(), constant.confidence)) {
    found.error(entry.find("confidence")->place(), joined(name, "confidence"),
                fmt::format("unknown confidence \"{}\"", constant.confidence),
                fmt::format("{}", fmt::join(confidences(), ", ")), nearest(constant.confidence, confidences()));
  }
  const bool usable = take_value(constant, *entry.find("value"), "", found);
  diagnostics.append(found);
  if (!usable || found.has_errors()) return std::nullopt;
  return constant;
}

[[noreturn]] void throw_config_error(Place place, std::string_view name, std::string problem,
                                     std::string expected = {}) {
  Diagnostics diagnostics;
  diagnostics.error(std::move(place), std::string(name), std::move(problem), std::move(expected));
  throw ConfigError(std::move(diagnostics));
}

}  // namespace

std::string text_with_value(const Constant& constant, double base_value) {
  double number = 0;
  const char* const end = constant.text.data() + constant.text.size();
  const std::string_view behind(std::from_chars(constant.text.data(), end, number).ptr, end);
  const std::size_t unit_at = behind.find_first_not_of(' ');
  if (unit_at == std::string_view::npos) return fmt::format("{:.6g}", base_value);
  const std::string unit(behind.substr(unit_at));
  const auto one = parse_quantity("1 " + unit);
  const auto* parsed = std::get_if<ParsedQuantity>(&one);
  PODSIM_CHECK(parsed != nullptr, "a constant with an unknown unit");
  return fmt::format("{:.6g} {}", base_value / parsed->base_value, unit);
}

void ConstantSet::add(const Value& document, std::string_view prefix, const std::vector<std::string>& skip,
                      Diagnostics& diagnostics) {
  for (const Value::Member& member : document.members()) {
    if (contains(skip, member.key)) continue;
    const std::string name = joined(prefix, member.key);
    if (!member.value.is(Value::Kind::table)) {
      diagnostics.error(member.key_place, name, "is " + kind_name(member.value.kind()),
                        "a constant: { value = …, source = \"…\", confidence = \"…\" }");
      continue;
    }
    if (member.value.find("value") == nullptr) {
      add(member.value, name, {}, diagnostics);
      continue;
    }
    if (const auto earlier = find(name)) {
      const Place& first = constants_.get()[earlier->index()]->place;
      diagnostics.error(member.key_place, name, fmt::format("defined twice, first in {}:{}", first.file, first.line));
      continue;
    }
    if (auto constant = read_constant(member.value, name, diagnostics)) insert(std::move(*constant));
  }
}

void ConstantSet::insert(Constant constant) {
  const auto index = static_cast<std::uint32_t>(constants_.size());
  const std::vector<std::shared_ptr<const Constant>>& known = constants_.get();
  const auto at = std::lower_bound(by_name_.begin(), by_name_.end(), constant.name,
                                   [&](std::uint32_t i, const std::string& name) { return known[i]->name < name; });
  by_name_.insert(at, index);
  constants_.push_back(std::make_shared<const Constant>(std::move(constant)));
}

void ConstantSet::override_value(std::string_view name, const Value& value, Diagnostics& diagnostics) {
  const auto id = find(name);
  if (!id) {
    diagnostics.error(value.place(), std::string(name), "unknown constant", "", nearest(name, names()));
    return;
  }
  const Value* inner = value.is(Value::Kind::table) ? value.find("value") : &value;
  if (inner == nullptr) {
    diagnostics.error(value.place(), std::string(name), "has no \"value\"");
    return;
  }
  const Constant& old = *constants_.get()[id->index()];
  Constant changed = old;
  if (!take_value(changed, *inner, old.text, diagnostics)) return;
  const bool plain_zero = changed.dimension == "number" && changed.base_value == 0 && old.dimension != "text";
  if (changed.dimension != old.dimension && !plain_zero) {
    const bool bare = changed.dimension == "number" && old.dimension != "text";
    const std::string problem = bare ? fmt::format("{} has no unit", changed.text)
                                     : fmt::format("\"{}\" has dimension {}", changed.text, changed.dimension);
    diagnostics.error(inner->place(), changed.name, problem,
                      fmt::format("{}, such as \"{}\"", old.dimension, old.text));
    return;
  }
  changed.dimension = old.dimension;
  changed.whole = old.whole && changed.whole;
  if (old.base_value > 0 && !(changed.base_value > 0)) {
    diagnostics.error(inner->place(), changed.name, fmt::format("{} is not positive", changed.text),
                      fmt::format("a positive value, such as {}", old.text));
    return;
  }
  changed.confidence = "user";
  changed.place = inner->place();
  changed.source = changed.place.file;
  changed.spread.clear();
  constants_[id->index()] = std::make_shared<const Constant>(std::move(changed));
}

void ConstantSet::vary(ConstantId id, double base_value) {
  Constant changed = (*this)[id];
  changed.base_value = changed.whole ? std::max(1.0, std::round(base_value)) : base_value;
  changed.text = text_with_value(changed, changed.base_value);
  constants_[id.index()] = std::make_shared<const Constant>(std::move(changed));
}

void ConstantSet::mark_fitted(ConstantId id, std::string source, std::string spread) {
  Constant changed = (*this)[id];
  changed.confidence = "fitted";
  changed.source = std::move(source);
  changed.spread = std::move(spread);
  constants_[id.index()] = std::make_shared<const Constant>(std::move(changed));
}

std::optional<ConstantId> ConstantSet::find(std::string_view name) const {
  const std::vector<std::shared_ptr<const Constant>>& known = constants_.get();
  const auto at =
      std::lower_bound(by_name_.begin(), by_name_.end(), name,
                       [&](std::uint32_t index, std::string_view wanted) { return known[index]->name < wanted; });
  if (at == by_name_.end() || known[*at]->name != name) return std::nullopt;
  return ConstantId(*at);
}

std::vector<std::string> ConstantSet::names() const {
  std::vector<std::string> result;
  for (const std::shared_ptr<const Constant>& constant : constants_) result.push_back(constant->name);
  return result;
}

ConstantReader::ConstantReader(const ConstantSet& set) : set_(set), read_(set.size(), false) {}

bool ConstantReader::has(std::string_view name) const {
  return set_.find(name).has_value();
}

const Constant& ConstantReader::constant(std::string_view name, std::string_view dimension) {
  const auto id = set_.find(name);
  if (!id) throw_config_error({}, name, "a constant that is needed is missing", fmt::format("a {}", dimension));
  const Constant& found = set_[*id];
  // Zero may stand without unit.
  const bool plain_zero = found.dimension == "number" && found.base_value == 0 && dimension != "text";
  if (found.dimension != dimension && !plain_zero) {
    throw_config_error(found.place, name, fmt::format("\"{}\" has dimension {}", found.text, found.dimension),
                       std::string(dimension));
  }
  read_[id->index()] = true;
  return found;
}

double ConstantReader::read(std::string_view name, std::string_view dimension) {
  return constant(name, dimension).base_value;
}

std::int64_t ConstantReader::count(std::string_view name) {
  const Constant& found = constant(name, "number");
  constexpr double k_exact = 9007199254740992.0;  // 2^53: above, doubles skip integers
  if (found.base_value != std::floor(found.base_value) || std::abs(found.base_value) > k_exact) {
    throw_config_error(found.place, name, fmt::format("{} is not a whole number", found.text), "an integer");
  }
  return static_cast<std::int64_t>(found.base_value);
}

Bytes ConstantReader::data(std::string_view name) {
  const Constant& found = constant(name, "data");
  if (found.base_value != std::floor(found.base_value) || found.base_value >= 9.2e18) {
    throw_config_error(found.place, name, fmt::format("\"{}\" is not a whole number of bytes", found.text));
  }
  constexpr double k_most = 1e15;  // so that sums over the parts of any machine stay exact
  if (found.base_value > k_most) {
    throw_config_error(found.place, name, fmt::format("\"{}\" is more than any memory has", found.text),
                       "at most 1e15 bytes");
  }
  return Bytes(static_cast<std::int64_t>(found.base_value));
}

double ConstantReader::number(std::string_view name) {
  return read(name, "number");
}
Duration ConstantReader::time(std::string_view name) {
  return seconds(read(name, "time"));
}
Bandwidth ConstantReader::bandwidth(std::string_view name) {
  return bytes_per_second(read(name, "bandwidth"));
}
FlopRate ConstantReader::flop_rate(std::string_view name) {
  return flop_per_second(read(name, "flop_rate"));
}
Cycles ConstantReader::cycle_count(std::string_view name) {
  return cycles(read(name, "cycles"));
}
Clock ConstantReader::clock(std::string_view name) {
  return hertz(read(name, "clock"));
}
Power ConstantReader::power(std::string_view name) {
  return watts(read(name, "power"));
}
std::string ConstantReader::text(std::string_view name) {
  return constant(name, "text").text;
}

void ConstantReader::refuse(std::string_view name, std::string problem, std::string expected) const {
  const auto id = set_.find(name);
  throw_config_error(id ? set_[*id].place : Place{}, name, std::move(problem), std::move(expected));
}

std::vector<ConstantId> ConstantReader::read_ids() const {
  std::vector<ConstantId> ids;
  for (std::size_t i = 0; i < read_.size(); ++i) {
    if (read_[i]) ids.push_back(ConstantId(static_cast<std::uint32_t>(i)));
  }
  return ids;
}

}  // namespace podsim
