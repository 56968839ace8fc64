#include "sim/study/validate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <stdexcept>

#include "sim/numerics/statistics.hpp"
#include "sim/plan/operator_estimate.hpp"
#include "sim/plan/plan.hpp"
#include "sim/study/evaluate.hpp"
#include "sim/study/measured_cases.hpp"

namespace podsim {
namespace {

bool is_id_character(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '-' || c == '_' || c == '.';
}

// Whether `id` stands as a word of its own in the list behind "fitted on"; remarks in parentheses are not the list.
bool lists(const std::string& source, const std::string& id) {
  const std::size_t begin = source.find("fitted on ");
  if (begin == std::string::npos || id.empty()) return false;
  std::string word;
  int depth = 0;
  for (std::size_t at = begin + 10; at <= source.size(); ++at) {
    const char c = at < source.size() ? source[at] : ' ';
    if (depth == 0 && is_id_character(c)) {
      word += c;
      continue;
    }
    if (word == id) return true;
    word.clear();
    if (c == '(') ++depth;
    if (c == ')') --depth;
  }
  return false;
}

bool was_fitted(const ConstantSet& constants, const std::vector<ConstantId>& read, const std::string& id) {
  return std::any_of(read.begin(), read.end(), [&](ConstantId constant) {
    return constants[constant].confidence == "fitted" && lists(constants[constant].source, id);
  });
}

std::string first_problem(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity != Severity::error) continue;
    return diagnostic.key.empty() ? diagnostic.problem : diagnostic.key + ": " + diagnostic.problem;
  }
  return "cannot be planned";
}

class Validator {
 public:
  Validator(const Catalog& catalog, const ConfigFiles& configs, const std::vector<std::string>& overlays)
      : catalog_(catalog), configs_(configs), overlays_(overlays) {}

  void add(const MeasuredCase& one) { cases_.push_back(run(one.published, *one.reader)); }

  std::vector<ValidatedCase> take() { return std::move(cases_); }

 private:
  ValidatedCase run(const PublishedCase& published, const CaseReader& reader) {
    ValidatedCase result;
    result.id = published.id;
    result.source = published.source;
    result.quantity = published.quantity;
    result.measured = published.measured;
    result.measured_fits = published.measured_fits;
    result.lower_bound = published.lower_bound;
    result.excluded = published.excluded;
    result.defaults = published.defaults;
    result.group = published.group;
    if (const auto* skipped = std::get_if<SkippedCase>(&published.content)) {
      result.skipped_reason = skipped->reason;
      return result;
    }
    if (const auto* single = std::get_if<OperatorCase>(&published.content)) {
      run_operator(published, *single, result);
      return result;
    }
    Experiment experiment = std::get<Experiment>(published.content);
    experiment.overlays = overlays_;
    const PlanResult made = make_plan(experiment, catalog_, configs_);
    if (!made.plan) {
      result.skipped_reason = first_problem(made.diagnostics);
      return result;
    }
    try {
      predict(*made.plan, result);
    } catch (const std::range_error& error) {
      result.skipped_reason = fmt::format("cannot be simulated: {}", error.what());
    }
    if (!result.ran()) return result;
    result.family = made.plan->family->name();
    const std::vector<ConstantId>& read = made.plan->family_plan->constants_read();
    result.fitted = was_fitted(made.plan->constants, read, published.source_id);
    result.features = reader.features(*made.plan);
    return result;
  }

  void run_operator(const PublishedCase& published, const OperatorCase& single, ValidatedCase& result) {
    Experiment machine = single.machine;
    machine.overlays = overlays_;
    const OperatorResult made = estimate_operator(machine, single.text, machine.document.place(), catalog_, configs_);
    if (!made.estimate || !result.measured) {
      result.skipped_reason = first_problem(made.diagnostics);
      return;
    }
    const OperatorEstimate& estimate = *made.estimate;
    result.operation = estimate.operation;
    result.family = made.family;
    result.predicted = estimate.cycles.in_base();
    result.error_pct = 100 * (*result.predicted / *result.measured - 1);
    result.fitted = was_fitted(made.constants, estimate.constants_read, published.source_id);
    for (const FurtherFigure& figure : published.further) {
      if (figure.quantity != "bytes") continue;
      result.further.push_back({figure.quantity, figure.measured, estimate.bytes.size().in_base()});
    }
  }

