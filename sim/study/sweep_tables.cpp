#include "sim/study/sweep_tables.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <optional>

#include "sim/core/diagnostics.hpp"
#include "sim/report/result_columns.hpp"

namespace podsim {
namespace {

[[noreturn]] void refuse(const std::string& path, const std::string& key, const std::string& problem,
                         const std::string& expected, const std::string& suggestion = {}) {
  Diagnostics diagnostics;
  diagnostics.error({path, 0, 0}, key, problem, expected, suggestion);
  throw ConfigError(diagnostics);
}

std::string order_of(const SweepMetric& metric) {
  return sql_name(metric.column) + (metric.better == Better::higher ? " DESC" : " ASC");
}

bool is_better(const SweepMetric& metric, double candidate, double known) {
  return metric.better == Better::higher ? candidate > known : candidate < known;
}

std::string unit_of(const SweepStore& store, const std::string& column) {
  for (const Column& known : store.identity().columns) {
    if (known.name == column) return known.unit;
  }
  return "";
}

std::vector<std::string> shown_columns(const SweepStore& store, const std::vector<std::string>& metrics) {
  std::vector<std::string> names{"point"};
  names.insert(names.end(), store.identity().inputs.begin(), store.identity().inputs.end());
  for (const std::string& metric : metrics) {
    if (std::find(names.begin(), names.end(), metric) == names.end()) names.push_back(metric);
  }
  return names;
}

Table empty_table(const SweepStore& store, const std::string& name, const std::vector<std::string>& columns) {
  Table table{name, {}, {}};
  for (const std::string& column : columns) table.columns.push_back({column, unit_of(store, column)});
  return table;
}

std::string select_of(const std::vector<std::string>& columns) {
  std::string names;
  for (const std::string& column : columns) names += (names.empty() ? "" : ", ") + sql_name(column);
  return "SELECT " + names + " FROM points WHERE status = 'ok'";
}

std::vector<Cell> row_of(const Statement& statement) {
  std::vector<Cell> row;
  for (int c = 0; c < statement.columns(); ++c) row.push_back(statement.cell(c));
  return row;
}

std::optional<double> number_of(const Cell& cell) {
  if (const double* number = std::get_if<double>(&cell)) return *number;
  if (const auto* integer = std::get_if<std::int64_t>(&cell)) return static_cast<double>(*integer);
  return std::nullopt;
}

void refuse_other_input(const SweepStore& store, const std::string& name) {
  const std::vector<std::string>& inputs = store.identity().inputs;
  if (std::find(inputs.begin(), inputs.end(), name) != inputs.end()) return;
  refuse(store.path(), name, "is no axis of this sweep", fmt::format("one of {}", fmt::join(inputs, ", ")),
         nearest(name, inputs));
}

// Numbers by size; texts, quantities among them, in the order the sweep names them. For a query grouped by the input.
std::string order_of_values(const std::string& input) {
  return fmt::format("typeof({0}) = 'text', CASE typeof({0}) WHEN 'text' THEN min(point) ELSE {0} END",
                     sql_name(input));
}

// The distinct values of an input, each with its place in their order.
std::map<Cell, std::size_t> values_of(SweepStore& store, const std::string& input) {
  std::map<Cell, std::size_t> places;
  Statement select = store.database().prepare(
      fmt::format("SELECT {0} FROM points GROUP BY {0} ORDER BY {1}", sql_name(input), order_of_values(input)));
  while (select.step()) places.emplace(select.cell(0), places.size());
  return places;
}

const char* best_function(const SweepMetric& metric) {
  return metric.better == Better::higher ? "max" : "min";
}

std::string spoken_status(std::string status) {
  std::replace(status.begin(), status.end(), '_', ' ');
  return status;
}

constexpr std::size_t k_most_cells = 1'000'000;

}  // namespace

SweepMetric sweep_metric(const SweepStore& store, const std::string& text) {
  const std::size_t colon = text.rfind(':');
  SweepMetric metric{text.substr(0, colon), better_value(text.substr(0, colon))};
  std::vector<std::string> names;
  for (const Column& column : store.identity().columns) names.push_back(column.name);
  if (std::find(names.begin(), names.end(), metric.column) == names.end()) {
    refuse(store.path(), metric.column, "is no column of this sweep", "one that `podsim sweep export` shows",
           nearest(metric.column, names));
  }
  if (colon == std::string::npos) {
    if (metric.better == Better::neither) {
      refuse(store.path(), metric.column, "may be better high or low",
             metric.column + ":max or " + metric.column + ":min");
    }
    return metric;
  }
  const std::string direction = text.substr(colon + 1);
  if (direction != "min" && direction != "max") {
    refuse(store.path(), text, fmt::format("\"{}\" is no direction", direction), "min or max");
  }
  metric.better = direction == "max" ? Better::higher : Better::lower;
  return metric;
}

Table status_table(SweepStore& store) {
  Table table{"Status", {{"status", ""}, {"points", ""}}, {}};
  Statement select =
      store.database().prepare("SELECT status, count(*) FROM points GROUP BY status ORDER BY count(*) DESC, status");
  while (select.step()) table.rows.push_back(row_of(select));
  return table;
}

Table best_points(SweepStore& store, const SweepMetric& metric, std::int64_t limit) {
  const std::vector<std::string> columns = shown_columns(store, {metric.column});
  Table table = empty_table(store, "Best by " + metric.column, columns);
  Statement select =
      store.database().prepare(fmt::format("{} AND {} IS NOT NULL ORDER BY {}, point LIMIT {}", select_of(columns),
                                           sql_name(metric.column), order_of(metric), limit));
  while (select.step()) table.rows.push_back(row_of(select));
  return table;
}

Table pareto_front(SweepStore& store, const SweepMetric& first, const SweepMetric& second) {
  std::vector<std::string> columns = shown_columns(store, {first.column, second.column});
  Table table = empty_table(store, fmt::format("Pareto front of {} and {}", first.column, second.column), columns);
  columns.push_back(second.column);
  Statement select = store.database().prepare(
      fmt::format("{} AND {} IS NOT NULL AND {} IS NOT NULL ORDER BY {}, {}, point", select_of(columns),
                  sql_name(first.column), sql_name(second.column), order_of(first), order_of(second)));
  std::optional<double> reached;
  while (select.step()) {
    std::vector<Cell> row = row_of(select);
    const std::optional<double> value = number_of(row.back());
    row.pop_back();
    if (!value || (reached && !is_better(second, *value, *reached))) continue;
    reached = value;
    table.rows.push_back(std::move(row));
  }
  return table;
}

Table pivot_table(SweepStore& store, const std::string& row, const std::string& column, const SweepMetric& metric,
                  bool mark_failures) {
  refuse_other_input(store, row);
  refuse_other_input(store, column);
  const std::map<Cell, std::size_t> row_places = values_of(store, row);
  const std::map<Cell, std::size_t> column_places = values_of(store, column);
  if (row_places.size() * column_places.size() > k_most_cells) {
    refuse(store.path(), row + ", " + column, fmt::format("{} by {} values", row_places.size(), column_places.size()),
           "at most a million cells; `podsim sweep export` has the points");
  }
  Table table{fmt::format("{} by {} and {}", metric.column, row, column), {{row + " \\ " + column, ""}}, {}};
  table.columns.resize(column_places.size() + 1);
  for (const auto& [value, place] : column_places) table.columns[place + 1] = {csv_text(value), ""};
  table.rows.assign(row_places.size(), std::vector<Cell>(column_places.size() + 1));
  for (const auto& [value, place] : row_places) table.rows[place].front() = value;
  const auto cell = [&](const Statement& at) -> Cell& {
    return table.rows[row_places.at(at.cell(0))][column_places.at(at.cell(1)) + 1];
  };
  Statement select = store.database().prepare(
      fmt::format("SELECT {0}, {1}, {2}({3}) FROM points WHERE status = 'ok' GROUP BY {0}, {1}", sql_name(row),
                  sql_name(column), best_function(metric), sql_name(metric.column)));
  while (select.step()) cell(select) = select.cell(2);
  if (!mark_failures) return table;
  Statement failed = store.database().prepare(
      fmt::format("SELECT {0}, {1}, status FROM points WHERE status != 'ok' GROUP BY {0}, {1}, status "
                  "ORDER BY count(*) DESC, status",
                  sql_name(row), sql_name(column)));
  while (failed.step()) {
    if (cell(failed) == Cell()) cell(failed) = spoken_status(failed.text(2));
  }
  return table;
}

Table value_table(SweepStore& store, const std::string& input, const SweepMetric& metric) {
  refuse_other_input(store, input);
  Table table{input, {{input, ""}, {"points", ""}, {"work", ""}, {metric.column, unit_of(store, metric.column)}}, {}};
  Statement select = store.database().prepare(
      fmt::format("SELECT {0}, count(*), sum(status = 'ok'), {1}(CASE WHEN status = 'ok' THEN {2} END) FROM points "
                  "GROUP BY {0} ORDER BY {3}",
                  sql_name(input), best_function(metric), sql_name(metric.column), order_of_values(input)));
  while (select.step()) table.rows.push_back(row_of(select));
  return table;
}

std::int64_t values_in(SweepStore& store, const std::string& input) {
  return store.database().integer(
      fmt::format("SELECT count(*) FROM (SELECT DISTINCT {} FROM points)", sql_name(input)));
}

namespace {

constexpr std::int64_t k_most_values = 200;  // of an input whose influence is asked for

// By how much of the best the best values at its settings differ.
double influence(SweepStore& store, const std::string& input, const SweepMetric& metric) {
  std::optional<double> low;
  std::optional<double> high;
  for (const std::vector<Cell>& row : value_table(store, input, metric).rows) {
    const std::optional<double> value = number_of(row[3]);
    if (!value) continue;
    low = std::min(*value, low.value_or(*value));
    high = std::max(*value, high.value_or(*value));
  }
  return high && *high > 0 ? (*high - *low) / *high : 0;
}

}  // namespace

SweepQuestions usual_questions(SweepStore& store) {
  const SweepMetric rate{"samples_per_s", Better::higher};
  const bool devices_vary =
      store.database().integer("SELECT count(DISTINCT devices) FROM points WHERE status = 'ok'") > 1;
  const SweepMetric cost{devices_vary ? "devices" : "fullest_memory_pct", Better::lower};
  SweepQuestions questions{{rate}, {{cost, rate}}, {}};
  std::vector<std::pair<double, std::string>> inputs;
  for (const std::string& input : store.identity().inputs) {
    const std::int64_t values = values_in(store, input);
    if (values > 1 && values <= k_most_values) inputs.emplace_back(influence(store, input, rate), input);
  }
  std::stable_sort(inputs.begin(), inputs.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
  constexpr std::size_t k_most_inputs = 3;
  inputs.resize(std::min(inputs.size(), k_most_inputs));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    for (std::size_t j = i + 1; j < inputs.size(); ++j) {
      questions.pivots.push_back({inputs[i].second, inputs[j].second, rate});
    }
  }
  return questions;
}

}  // namespace podsim
