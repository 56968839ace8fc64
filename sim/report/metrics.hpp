#pragma once
// What each value of a report means: for `explain`, and for whoever reads a column's name.

#include <span>
#include <string>
#include <string_view>

namespace podsim {

struct MetricSpec {
  std::string_view name;     // as in the JSON report: "throughput.mfu_pct"
  std::string_view unit;     // empty: none
  std::string_view meaning;  // one or two sentences
  std::string_view formula;  // how it is computed; empty: it is read off the simulation
};

std::span<const MetricSpec> metrics();

}  // namespace podsim
