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

enum class Better { higher, lower, neither };

// By the end of a metric's name, in JSON or as a column: rates and utilisations are better when higher; times, bytes,
// energy, cost and numbers of devices when lower; of others it depends.
Better better_value(std::string_view name);

// By the end of a name or of what it is a part of, in JSON or as a column: "s", "byte", "%"; empty: none of these.
std::string_view unit_by_name(std::string_view name);

}  // namespace podsim