  void predict(const Plan& plan, ValidatedCase& result) {
    if (result.is_point()) {
      result.predicted_fits = plan.family->verdict(plan, false).fits();
      return;
    }
    const Report report = simulate_plan(plan, engine_, {.merge = true, .unfit = true});
    result.predicted_fits = report.verdict.fits();
    result.predicted = measured_value(report, result.quantity);
    if (!result.predicted || !result.measured) {
      result.skipped_reason = fmt::format("the run has no {}", result.quantity);
      return;
    }
    result.error_pct = 100 * (*result.predicted / *result.measured - 1);
  }

  const Catalog& catalog_;
  const ConfigFiles& configs_;
  const std::vector<std::string>& overlays_;
  Engine engine_ = make_engine("native");
  std::vector<ValidatedCase> cases_;
};

using Selection = std::function<bool(const ValidatedCase&)>;

struct Comparison {
  double measured = 0;
  double predicted = 0;
  double error_pct = 0;
};

std::optional<Comparison> comparison_of(const ValidatedCase& one) {
  if (!one.counts() || !one.error_pct) return std::nullopt;
  return Comparison{*one.measured, *one.predicted, *one.error_pct};
}

std::optional<Comparison> further_of(const ValidatedCase& one, const std::string& quantity) {
  const auto found = std::ranges::find(one.further, quantity, &FurtherComparison::quantity);
  if (!one.counts() || found == one.further.end()) return std::nullopt;
  return Comparison{found->measured, found->predicted, found->error_pct()};
}

void add_comparisons(const std::vector<Comparison>& comparisons, const std::string& name,
                     std::vector<ValidationGroup>& groups) {
  if (comparisons.empty()) return;
  std::vector<std::pair<double, double>> pairs;
  double sum = 0;
  double sum_of_sizes = 0;
  double largest = 0;
  for (const Comparison& one : comparisons) {
    pairs.emplace_back(one.measured, one.predicted);
    sum += one.error_pct;
    sum_of_sizes += std::abs(one.error_pct);
    largest = std::max(largest, std::abs(one.error_pct));
  }
  ValidationGroup group;
  group.name = name;
  group.cases = static_cast<std::int64_t>(pairs.size());
  group.mape_pct = sum_of_sizes / static_cast<double>(pairs.size());
  group.maximum_pct = largest;
  group.bias_pct = sum / static_cast<double>(pairs.size());
  group.spearman = spearman(pairs);
  groups.push_back(std::move(group));
}

void add_values(const std::vector<ValidatedCase>& cases, const std::string& name, const Selection& belongs,
                std::vector<ValidationGroup>& groups) {
  std::vector<Comparison> comparisons;
  for (const ValidatedCase& one : cases) {
    const std::optional<Comparison> comparison = comparison_of(one);
    if (comparison && belongs(one)) comparisons.push_back(*comparison);
  }
  add_comparisons(comparisons, name, groups);
}

void add_rates(const std::vector<ValidatedCase>& cases, const std::string& name, const Selection& belongs,
               std::vector<ValidationGroup>& groups) {
  add_values(
      cases, name, [&](const ValidatedCase& one) { return one.is_rate() && belongs(one); }, groups);
}

void add_points(const std::vector<ValidatedCase>& cases, const std::string& name, const Selection& belongs,
                std::vector<ValidationGroup>& groups) {
  ValidationGroup group;
  group.name = name;
  std::int64_t wrong = 0;
  for (const ValidatedCase& one : cases) {
    if (!one.counts() || !one.is_point() || !belongs(one)) continue;
    ++group.cases;
    if (one.wrong()) ++wrong;
  }
  if (group.cases == 0) return;
  group.right = group.cases - wrong;
  group.wrong = wrong;
  groups.push_back(std::move(group));
}

// In the order of their first case, like the next.
std::vector<std::string> families_of(const std::vector<ValidatedCase>& cases) {
  std::vector<std::string> families;
  for (const ValidatedCase& one : cases) {
    if (!one.family.empty() && std::ranges::count(families, one.family) == 0) families.push_back(one.family);
  }
  return families;
}

std::vector<std::string> other_quantities(const std::vector<ValidatedCase>& cases) {
  std::vector<std::string> quantities;
  for (const ValidatedCase& one : cases) {
    if (one.is_rate() || one.is_point() || std::ranges::count(quantities, one.quantity) > 0) continue;
    quantities.push_back(one.quantity);
  }
  return quantities;
}

