#pragma once
// The axes of a sweep as they are written: lists of values, ranges, groups that vary together.

#include <optional>
#include <string>
#include <vector>

#include "sim/config/value.hpp"
#include "sim/observe/table.hpp"

namespace podsim {

// Values between two ends, to be drawn; both ends count.
struct SweepRange {
  double from = 0;
  double to = 0;
  bool logarithmic = false;
  std::string unit;  // behind each value; empty: a number
  Place place;
};

struct SweepAxis {
  std::string key;                  // dotted path in the experiment
  std::vector<Value> values;        // at least one; none: see range
  std::optional<SweepRange> range;  // without step or count: only a sampling can draw from it
};

// Axes of equal length that take their first, second, … values together.
struct SweepGroup {
  std::string name;  // the key of a single axis
  std::vector<SweepAxis> axes;
};

// "key=v1,v2,…" as on a command line; commas within brackets, braces and quotes do not separate. A single table is a
// range. Faults go to `diagnostics`.
std::vector<SweepGroup> parse_axes(const std::vector<std::string>& texts, Diagnostics& diagnostics,
                                   const std::string& option = "--axis");

// [sweep.axes] and [sweep.zip.NAME] of an experiment; keys may be nested tables or quoted dotted paths. A range is a
// table with from and to, and
//   step      from, from + step, … up to `to`
//   count     so many values at equal distances, or at equal ratios with scale = "log"
//   factor    from, from · factor, … up to `to`
// Whole ends without any of these have step 1; with scale = "log" and count, whole ends give whole values, each once.
std::vector<SweepGroup> document_axes(const Value& document, Diagnostics& diagnostics);

// At `share` of the way, from 0 to 1.
Value value_in(const SweepRange& range, double share);

// As TOML, strings with their quotes.
std::string toml_text(const Value& value);
// For a table of results: numbers as such, texts without quotes, anything else as TOML.
Cell input_cell(const Value& value);

}  // namespace podsim
