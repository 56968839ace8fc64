#include "sim/study/coverage.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>

#include "sim/plan/plan.hpp"
#include "sim/report/human.hpp"
#include "sim/report/text_table.hpp"
#include "sim/study/varied_runs.hpp"

namespace podsim {
namespace {

// A case with what its draws came to.
struct Drawn {
  ValidatedCase* one = nullptr;
  Experiment experiment;
  ConstantSet constants;
  double model_factor = 1;
  std::vector<double> values;
};

class Intervals {
 public:
  Intervals(const Catalog& catalog, const ConfigFiles& configs, const IntervalOptions& options)
      : spreads_(configs), runs_(catalog, configs, true), options_(options) {}

  void take(const PublishedCase& published, ValidatedCase& one, const std::vector<std::string>& overlays) {
    const auto* written = std::get_if<Experiment>(&published.content);
    if (written == nullptr || one.is_point() || !one.counts() || !one.predicted) return;
    Drawn drawn{&one, *written, {}, spreads_.model_factor(one.family), {}};
    drawn.experiment.overlays = overlays;
    std::string ignored;  // the case ran before
    const std::optional<Plan> plan = runs_.plan(drawn.experiment, ignored);
    if (!plan) return;
    drawn.constants = plan->constants;
    cases_.push_back(std::move(drawn));
  }

  // Draw by draw, so that the runs of one machine share what they have in common.
  void draw(const std::function<void(std::int64_t, std::int64_t)>& progress) {
    const std::int64_t all = options_.draws * static_cast<std::int64_t>(cases_.size());
    std::int64_t done = 0;
    for (std::int64_t draw = 0; draw < options_.draws; ++draw) {
      for (Drawn& drawn : cases_) {
        run(drawn, draw);
        if (progress) progress(++done, all);
      }
    }
    constexpr std::size_t k_least_draws = 20;
    for (Drawn& drawn : cases_) {
      if (drawn.values.size() >= k_least_draws) drawn.one->interval = quantiles_of(std::move(drawn.values));
    }
  }

 private:
  void run(Drawn& drawn, std::int64_t draw) {
    drawn.experiment.varied = drawn_constants(drawn.constants, spreads_, options_.seed, draw);
    const VariedRun run = runs_.run(drawn.experiment);
    const std::optional<double> value =
        run.report ? measured_value(*run.report, drawn.one->quantity) : std::optional<double>();
    if (!value) return;
    const double left_out =
        factor_at({1 / drawn.model_factor, drawn.model_factor}, drawn_z(options_.seed, draw, drawn.one->id));
    drawn.values.push_back(drawn.one->is_rate() ? *value * left_out : *value / left_out);
  }

  Spreads spreads_;
  VariedRuns runs_;
  IntervalOptions options_;
  std::vector<Drawn> cases_;
};

void count(const ValidatedCase& one, IntervalCoverage& coverage) {
  ++coverage.cases;
  if (*one.measured < one.interval->p10) {
    ++coverage.below;
  } else if (*one.measured > one.interval->p90) {
    ++coverage.above;
  } else {
    ++coverage.inside;
  }
}

}  // namespace

void add_intervals(Validation& validation, const std::vector<ReferenceTable>& tables,
                   const std::vector<std::string>& overlays, const Catalog& catalog, const ConfigFiles& configs,
                   const IntervalOptions& options, const std::function<void(std::int64_t, std::int64_t)>& progress) {
  Intervals intervals(catalog, configs, options);
  Diagnostics told;  // when the cases were validated
  for (const MeasuredCase& measured : read_measured_cases(tables, catalog, configs, told)) {
    const auto one = std::ranges::find(validation.cases, measured.published.id, &ValidatedCase::id);
    if (one != validation.cases.end()) intervals.take(measured.published, *one, overlays);
  }
  intervals.draw(progress);
  validation.coverage = coverage_of(validation.cases);
}

std::vector<IntervalCoverage> coverage_of(const std::vector<ValidatedCase>& cases) {
  std::vector<IntervalCoverage> groups{{"rates"}, {"rates, fitted"}, {"rates, held out"}};
  const auto group = [&](const std::string& name) -> IntervalCoverage& {
    const auto known = std::ranges::find(groups, name, &IntervalCoverage::group);
    return known != groups.end() ? *known : groups.emplace_back(IntervalCoverage{name});
  };
  for (const ValidatedCase& one : cases) {
    if (!one.interval || !one.measured) continue;
    const std::string kind = one.is_rate() ? "rates" : "times";
    count(one, group(kind));
    if (one.is_rate()) count(one, group(one.fitted ? "rates, fitted" : "rates, held out"));
    count(one, group(fmt::format("{}, {}", kind, one.family)));
  }
  std::erase_if(groups, [](const IntervalCoverage& coverage) { return coverage.cases == 0; });
  return groups;
}

std::string coverage_text(const std::vector<IntervalCoverage>& coverage) {
  if (coverage.empty()) return "";
  TextTable table;
  table.column("measurements", Align::left);
  for (const char* heading : {"cases", "within P10 to P90", "share", "below", "above"}) {
    table.column(heading, Align::right);
  }
  for (const IntervalCoverage& group : coverage) {
    table.row({group.group, std::to_string(group.cases), std::to_string(group.inside),
               human_percent(group.inside_pct()), std::to_string(group.below), std::to_string(group.above)});
  }
  return "\nIntervals: 80 % of the measurements should lie within P10 to P90\n" + table.text();
}

}  // namespace podsim