// Single operators by the group that their table gives them, first by cycles, then by bytes.
void add_operators(const std::vector<ValidatedCase>& cases, std::vector<ValidationGroup>& groups) {
  std::vector<std::string> names;
  for (const ValidatedCase& one : cases) {
    if (one.is_operator() && std::ranges::count(names, one.group) == 0) names.push_back(one.group);
  }
  std::ranges::sort(names);
  for (const std::string& name : names) {
    add_values(
        cases, "cycles, " + name, [&](const ValidatedCase& one) { return one.group == name; }, groups);
  }
  for (const std::string& name : names) {
    std::vector<Comparison> comparisons;
    for (const ValidatedCase& one : cases) {
      const std::optional<Comparison> comparison = further_of(one, "bytes");
      if (comparison && one.group == name) comparisons.push_back(*comparison);
    }
    add_comparisons(comparisons, "bytes, " + name, groups);
  }
}

std::string feature_of(const ValidatedCase& one, std::string_view name) {
  const auto found = std::ranges::find(one.features, name, &CaseFeature::name);
  return found == one.features.end() ? "" : found->text;
}

}  // namespace

Validation validate(const std::vector<ReferenceTable>& tables, const Catalog& catalog, const ConfigFiles& configs,
                    const std::vector<std::string>& overlays, Diagnostics& diagnostics) {
  Validator validator(catalog, configs, overlays);
  for (const MeasuredCase& one : read_measured_cases(tables, catalog, configs, diagnostics)) validator.add(one);
  Validation validation;
  validation.cases = validator.take();
  validation.groups = group_cases(validation.cases);
  return validation;
}

std::vector<ValidationGroup> group_cases(const std::vector<ValidatedCase>& cases) {
  std::vector<ValidationGroup> groups;
  const Selection all = [](const ValidatedCase&) { return true; };
  const Selection fitted = [](const ValidatedCase& one) { return one.fitted; };
  const Selection held_out = [](const ValidatedCase& one) { return !one.fitted; };
  add_rates(cases, "throughput", all, groups);
  add_rates(cases, "throughput, fitted", fitted, groups);
  add_rates(cases, "throughput, held out", held_out, groups);
  const std::vector<std::string> families = families_of(cases);
  for (const std::string& family : families) {
    if (families.size() == 1) break;
    const std::string name = "throughput, " + family;
    const auto own = [&](const ValidatedCase& one) { return one.family == family; };
    add_rates(cases, name, own, groups);
    add_rates(
        cases, name + ", fitted", [&](const ValidatedCase& one) { return own(one) && one.fitted; }, groups);
    add_rates(
        cases, name + ", held out", [&](const ValidatedCase& one) { return own(one) && !one.fitted; }, groups);
  }
  for (const char* feature : {"model", "chip", "software"}) {
    std::vector<std::string> values;
    for (const ValidatedCase& one : cases) {
      const std::string value = feature_of(one, feature);
      if (!value.empty() && std::ranges::count(values, value) == 0) values.push_back(value);
    }
    for (const std::string& value : values) {
      add_rates(
          cases, fmt::format("throughput, {} {}", feature, value),
          [&](const ValidatedCase& one) { return feature_of(one, feature) == value; }, groups);
    }
  }
  for (const std::string& quantity : other_quantities(cases)) {
    add_values(
        cases, quantity, [&](const ValidatedCase& one) { return one.quantity == quantity; }, groups);
  }
  add_operators(cases, groups);
  add_points(cases, "memory points", all, groups);
  add_points(cases, "memory points, fitted", fitted, groups);
  add_points(cases, "memory points, held out", held_out, groups);
  return groups;
}

bool Validation::operators_alone() const {
  return std::ranges::all_of(cases, [](const ValidatedCase& one) { return !one.ran() || one.is_operator(); });
}

bool out_of_tolerance(const Validation& validation, std::optional<double> tolerance) {
  const bool operators = validation.operators_alone();
  return std::any_of(validation.cases.begin(), validation.cases.end(), [&](const ValidatedCase& one) {
    if (one.wrong()) return true;
    if (one.is_operator() && !operators) return false;
    return tolerance && one.counts() && one.error_pct && std::abs(*one.error_pct) > 100 * *tolerance;
  });
}

}  // namespace podsim
