#pragma once
// Questions to a finished or growing sweep, answered as tables. Only points with status "ok" count.

#include <cstdint>
#include <string>

#include "sim/observe/table.hpp"
#include "sim/report/metrics.hpp"
#include "sim/store/sweep_store.hpp"

namespace podsim {

struct SweepMetric {
  std::string column;
  Better better = Better::higher;
};

// "column" or "column:min", "column:max". Throws ConfigError: no such column (with a suggestion), or one of which it is
// not known whether more is better.
SweepMetric sweep_metric(const SweepStore& store, const std::string& text);

// Points by status: name and number.
Table status_table(SweepStore& store);
// The best points by a metric, best first: point, inputs, metric.
Table best_points(SweepStore& store, const SweepMetric& metric, std::int64_t limit);
// Points that none surpasses in both metrics, best in the first one first; of equal ones the first stands for all.
Table pareto_front(SweepStore& store, const SweepMetric& first, const SweepMetric& second);
// The best value of a metric by two inputs; rows and columns by size where they are numbers, else in the order of the
// sweep. Throws ConfigError for an input that the sweep has not.
Table pivot_table(SweepStore& store, const std::string& row, const std::string& column, const SweepMetric& metric);

}  // namespace podsim
