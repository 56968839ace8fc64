#include "sim/study/spread.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <optional>
#include <string_view>
#include <variant>

#include "sim/numerics/normal.hpp"
#include "sim/numerics/sampling.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::string_view k_file = "confidence.toml";
constexpr double k_least = 1e-3;  // of a value whose P10 is 0

struct Amount {
  double number = 0;
  std::string_view rest;  // behind it, without blanks before
};

std::optional<Amount> leading_number(std::string_view text) {
  Amount amount;
  const char* const end = text.data() + text.size();
  const auto [behind, error] = std::from_chars(text.data(), end, amount.number);
  if (error != std::errc() || !(amount.number >= 0) || !std::isfinite(amount.number)) return std::nullopt;
  amount.rest = std::string_view(behind, end);
  if (amount.rest.starts_with(' ')) amount.rest.remove_prefix(1);
  return amount;
}

// What one of `unit` is in base units of the constant; empty: no unit of it.
std::optional<double> unit_scale(std::string_view unit, const Constant& constant) {
  if (constant.dimension == "number") return std::nullopt;
  const auto parsed = parse_quantity("1 " + std::string(unit));
  const auto* quantity = std::get_if<ParsedQuantity>(&parsed);
  if (quantity == nullptr || quantity->dimension != constant.dimension) return std::nullopt;
  return quantity->base_value;
}

// The unit that begins `text`, or that of the constant's own text where none does.
double scale_of(std::string_view text, const Constant& constant) {
  const std::string_view word = text.substr(0, text.find_first_of(" ;,:"));
  if (const auto scale = unit_scale(word, constant)) return *scale;
  const std::optional<Amount> own = leading_number(constant.text);
  return own ? unit_scale(own->rest, constant).value_or(1) : 1;
}

// Where the last word before `at` begins.
std::size_t word_before(std::string_view text, std::size_t at) {
  const std::size_t blank = text.rfind(' ', at - 1);
  return blank == std::string_view::npos ? 0 : blank + 1;
}

std::uint64_t key_of(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;  // FNV-1a
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

}  // namespace

ConstantSpread stated_spread(const Constant& constant) {
  const std::string_view text = constant.spread;
  if (!(constant.base_value > 0)) return {};
  for (std::size_t at = text.find(" to "); at != std::string_view::npos; at = text.find(" to ", at + 1)) {
    if (at == 0) continue;
    const std::string_view before = text.substr(word_before(text, at), at - word_before(text, at));
    const std::optional<Amount> low = leading_number(before);
    const std::optional<Amount> high = leading_number(text.substr(at + 4));
    if (!low || !high || !low->rest.empty() || high->number < low->number) continue;
    const double scale = scale_of(high->rest, constant);
    return {std::min(1.0, low->number * scale / constant.base_value),
            std::max(1.0, high->number * scale / constant.base_value), true};
  }
  return {};
}

double factor_at(const ConstantSpread& spread, double z) {
  static const double k_z90 = normal_quantile(0.9);
  if (z >= 0) return std::pow(spread.high, z / k_z90);
  if (spread.low > 0) return std::pow(spread.low, -z / k_z90);
  return std::max(k_least, 1 + z / k_z90);
}

Spreads::Spreads(const ConfigFiles& configs) {
  Diagnostics diagnostics;
  const std::string name = configs.display_name(k_file);
  const std::optional<std::string> text = configs.text(k_file);
  if (!text) diagnostics.error({name, 0, 0}, "", "is missing: intervals draw from the spreads in it");
  const std::optional<Value> document = text ? parse_toml(*text, name, diagnostics) : std::nullopt;
  ConstantSet set;
  if (document) set.add(*document, "", {}, diagnostics);
  for (const std::string& constant_name : set.names()) {
    const Constant& constant = set[*set.find(constant_name)];
    const std::size_t dot = constant.name.find('.');
    const std::string kind = constant.name.substr(0, dot);
    if (constant.dimension != "number" || !(constant.base_value >= 1) || (kind != "spread" && kind != "model")) {
      diagnostics.error(constant.place, constant.name, "is no spread",
                        "a factor of at least 1, as spread.CONFIDENCE or model.FAMILY");
      continue;
    }
    (kind == "spread" ? by_confidence_ : by_family_)[constant.name.substr(dot + 1)] = constant.base_value;
  }
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
}

ConstantSpread Spreads::of(const Constant& constant) const {
  if (constant.dimension == "text" || !(constant.base_value > 0)) return {};
  if (const ConstantSpread stated = stated_spread(constant); stated.stated) return stated;
  const auto known = by_confidence_.find(constant.confidence);
  if (known == by_confidence_.end()) return {};
  return {1 / known->second, known->second, false};
}

double Spreads::model_factor(const std::string& family) const {
  const auto known = by_family_.find(family);
  return known == by_family_.end() ? 1 : known->second;
}

double drawn_z(std::uint64_t seed, std::int64_t draw, const std::string& name) {
  Random random = keyed_random(seed, {static_cast<std::uint64_t>(draw), key_of(name)});
  return draw_normal(random);
}

std::vector<ConstantChange> drawn_constants(const ConstantSet& set, const Spreads& spreads, std::uint64_t seed,
                                            std::int64_t draw) {
  std::vector<ConstantChange> changes;
  for (std::size_t i = 0; i < set.size(); ++i) {
    const Constant& constant = set[ConstantId(static_cast<std::uint32_t>(i))];
    const ConstantSpread spread = spreads.of(constant);
    if (spread.exact()) continue;
    changes.push_back({constant.name, constant.base_value * factor_at(spread, drawn_z(seed, draw, constant.name))});
  }
  return changes;
}

}  // namespace podsim
