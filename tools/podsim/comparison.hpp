#pragma once
// Two JSON reports, metric by metric.

#include <optional>
#include <string>
#include <vector>

#include "sim/config/value.hpp"

namespace podsim {

struct Metric {
  std::string name;              // "throughput.samples_per_s", "devices[d0].utilisation_pct"
  std::optional<double> number;  // a truth value is 0 or 1
  std::string text;              // of a text
  bool headline = true;          // false: of one of many devices, links or table rows
};

// The metrics of a report, in the order of its text. Left out: what tells about the tool, the inputs, the engine and
// the evidence instead of the machine.
std::vector<Metric> metrics_of(const Value& report);

struct MetricPair {
  std::string name;
  std::string first, second;         // as printed; empty: missing there
  std::optional<double> difference;  // (second - first) / |first|; infinite when only first is 0
  bool headline = true;
  bool within = true;
};

// Metrics of both, those missing in one named too (and not within).
std::vector<MetricPair> compare_metrics(const std::vector<Metric>& first, const std::vector<Metric>& second,
                                        double tolerance);

// "5%" or "0.05" as a fraction; empty when it is neither or negative.
std::optional<double> parse_tolerance(const std::string& text);

}  // namespace podsim
