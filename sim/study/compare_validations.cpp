#include <cmath>
#include <map>
#include <utility>

#include "sim/config/key_spec.hpp"
#include "sim/study/comparison.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

struct Case {
  std::string predicted;
  std::optional<double> error_pct;
  std::optional<bool> right;  // of a memory point
};

std::string text_at(const Value& value, std::string_view key) {
  const Value* found = value.find(key);
  if (found == nullptr) return "";
  if (found->is(Value::Kind::string)) return found->as_string();
  const std::optional<double> number = read_number(value, key);
  return number ? format_significant(*number) : "";
}

std::map<std::string, Case> cases_of(const Value& validation) {
  std::map<std::string, Case> cases;
  const Value* list = validation.find("cases");
  if (list == nullptr || !list->is(Value::Kind::array)) return cases;
  for (const Value& one : list->elements()) {
    if (!text_at(one, "skipped_reason").empty()) continue;
    Case result{text_at(one, "predicted"), read_number(one, "error_pct"), std::nullopt};
    const std::string measured = text_at(one, "measured");
    if (measured == "fits" || measured == "does_not_fit") result.right = measured == result.predicted;
    cases.emplace(text_at(one, "id"), std::move(result));
  }
  return cases;
}

// Errors in per cent, compared by how far they are from 0; the tolerance counts in percentage points.
MetricChange compare_errors(const std::string& name, double before, double after, double tolerance, bool headline) {
  MetricChange change{name,
                      format_significant(before) + " %",
                      format_significant(after) + " %",
                      (std::fabs(after) - std::fabs(before)) / 100,
                      headline,
                      ChangeVerdict::same,
                      true};
  if (*change.change > tolerance) change.verdict = ChangeVerdict::worse;
  if (*change.change < -tolerance) change.verdict = ChangeVerdict::better;
  return change;
}

MetricChange compare_cases(const std::string& id, const Case& before, const Case& after, double tolerance) {
  if (before.error_pct && after.error_pct) {
    MetricChange change = compare_errors("error of " + id, *before.error_pct, *after.error_pct, tolerance, false);
    change.headline = change.verdict != ChangeVerdict::same;
    return change;
  }
  MetricChange change{id, before.predicted, after.predicted, std::nullopt, false, ChangeVerdict::same, true};
  if (before.right == after.right) return change;
  change.headline = true;
  change.verdict = after.right.value_or(false) ? ChangeVerdict::better : ChangeVerdict::worse;
  return change;
}

std::map<std::string, double> errors_of_groups(const Value& validation) {
  std::map<std::string, double> errors;
  const Value* groups = validation.find("groups");
  if (groups == nullptr || !groups->is(Value::Kind::array)) return errors;
  for (const Value& group : groups->elements()) {
    if (const auto error = read_number(group, "mape_pct")) errors.emplace(text_at(group, "name"), *error);
  }
  return errors;
}

}  // namespace

Comparison compare_validations(const Value& before, const Value& after, double tolerance) {
  Comparison comparison{"validations", {}, {}};
  const std::map<std::string, double> groups = errors_of_groups(after);
  for (const auto& [group, error] : errors_of_groups(before)) {
    const auto other = groups.find(group);
    if (other == groups.end()) continue;
    comparison.metrics.push_back(compare_errors("mean error of " + group, error, other->second, tolerance, true));
  }
  PairedValues errors{"|error|", "%", {}};
  std::map<std::string, Case> rest = cases_of(after);
  for (const auto& [id, one] : cases_of(before)) {
    const auto other = rest.find(id);
    if (other == rest.end()) {
      comparison.metrics.push_back({id, one.predicted, "", std::nullopt, true, ChangeVerdict::worse, true});
      continue;
    }
    comparison.metrics.push_back(compare_cases(id, one, other->second, tolerance));
    if (one.error_pct && other->second.error_pct) {
      errors.pairs.push_back({id, std::fabs(*one.error_pct), std::fabs(*other->second.error_pct)});
    }
    rest.erase(other);
  }
  for (const auto& [id, one] : rest) {
    comparison.metrics.push_back({id, "", one.predicted, std::nullopt, true, ChangeVerdict::added, true});
  }
  if (!errors.pairs.empty()) comparison.pairs.push_back(std::move(errors));
  return comparison;
}

}  // namespace podsim
