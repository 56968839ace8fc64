#pragma once
// The axes of a sweep and the grid they span.

#include <string>
#include <vector>

#include "sim/config/value.hpp"

namespace podsim {

struct SweepAxis {
  std::string key;                       // dotted path in the experiment
  std::vector<std::string> cells;        // its values for a table; at least one
  std::vector<std::string> assignments;  // the same as "key=value" for apply_override
};

// "key=v1,v2,…" as on a command line; commas within brackets, braces and quotes do not separate. Faults go to
// `diagnostics`.
std::vector<SweepAxis> parse_axes(const std::vector<std::string>& texts, Diagnostics& diagnostics);

// The lists of an experiment's [sweep.axes]; keys may be nested tables or quoted dotted paths.
std::vector<SweepAxis> document_axes(const Value& document, Diagnostics& diagnostics);

// How many points the grid has.
std::size_t grid_size(const std::vector<SweepAxis>& axes);

// Which value of each axis a point takes; the last axis varies fastest.
std::vector<std::size_t> grid_point(const std::vector<SweepAxis>& axes, std::size_t index);

}  // namespace podsim
