#pragma once
// Values and lines as people read them, beside what units/text.hpp writes: percentages, widths of UTF-8 text.
// Independent of locales.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "sim/units/counts.hpp"
#include "sim/units/sim_time.hpp"

namespace podsim {

// The nearest double, so that its shortest text is the decimal text of the picoseconds (below 2^53 ps).
double in_seconds(SimTime time);

std::string human_long_time(double seconds);  // "2.917 s", "3 h 12 min", "2.400 days"
std::string human_number(double value);       // "12,288", "263.4", "0.01234"
std::string human_percent(double percent);    // "61.2 %"
std::string human_share(double share);        // "61.2 %", small ones by their digits: "0.00031 %"
std::string human_power(double value);        // of two: "2^12"; else in single precision: "50000"; "infinite"

// How many columns a UTF-8 text takes when every character takes one.
std::size_t text_width(std::string_view text);
// The text, cut to `width` columns with "…" at its end when it is longer.
std::string fit_width(std::string_view text, std::size_t width);
// The text broken at blanks into lines of at most `width` columns where words allow; `indent` blanks stand before all
// lines but the first.
std::string wrapped(std::string_view text, std::size_t width, std::size_t indent);
// The lines of a text or key that is broken behind blanks, dots, commas, slashes, underscores and equals signs, and
// anywhere in a word that is longer than a line; each at most `width` columns, which are at least one.
std::vector<std::string> broken_lines(std::string_view text, std::size_t width);
// Several lines, those wider than `width` broken at blanks, or within words that are longer than a line. What a line
// goes on with stands two columns further to the right than its begin. Control characters become "?".
std::string within_width(std::string_view text, std::size_t width = 100);

// The unit behind the base value of a constant's dimension: "s", "byte", "byte/s", …; empty for numbers and texts.
std::string_view base_unit(std::string_view dimension);

}  // namespace podsim
