#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <map>
#include <utility>

#include "sim/report/metrics.hpp"
#include "sim/report/result_columns.hpp"
#include "sim/study/comparison.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::array<std::string_view, 10> k_judged{
    "samples_per_s",   "sequences_per_s", "packs_per_s", "tokens_per_s",          "images_per_s",
    "training_time_s", "mfu_pct",         "request_s",   "time_to_first_token_s", "time_per_output_token_s"};
// Whose points are told singly; the others go with the first.
constexpr std::array<std::string_view, 4> k_told{"samples_per_s", "training_time_s", "request_s",
                                                 "time_per_output_token_s"};
constexpr std::size_t k_most_told = 10;  // points, the worst first

struct Point {
  std::string inputs;
  std::string status;
  std::map<std::string, double> metrics;
};

// By key: equal inputs have equal keys in every sweep.
std::map<std::string, Point> points_of(SweepStore& store) {
  const std::vector<Column>& columns = store.identity().columns;
  const std::vector<std::string>& inputs = store.identity().inputs;
  std::map<std::string, Point> points;
  Statement select = store.database().prepare("SELECT * FROM points ORDER BY point");
  while (select.step()) {
    Point point;
    std::string key;
    for (std::size_t c = 0; c < columns.size(); ++c) {
      const Cell cell = select.cell(static_cast<int>(c));
      const std::string& name = columns[c].name;
      if (c < inputs.size()) point.inputs += (c > 0 ? ", " : "") + name + " = " + csv_text(cell);
      if (name == "status") point.status = csv_text(cell);
      if (name == "key") key = csv_text(cell);
      const bool judged = std::find(k_judged.begin(), k_judged.end(), name) != k_judged.end();
      if (const double* number = std::get_if<double>(&cell); number != nullptr && judged) point.metrics[name] = *number;
    }
    points.emplace(std::move(key), std::move(point));
  }
  return points;
}

using Points = std::map<std::string, Point>;

void add_metric(const std::string& metric, const Points& before, const Points& after, double tolerance,
                Comparison& comparison) {
  std::vector<MetricChange>& changes = comparison.metrics;
  PairedValues paired{metric, std::string(unit_by_name(metric)), {}};
  double logarithms_before = 0;
  double logarithms_after = 0;
  std::int64_t count = 0;
  std::vector<MetricChange> beyond;
  const bool is_told = std::find(k_told.begin(), k_told.end(), metric) != k_told.end();
  for (const auto& [key, point] : before) {
    const auto other = after.find(key);
    if (other == after.end() || !point.metrics.contains(metric) || !other->second.metrics.contains(metric)) continue;
    const double first = point.metrics.at(metric);
    const double second = other->second.metrics.at(metric);
    if (!(first > 0) || !(second > 0)) continue;
    logarithms_before += std::log(first);
    logarithms_after += std::log(second);
    ++count;
    if (is_told) paired.pairs.push_back({point.inputs, first, second});
    MetricChange change = compare_numbers(metric, first, second, tolerance);
    change.name = fmt::format("{} at {}", metric, point.inputs);
    change.headline = change.verdict == ChangeVerdict::worse;
    if (change.verdict != ChangeVerdict::same && is_told) beyond.push_back(std::move(change));
  }
  if (count == 0) return;
  if (is_told) comparison.pairs.push_back(std::move(paired));
  const double points = static_cast<double>(count);
  MetricChange mean =
      compare_numbers(metric, std::exp(logarithms_before / points), std::exp(logarithms_after / points), tolerance);
  mean.name = fmt::format("{}, mean of {} points", metric, count);
  changes.push_back(mean);
  std::stable_sort(beyond.begin(), beyond.end(), [](const MetricChange& a, const MetricChange& b) {
    return std::pair(a.verdict != ChangeVerdict::worse, -std::fabs(*a.change)) <
           std::pair(b.verdict != ChangeVerdict::worse, -std::fabs(*b.change));
  });
  for (std::size_t i = k_most_told; i < beyond.size(); ++i) beyond[i].headline = false;
  changes.insert(changes.end(), beyond.begin(), beyond.end());
}

void add_statuses(const Points& before, const Points& after, std::vector<MetricChange>& changes) {
  for (const auto& [key, point] : before) {
    const auto other = after.find(key);
    const std::string name = "status at " + point.inputs;
    if (other == after.end()) {
      changes.push_back({name, point.status, "", std::nullopt, false, ChangeVerdict::missing, true});
    } else if (other->second.status != point.status) {
      const ChangeVerdict verdict = point.status == "ok"           ? ChangeVerdict::worse
                                    : other->second.status == "ok" ? ChangeVerdict::better
                                                                   : ChangeVerdict::changed;
      changes.push_back({name, point.status, other->second.status, std::nullopt, true, verdict, true});
    }
  }
  for (const auto& [key, point] : after) {
    if (!before.contains(key)) {
      changes.push_back(
          {"status at " + point.inputs, "", point.status, std::nullopt, false, ChangeVerdict::added, true});
    }
  }
}

std::string coverage_of(const Points& before, const Points& after) {
  const auto both = static_cast<std::size_t>(
      std::count_if(before.begin(), before.end(), [&](const auto& point) { return after.contains(point.first); }));
  std::string text = fmt::format("{} points compared", both);
  if (before.size() > both) text += fmt::format(", {} of A are not in B", before.size() - both);
  if (after.size() > both) text += fmt::format(", {} of B are not in A", after.size() - both);
  return text;
}

// The experiment that a sweep varies, from its definition.
Value base_of(const SweepStore& store) {
  const std::string& definition = store.identity().definition;
  Diagnostics ignored;
  const std::optional<Value> document = parse_toml(definition.substr(0, definition.find('\n')), "", ignored);
  const Value* written = document ? document->find("base") : nullptr;
  Value base = written != nullptr ? *written : Value::table({});
  for (const char* section : {"system", "software"}) {  // may be a name alone
    const Value* name = base.find(section);
    if (name == nullptr || !name->is(Value::Kind::string)) continue;
    Value table = Value::table({});
    table.set("name", *name);
    base.set(section, std::move(table));
  }
  return base;
}

}  // namespace

Comparison compare_sweeps(SweepStore& before, SweepStore& after, double tolerance) {
  const Points first = points_of(before);
  const Points second = points_of(after);
  Comparison comparison{"sweeps", {}, {}, coverage_of(first, second)};
  comparison.before_is = origin_of("", before.identity().tool, before.identity().input_sha256);
  comparison.after_is = origin_of("", after.identity().tool, after.identity().input_sha256);
  for (const std::string_view metric : k_judged) {
    add_metric(std::string(metric), first, second, tolerance, comparison);
  }
  add_statuses(first, second, comparison.metrics);
  if (before.identity().tool != after.identity().tool) {
    comparison.reasons.push_back(
        fmt::format("another program: {} -> {}", before.identity().tool, after.identity().tool));
  }
  for (const std::string& difference : differences_of(base_of(before), base_of(after))) {
    comparison.reasons.push_back("input " + difference);
  }
  return comparison;
}

}  // namespace podsim
