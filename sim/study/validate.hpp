#pragma once
// Published measurements against the model: every row of the tables is planned and simulated by the native engine.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/plan/catalog.hpp"
#include "sim/study/measured_cases.hpp"

namespace podsim {

// A second figure of a case.
struct FurtherComparison {
  std::string quantity;
  double measured = 0;
  double predicted = 0;
  double error_pct() const { return 100 * (predicted / measured - 1); }
};

struct ValidatedCase {
  std::string id;
  std::string source;                        // where it was published
  std::string family;                        // of the machine; empty when it did not run
  std::string quantity = "sequences_per_s";  // see PublishedCase
  std::optional<double> measured;
  std::optional<double> predicted;
  std::optional<double> error_pct;  // 100 · (predicted / measured - 1)
  std::optional<bool> measured_fits;
  std::optional<bool> predicted_fits;  // also of a measured rate: whether its memory account fits
  bool fitted = false;                 // its id stands among the sources of a fitted constant that the run read
  std::string lower_bound;             // why the measured rate is only a lower bound; empty: it is none
  std::string excluded;                // why it is shown but in no figure; empty: it counts, unless it is a bound
  std::vector<std::string> defaults;
  std::string skipped_reason;  // empty: it ran
  std::vector<CaseFeature> features;
  std::string operation;  // of a single operator: its text, as `explain op` reads it
  std::string group;      // of operators that are judged together; may be empty
  std::vector<FurtherComparison> further;
  std::optional<Quantiles> interval;  // where intervals were asked for

  bool ran() const { return skipped_reason.empty(); }
  bool counts() const { return ran() && lower_bound.empty() && excluded.empty(); }  // in the figures of a group
  bool below_bound() const { return ran() && !lower_bound.empty() && error_pct && *error_pct < 0; }
  bool is_point() const { return quantity == k_fits; }
  bool is_operator() const { return !operation.empty(); }
  bool is_rate() const { return quantity.ends_with("_per_s"); }
  bool wrong() const { return ran() && is_point() && measured_fits != predicted_fits; }
};

// Cases that belong together; lower bounds are left out.
struct ValidationGroup {
  std::string name;
  std::int64_t cases = 0;
  // Of rates.
  std::optional<double> mape_pct;     // mean of |error|
  std::optional<double> maximum_pct;  // largest |error|
  std::optional<double> bias_pct;     // mean of error
  std::optional<double> spearman;     // of measured and predicted
  // Of memory points.
  std::optional<std::int64_t> right, wrong;
};

// How many measurements lie within P10 to P90 of their predictions.
struct IntervalCoverage {
  std::string group;
  std::int64_t cases = 0, inside = 0;
  std::int64_t below = 0;  // measured less than P10
  std::int64_t above = 0;  // measured more than P90
  double inside_pct() const { return cases > 0 ? 100 * static_cast<double>(inside) / static_cast<double>(cases) : 0; }
};

struct Validation {
  std::vector<ValidatedCase> cases;  // in the order of the tables
  std::vector<ValidationGroup> groups;
  std::vector<IntervalCoverage> coverage;  // empty: intervals were not asked for
  // Whether every case that ran is a single operator. Beside others they are summed up, not listed.
  bool operators_alone() const;
};

// `overlays`: constant files of the user. A text that is no table, or a table of no known kind, goes to `diagnostics`;
// a row that cannot be run is a case with a reason.
Validation validate(const std::vector<ReferenceTable>& tables, const Catalog& catalog, const ConfigFiles& configs,
                    const std::vector<std::string>& overlays, Diagnostics& diagnostics);

std::vector<ValidationGroup> group_cases(const std::vector<ValidatedCase>& cases);

// Whether a rate that counts is off by more than `tolerance` (a fraction; empty: any error is accepted) or a memory
// point is judged wrong. Single operators are judged only where nothing else ran.
bool out_of_tolerance(const Validation& validation, std::optional<double> tolerance);

std::string to_text(const Validation& validation);
std::string to_json(const Validation& validation);
std::string to_csv(const Validation& validation);  // the cases

}  // namespace podsim
