#include "sim/units/text.hpp"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <system_error>

namespace podsim {
namespace {

// A unit is worth `multiplier / divisor` base units. Two numbers, so that "3 ns" is 3 / 1e9, correctly rounded.
struct Scale {
  double multiplier = 1;
  double divisor = 1;
};

struct NamedScale {
  std::string_view name;
  Scale scale;
};

enum Prefixes : unsigned { no_prefix = 0, decimal = 1, binary = 2, fractions = 4 };

struct UnitRule {
  std::string_view symbol;
  std::string_view dimension;
  Scale scale;
  unsigned prefixes;
};

constexpr std::array k_decimal{NamedScale{"k", {1e3, 1}},  NamedScale{"M", {1e6, 1}},  NamedScale{"G", {1e9, 1}},
                               NamedScale{"T", {1e12, 1}}, NamedScale{"P", {1e15, 1}}, NamedScale{"E", {1e18, 1}}};
constexpr std::array k_binary{NamedScale{"Ki", {1024.0, 1}}, NamedScale{"Mi", {1048576.0, 1}},
                              NamedScale{"Gi", {1073741824.0, 1}}, NamedScale{"Ti", {1099511627776.0, 1}},
                              NamedScale{"Pi", {1125899906842624.0, 1}}};
constexpr std::array k_fractions{NamedScale{"m", {1, 1e3}}, NamedScale{"u", {1, 1e6}}, NamedScale{"\xC2\xB5", {1, 1e6}},
                                 NamedScale{"n", {1, 1e9}}, NamedScale{"p", {1, 1e12}}};

constexpr std::array k_rules{
    UnitRule{"s", "time", {1, 1}, no_prefix},
    UnitRule{"ms", "time", {1, 1e3}, no_prefix},
    UnitRule{"us", "time", {1, 1e6}, no_prefix},
    UnitRule{"\xC2\xB5s", "time", {1, 1e6}, no_prefix},  // micro sign
    UnitRule{"\xCE\xBCs", "time", {1, 1e6}, no_prefix},  // Greek mu
    UnitRule{"ns", "time", {1, 1e9}, no_prefix},
    UnitRule{"ps", "time", {1, 1e12}, no_prefix},
    UnitRule{"min", "time", {60, 1}, no_prefix},
    UnitRule{"h", "time", {3600, 1}, no_prefix},
    UnitRule{"days", "time", {86400, 1}, no_prefix},
    UnitRule{"day", "time", {86400, 1}, no_prefix},
    UnitRule{"d", "time", {86400, 1}, no_prefix},
    UnitRule{"B", "data", {1, 1}, decimal | binary},
    UnitRule{"B/s", "bandwidth", {1, 1}, decimal | binary},
    UnitRule{"b/s", "bandwidth", {1, 8}, decimal | binary},
    UnitRule{"Hz", "clock", {1, 1}, decimal},
    UnitRule{"FLOP/s", "flop_rate", {1, 1}, decimal},
    UnitRule{"FLOP", "flop_count", {1, 1}, decimal},
    UnitRule{"W", "power", {1, 1}, decimal | fractions},
    UnitRule{"J", "energy", {1, 1}, decimal | fractions},
    UnitRule{"cycles", "cycles", {1, 1}, no_prefix},
    UnitRule{"cycle", "cycles", {1, 1}, no_prefix},
};

struct DimensionText {
  std::string_view dimension;
  std::string_view units;
};

constexpr std::array k_accepted{
    DimensionText{"time", "s, ms, us, ns, ps, min, h or days"},
    DimensionText{"data", "B, kB, MB, GB, TB, KiB, MiB, GiB or TiB"},
    DimensionText{"bandwidth", "B/s, kB/s, MB/s, GB/s, TB/s, KiB/s, MiB/s, GiB/s or, for bits, Gb/s"},
    DimensionText{"clock", "Hz, kHz, MHz or GHz"},
    DimensionText{"flop_rate", "FLOP/s, GFLOP/s, TFLOP/s or PFLOP/s"},
    DimensionText{"flop_count", "FLOP, GFLOP, TFLOP or PFLOP"},
    DimensionText{"power", "W, mW, kW or MW"},
    DimensionText{"energy", "J, pJ, nJ, uJ, mJ, kJ or MJ"},
    DimensionText{"cycles", "cycles"},
    DimensionText{"number", "none"},
};

constexpr std::array<std::string_view, 7> k_data_units = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};

bool is_blank(char c) {
  return c == ' ' || c == '\t';
}

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

template <std::size_t N>
const NamedScale* named(const std::array<NamedScale, N>& scales, std::string_view name) {
  for (const NamedScale& scale : scales) {
    if (scale.name == name) return &scale;
  }
  return nullptr;
}

const NamedScale* prefix_of(const UnitRule& rule, std::string_view prefix) {
  const NamedScale* found = nullptr;
  if ((rule.prefixes & decimal) != 0) found = named(k_decimal, prefix);
  if (found == nullptr && (rule.prefixes & binary) != 0) found = named(k_binary, prefix);
  if (found == nullptr && (rule.prefixes & fractions) != 0) found = named(k_fractions, prefix);
  return found;
}

struct Unit {
  std::string_view dimension;
  Scale scale;
};

std::optional<Unit> find_unit(std::string_view unit) {
  for (const UnitRule& rule : k_rules) {
    if (!unit.ends_with(rule.symbol)) continue;
    const std::string_view prefix = unit.substr(0, unit.size() - rule.symbol.size());
    if (prefix.empty()) return Unit{rule.dimension, rule.scale};
    const NamedScale* scale = prefix_of(rule, prefix);
    if (scale == nullptr) continue;
    return Unit{rule.dimension,
                {rule.scale.multiplier * scale->scale.multiplier, rule.scale.divisor * scale->scale.divisor}};
  }
  return std::nullopt;
}

std::string lower(std::string_view text) {
  std::string result(text);
  for (char& c : result) c = c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  return result;
}

// "TFLOPs", "GFLOPS", "flops": a count to some, a rate to others.
std::optional<std::string> ambiguous_flop(std::string_view unit) {
  const std::string folded = lower(unit);
  for (const std::string_view ending : {"flops/s", "flop/s", "flops", "flop"}) {
    if (!folded.ends_with(ending)) continue;
    const std::string prefix(unit.substr(0, unit.size() - ending.size()));
    if (!prefix.empty() && named(k_decimal, prefix) == nullptr) return std::nullopt;
    return fmt::format("\"{}\" is not a unit; write {}FLOP for a count or {}FLOP/s for a rate", unit, prefix, prefix);
  }
  return std::nullopt;
}

// Text that comes from a file, fit to stand in a message: no control characters, not endless.
std::string quoted(std::string_view text) {
  constexpr std::size_t k_longest = 40;
  std::size_t length = text.size();
  if (length > k_longest) {
    length = k_longest;
    while (length > 0 && (static_cast<unsigned char>(text[length]) & 0xC0) == 0x80) --length;  // not inside a letter
  }
  std::string result = "\"";
  for (const char c : text.substr(0, length)) {
    const auto byte = static_cast<unsigned char>(c);
    result += byte < 0x20 || byte == 0x7f ? '?' : c;
  }
  return result + (text.size() > length ? "…\"" : "\"");
}

std::string unknown_unit(std::string_view unit) {
  if (const auto text = ambiguous_flop(unit)) return *text;
  if (unit.ends_with('b') && find_unit(std::string(unit) + "/s")) {
    return fmt::format("{} counts bits, which stand in rates only; write B for bytes", quoted(unit));
  }
  if (const std::string fixed = "k" + std::string(unit.substr(1)); unit.starts_with('K') && find_unit(fixed)) {
    return fmt::format("unknown unit {}, did you mean \"{}\"?", quoted(unit), fixed);
  }
  return fmt::format("unknown unit {}", quoted(unit));
}

// The unit without the blanks around its slash: "GB / s".
std::string compact(std::string_view unit) {
  std::string result;
  for (std::size_t i = 0; i < unit.size(); ++i) {
    const bool beside_slash = is_blank(unit[i]) && (result.ends_with('/') || trimmed(unit.substr(i)).starts_with('/'));
    if (!beside_slash) result += unit[i];
  }
  return result;
}

// Picks a prefix so that the rounded value is below `step`; the last prefix takes what is left.
std::string scaled(double value, double step, const std::array<std::string_view, 7>& units) {
  const double sign = value < 0 ? -1 : 1;
  double magnitude = std::abs(value);
  std::size_t i = 0;
  // What four digits would round up to the next prefix belongs to it: 999.96 k is 1 M.
  const double limit = step == 1000 ? 999.95 : 1023.5;
  while (i + 1 < units.size() && magnitude >= limit) {
    magnitude /= step;
    ++i;
  }
  const std::string number = format_significant(sign * magnitude);
  return units[i].empty() ? number : number + " " + std::string(units[i]);
}

std::string with_unit(double value, std::string_view unit) {
  return format_significant(value) + " " + std::string(unit);
}

}  // namespace

