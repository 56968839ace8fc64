#pragma once
// Questions to a finished or growing sweep, answered as tables. Only points with status "ok" count.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

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
// sweep. `mark_failures`: where no point is "ok", the status that most points have there, in words ("does not fit").
// Throws ConfigError for an input that the sweep has not, and for more than a million cells.
Table pivot_table(SweepStore& store, const std::string& row, const std::string& column, const SweepMetric& metric,
                  bool mark_failures = false);
// For each value of an input, in their order: how many points there are, how many work, the best value of the metric.
Table value_table(SweepStore& store, const std::string& input, const SweepMetric& metric);
// How many values an input takes.
std::int64_t values_in(SweepStore& store, const std::string& input);

// What is asked of a sweep.
struct SweepQuestions {
  struct Pivot {
    std::string rows, columns;  // inputs
    SweepMetric metric;
  };
  std::vector<SweepMetric> best;
  std::vector<std::pair<SweepMetric, SweepMetric>> fronts;
  std::vector<Pivot> pivots;
  std::int64_t limit = 10;  // of the best points
};

// Which is the best, what it costs (devices where their number varies, else memory), and how the inputs that move the
// rate most go together: those of up to three, two at a time.
SweepQuestions usual_questions(SweepStore& store);

}  // namespace podsim
