#pragma once
// Quantities as text. Reading is strict: a unit is required (zero excepted), decimal (k M G T P E) and binary
// (Ki Mi Gi Ti Pi) prefixes differ, `B` is a byte, `b` a bit and allowed in rates only, FLOP is a count and FLOP/s a
// rate. Writing is for people: a scaled prefix and four significant digits.

#include <string>
#include <string_view>
#include <variant>

#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"
#include "sim/units/sim_time.hpp"

namespace podsim {

struct ParsedQuantity {
  double base_value = 0;  // in base units: s, byte, byte/s, cycle/s, FLOP/s, FLOP, W, J, cycle; finite
  std::string dimension;  // "time", "data", "bandwidth", "clock", "flop_rate", "flop_count", "power", "energy",
                          // "cycles"; "number" without a unit
};

// Either the quantity or what is wrong with the text, as a clause: `unknown unit "GBs"`. Quantities with a unit are
// never negative. Blanks before, behind and between number and unit are free.
std::variant<ParsedQuantity, std::string> parse_quantity(std::string_view text);

// The same where a dimension is asked for: the value in its base unit, or what is wrong. Zero may stand without unit.
std::variant<double, std::string> parse_quantity_of(std::string_view text, std::string_view dimension);

// Units that may be written for a dimension, for messages: "s, ms, us, ns, ps, min, h or days"; empty when unknown.
std::string accepted_units(std::string_view dimension);

// "12.34 ms", "1.5 h"; "0 s".
std::string format_time(Duration duration);
std::string format_time(SimTime time);
// "897 MiB", "1023 B".
std::string format_bytes(Bytes bytes);
// "64 GB/s".
std::string format_bandwidth(Bandwidth bandwidth);
// "350 TFLOP/s".
std::string format_rate(FlopRate rate);
// "1.85 GHz".
std::string format_clock(Clock clock);
// "12.3 PFLOP".
std::string format_count(FlopCount count);
// A plain number with a prefix behind it: "334.1 M", "76".
std::string format_count(double count);

// A value in base units of a dimension as it is named in ParsedQuantity: "64 GB/s" of bandwidth; without a known
// dimension the plain number.
std::string format_quantity(double base_value, std::string_view dimension);

// Four significant digits, no prefix and no exponent for anything people meet: "0.1234", "12.34", "123456".
std::string format_significant(double value);

// The shortest decimal that reads back as the same double; independent of the locale.
std::string format_number(double value);

}  // namespace podsim