std::variant<ParsedQuantity, std::string> parse_quantity(std::string_view text) {
  const std::string_view body = trimmed(text);
  if (body.empty()) return std::string("an empty text is not a quantity");
  const bool negative = body.front() == '-';
  const std::string_view digits = negative ? body.substr(1) : body;
  const bool starts_well = !digits.empty() && std::string_view("0123456789.").find(digits.front()) != std::string::npos;
  if (!starts_well) return fmt::format("{} does not begin with a number", quoted(body));
  double value = 0;
  const auto [end, code] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (code == std::errc::invalid_argument) return fmt::format("{} does not begin with a number", quoted(body));
  if (code == std::errc::result_out_of_range) return fmt::format("{} is beyond the range of numbers", quoted(body));
  const std::string unit = compact(trimmed(digits.substr(static_cast<std::size_t>(end - digits.data()))));
  if (unit.empty()) return ParsedQuantity{negative ? -value : value, "number"};
  const auto known = find_unit(unit);
  if (!known) return unknown_unit(unit);
  if (negative) return fmt::format("{} is negative", quoted(body));
  const double base = value * known->scale.multiplier / known->scale.divisor;
  if (!std::isfinite(base)) return fmt::format("{} is beyond the range of numbers", quoted(body));
  return ParsedQuantity{base, std::string(known->dimension)};
}

