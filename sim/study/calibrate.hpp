#pragma once
// Constants fitted to measurements: least squares of ln(predicted / measured) over the logarithms of the constants, so
// that errors and constants count by their ratio and constants stay positive.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/config/constants.hpp"
#include "sim/study/measurements.hpp"

namespace podsim {

struct CalibratedConstant {
  Constant before;
  double fitted = 0;                     // in base units
  std::optional<double> standard_error;  // of its logarithm, about its relative error; empty: not known
  std::size_t rows = 0;                  // that read it
  bool at_bound = false;                 // as far from its start as the search goes
  bool kept = false;                     // at its value, since the rows cannot tell it
  std::string fitted_text() const { return text_with_value(before, fitted); }
};

struct CalibratedRow {
  std::string id, series, quantity;
  double measured = 0;
  double before = 0;               // with the constants as they were
  double after = 0;                // with those fitted
  std::optional<double> left_out;  // with those fitted without its series; empty: not tried
};

struct Calibration {
  std::vector<CalibratedConstant> constants;  // as asked for
  std::vector<std::vector<double>> correlations;
  std::vector<std::string> unknown;  // what the rows cannot tell, in sentences
  std::vector<CalibratedRow> rows;
  std::vector<std::pair<std::string, std::string>> skipped;  // id and reason
  // Mean of |predicted / measured - 1|, in percent.
  double error_before_pct = 0, error_after_pct = 0;
  std::optional<double> error_left_out_pct;  // over the rows that were left out
  std::string left_out;                      // what was left out in turn, in words; or why nothing was
  bool converged = false;
  int evaluations = 0;
};

struct CalibrationOptions {
  bool leave_out = true;  // fit again without each series
};

// Refuses, through `diagnostics`: unknown constants, texts, counts, zeros, constants that no row reads or that differ
// between the rows' machines, and more constants than rows. Empty then.
std::optional<Calibration> calibrate(const Measurements& measurements, const std::vector<std::string>& constants,
                                     const CalibrationOptions& options, const Catalog& catalog,
                                     const ConfigFiles& configs, Diagnostics& diagnostics);

std::string to_text(const Calibration& calibration);
std::string to_json(const Calibration& calibration);
// Constants for `--overlay`, marked as fitted; `measured_in` names the tables.
std::string to_overlay(const Calibration& calibration, const std::string& measured_in);

}  // namespace podsim
