#pragma once
// What columns of printed tables mean that are no values of a JSON report: rows of a sweep, tables of the text report,
// of capacity, comparisons, validations and loss scales.

#include <span>

#include "sim/report/metrics.hpp"

namespace podsim {

// By the verb or the table they stand in, blanks as underscores: "sweep.status", "capacity.checkpoint_every".
std::span<const MetricSpec> column_meanings();

}  // namespace podsim