std::variant<double, std::string> parse_quantity_of(std::string_view text, std::string_view dimension) {
  auto parsed = parse_quantity(text);
  const std::string units = accepted_units(dimension);
  if (const auto* problem = std::get_if<std::string>(&parsed)) {
    return problem->starts_with("unknown unit") ? *problem + "; units here are " + units : *problem;
  }
  const auto& quantity = std::get<ParsedQuantity>(parsed);
  if (quantity.dimension == dimension) return quantity.base_value;
  if (quantity.dimension == "number") {
    if (quantity.base_value == 0) return 0.0;
    return fmt::format("{} has no unit; units here are {}", quoted(trimmed(text)), units);
  }
  return fmt::format("{} has the wrong unit; units here are {}", quoted(trimmed(text)), units);
}

std::string accepted_units(std::string_view dimension) {
  for (const DimensionText& entry : k_accepted) {
    if (entry.dimension == dimension) return std::string(entry.units);
  }
  return {};
}

std::string format_time(Duration duration) {
  const double value = duration.in_base();
  const double magnitude = std::abs(value);
  if (magnitude == 0) return "0 s";
  if (magnitude >= 7200) return with_unit(value / 3600, "h");
  if (magnitude >= 120) return with_unit(value / 60, "min");
  if (magnitude >= 0.99995) return with_unit(value, "s");
  if (magnitude >= 0.99995e-3) return with_unit(value * 1e3, "ms");
  if (magnitude >= 0.99995e-6) return with_unit(value * 1e6, "us");
  if (magnitude >= 0.99995e-9) return with_unit(value * 1e9, "ns");
  return with_unit(value * 1e12, "ps");
}

std::string format_time(SimTime time) {
  return format_time(time.duration());
}

std::string format_bytes(Bytes bytes) {
  return scaled(static_cast<double>(bytes.count()), 1024, k_data_units);
}

std::string format_bandwidth(Bandwidth bandwidth) {
  return scaled(bandwidth.in_base(), 1000, {"B/s", "kB/s", "MB/s", "GB/s", "TB/s", "PB/s", "EB/s"});
}

std::string format_rate(FlopRate rate) {
  return scaled(rate.in_base(), 1000, {"FLOP/s", "kFLOP/s", "MFLOP/s", "GFLOP/s", "TFLOP/s", "PFLOP/s", "EFLOP/s"});
}

std::string format_clock(Clock clock) {
  return scaled(clock.in_base(), 1000, {"Hz", "kHz", "MHz", "GHz", "THz", "PHz", "EHz"});
}

std::string format_count(FlopCount count) {
  return scaled(count.in_base(), 1000, {"FLOP", "kFLOP", "MFLOP", "GFLOP", "TFLOP", "PFLOP", "EFLOP"});
}

std::string format_count(double count) {
  return scaled(count, 1000, {"", "k", "M", "G", "T", "P", "E"});
}

std::string format_quantity(double base_value, std::string_view dimension) {
  if (dimension == "time") return format_time(seconds(base_value));
  if (dimension == "data") return scaled(base_value, 1024, k_data_units);
  if (dimension == "bandwidth") return format_bandwidth(bytes_per_second(base_value));
  if (dimension == "clock") return format_clock(hertz(base_value));
  if (dimension == "flop_rate") return format_rate(flop_per_second(base_value));
  if (dimension == "flop_count") return format_count(flop(base_value));
  if (dimension == "power") return with_unit(base_value, "W");
  if (dimension == "energy") return with_unit(base_value, "J");
  if (dimension == "cycles") return with_unit(base_value, "cycles");
  return format_number(base_value);
}

std::string format_significant(double value) {
  const double magnitude = std::abs(value);
  if (magnitude >= 9999.5 && magnitude < 1e15) return fmt::format("{:.0f}", value);
  return fmt::format("{:.4g}", value);
}

std::string format_number(double value) {
  std::array<char, 32> buffer{};
  const auto [end, code] = std::to_chars(buffer.data(), buffer.data() + buffer.size(), value);
  return std::string(buffer.data(), end);
}

}  // namespace podsim
