#include "sim/study/calibrate.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "sim/plan/plan.hpp"
#include "sim/study/least_squares.hpp"
#include "sim/study/varied_runs.hpp"

namespace podsim {
namespace {

const double k_farthest = std::log(20.0);     // of a constant from its start, up or down
const double k_unknown_from = std::log(2.0);  // standard error above which rows say too little
constexpr std::size_t k_most_folds = 10;
const Place k_option{"command line", 0, 0};

// A row with what its machine reads of the constants in question.
struct FittedRow {
  const Measurement* measurement = nullptr;
  std::vector<bool> reads;                      // by constant asked for
  std::map<std::vector<double>, double> known;  // predictions by the constants that it reads
};

class Calibrator {
 public:
  Calibrator(const Catalog& catalog, const ConfigFiles& configs, Diagnostics& diagnostics)
      : runs_(catalog, configs, true), diagnostics_(diagnostics) {}

  std::optional<Calibration> calibrate(const Measurements& measurements, const std::vector<std::string>& names,
                                       const CalibrationOptions& options) {
    result_.skipped = measurements.skipped;
    find_constants(measurements, names);
    check_constants(names);
    if (diagnostics_.has_errors()) return std::nullopt;
    keep_rows_that_read();
    if (rows_.size() < result_.constants.size()) {
      diagnostics_.error(
          k_option, "--constants",
          fmt::format("{} constants cannot be fitted to {} rows", result_.constants.size(), rows_.size()),
          "at least as many rows as constants");
      return std::nullopt;
    }
    fit_all();
    if (options.leave_out) leave_out();
    sum_up();
    return std::move(result_);
  }

 private:
  // Plans every row: which constants there are, what they are now, and who reads them.
  void find_constants(const Measurements& measurements, const std::vector<std::string>& names) {
    result_.constants.resize(names.size());
    for (const Measurement& measurement : measurements.rows) {
      std::string problem;
      const std::optional<Plan> plan = runs_.plan(measurement.experiment, problem);
      const VariedRun run = plan ? runs_.run(measurement.experiment) : VariedRun{std::nullopt, problem, false};
      const bool has_value = run.report && measured_value(*run.report, measurement.quantity);
      if (!has_value) {
        refuse_row(measurement, run.report ? fmt::format("the run has no {}", measurement.quantity) : run.problem);
        continue;
      }
      FittedRow row{&measurement, std::vector<bool>(names.size(), false), {}};
      for (std::size_t c = 0; c < names.size(); ++c) note_constant(*plan, names[c], c, row);
      for (const std::string& name : plan->constants.names()) known_names_.insert(name);
      rows_.push_back(std::move(row));
    }
  }

  // A row of the user's is to be mended; one that was published is left out.
  void refuse_row(const Measurement& measurement, const std::string& problem) {
    if (measurement.place.file.empty()) {
      result_.skipped.emplace_back(measurement.id, problem);
    } else {
      diagnostics_.error(measurement.place, "value", problem, "a metric of the run, and settings that are legal");
    }
  }

  void note_constant(const Plan& plan, const std::string& name, std::size_t c, FittedRow& row) {
    const std::optional<ConstantId> id = plan.constants.find(name);
    if (!id) return;
    const std::vector<ConstantId>& read = plan.family_plan->constants_read();
    if (!std::ranges::binary_search(read, *id)) return;
    const Constant& constant = plan.constants[*id];
    CalibratedConstant& known = result_.constants[c];
    row.reads[c] = true;
    ++known.rows;
    if (known.before.name.empty()) known.before = constant;
    if (known.before.base_value != constant.base_value) differing_.emplace(name, constant.text);
  }

  void check_constants(const std::vector<std::string>& names) {
    if (names.empty()) diagnostics_.error(k_option, "--constants", "names no constant", "names with commas between");
    if (rows_.empty() && !diagnostics_.has_errors()) {
      diagnostics_.error(k_option, "calibrate", "no row can be run: there is nothing to fit to");
      return;
    }
    for (std::size_t c = 0; c < names.size(); ++c) check_constant(names[c], result_.constants[c]);
    for (std::size_t c = 0; c < names.size(); ++c) {
      if (std::count(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(c), names[c]) == 0) continue;
      diagnostics_.error(k_option, names[c], "stands twice in --constants");
    }
  }

  void check_constant(const std::string& name, const CalibratedConstant& constant) {
    const Constant& before = constant.before;
    if (!known_names_.contains(name)) {
      if (rows_.empty()) return;
      const std::vector<std::string> names(known_names_.begin(), known_names_.end());
      diagnostics_.error(k_option, name, "unknown constant", "", nearest(name, names));
    } else if (constant.rows == 0) {
      diagnostics_.error(k_option, name, "no row reads this constant: measurements cannot tell its value");
    } else if (before.dimension == "text") {
      diagnostics_.error(k_option, name, fmt::format("\"{}\" is a text and cannot be fitted", before.text));
    } else if (before.whole) {
      diagnostics_.error(k_option, name, fmt::format("{} is a whole number and cannot be fitted", before.text),
                         "a constant that may take any value");
    } else if (!(before.base_value > 0)) {
      diagnostics_.error(k_option, name, fmt::format("{} has no size to vary", before.text),
                         "a start above 0, from an overlay or --set");
    } else if (const auto other = differing_.find(name); other != differing_.end()) {
      diagnostics_.error(k_option, name,
                         fmt::format("is {} for some rows and {} for others", before.text, other->second),
                         "rows of machines and software that share it");
    }
  }

  void keep_rows_that_read() {
    for (const FittedRow& row : rows_) {
      if (std::ranges::count(row.reads, true) > 0) continue;
      result_.skipped.emplace_back(row.measurement->id, "reads none of the constants");
    }
    std::erase_if(rows_, [](const FittedRow& row) { return std::ranges::count(row.reads, true) == 0; });
  }

  // Empty: the run is not legal with these constants (logarithms of their change).
  std::optional<double> prediction(FittedRow& row, const std::vector<double>& parameters) {
    std::vector<double> own;
    Experiment experiment = row.measurement->experiment;
    for (std::size_t c = 0; c < parameters.size(); ++c) {
      if (!row.reads[c]) continue;
      own.push_back(parameters[c]);
      const Constant& before = result_.constants[c].before;
      if (parameters[c] != 0) experiment.varied.push_back({before.name, before.base_value * std::exp(parameters[c])});
    }
    if (const auto known = row.known.find(own); known != row.known.end()) return known->second;
    const VariedRun run = runs_.run(experiment);
    if (!run.report) return std::nullopt;
    const std::optional<double> value = measured_value(*run.report, row.measurement->quantity);
    if (!value || !(*value > 0)) return std::nullopt;
    row.known.emplace(std::move(own), *value);
    return value;
  }

  // Of the constants that are searched for, in their order.
  LeastSquaresFit fit(const std::vector<FittedRow*>& rows) {
    LeastSquaresProblem problem;
    problem.parameters = searched_.size();
    problem.residuals = rows.size();
    problem.limit = k_farthest;
    problem.evaluate = [&](const std::vector<double>& parameters) -> std::optional<std::vector<double>> {
      std::vector<double> residuals;
      for (FittedRow* row : rows) {
        const std::optional<double> predicted = prediction(*row, of_all(parameters));
        if (!predicted) return std::nullopt;
        residuals.push_back(std::log(*predicted / row->measurement->measured));
      }
      return residuals;
    };
    return fit_least_squares(problem, k_unknown_from);
  }

  std::vector<double> of_all(const std::vector<double>& searched) const {
    std::vector<double> parameters(result_.constants.size(), 0);
    for (std::size_t s = 0; s < searched.size(); ++s) parameters[searched_[s]] = searched[s];
    return parameters;
  }

  // The constant that a direction is about; empty: about several together.
  static std::optional<std::size_t> alone(const UnknownDirection& direction) {
    constexpr double k_no_part = 0.3;
    std::optional<std::size_t> found;
    for (std::size_t s = 0; s < direction.parts.size(); ++s) {
      if (std::abs(direction.parts[s]) < k_no_part) continue;
      if (found) return std::nullopt;
      found = s;
    }
    return found;
  }

  // Keeps the first constant that the rows cannot tell by itself; false: there is none.
  bool keep_one(const LeastSquaresFit& fitted) {
    for (const UnknownDirection& direction : fitted.unknown) {
      const std::optional<std::size_t> untold = alone(direction);
      if (!untold) continue;
      const std::size_t c = searched_[*untold];
      result_.unknown.push_back(sentence(direction));
      result_.constants[c].kept = true;
      searched_.erase(searched_.begin() + static_cast<std::ptrdiff_t>(*untold));
      return true;
    }
    return false;
  }

  std::vector<FittedRow*> rows_if(const std::vector<bool>& taken) {
    std::vector<FittedRow*> rows;
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      if (taken[r]) rows.push_back(&rows_[r]);
    }
    return rows;
  }

  void fit_all() {
    for (std::size_t c = 0; c < result_.constants.size(); ++c) searched_.push_back(c);
    const std::vector<FittedRow*> rows = rows_if(std::vector<bool>(rows_.size(), true));
    LeastSquaresFit fitted = fit(rows);
    while (keep_one(fitted) && !searched_.empty()) fitted = fit(rows);
    if (searched_.empty()) {
      fitted = {};
      fitted.converged = true;
    }
    take(fitted);
    const std::vector<double> unchanged(result_.constants.size(), 0);
    const std::vector<double> parameters = of_all(fitted.parameters);
    for (FittedRow& row : rows_) {
      const Measurement& measurement = *row.measurement;
      result_.rows.push_back({measurement.id, measurement.series, measurement.quantity, measurement.measured,
                              *prediction(row, unchanged), *prediction(row, parameters), std::nullopt});
    }
  }

  void take(const LeastSquaresFit& fitted) {
    constexpr double k_near = 0.95;
    const std::size_t count = result_.constants.size();
    result_.correlations.assign(count, std::vector<double>(count, 0));
    for (CalibratedConstant& constant : result_.constants) constant.fitted = constant.before.base_value;
    for (std::size_t s = 0; s < searched_.size(); ++s) {
      CalibratedConstant& constant = result_.constants[searched_[s]];
      constant.fitted *= std::exp(fitted.parameters[s]);
      constant.standard_error = fitted.standard_errors[s];
      constant.at_bound = std::abs(fitted.parameters[s]) > k_near * k_farthest;
      for (std::size_t t = 0; t < searched_.size(); ++t) {
        result_.correlations[searched_[s]][searched_[t]] = fitted.correlations[s][t];
      }
    }
    for (const UnknownDirection& direction : fitted.unknown) result_.unknown.push_back(sentence(direction));
    result_.converged = fitted.converged;
    result_.evaluations = fitted.evaluations;
  }

  // "system.a +10 % with system.b -9 % changes no prediction by more than 0.01 %".
  std::string sentence(const UnknownDirection& direction) const {
    const double unit = std::log(1.1);
    constexpr double k_part = 0.1;  // smaller ones are left out
    std::string text;
    for (std::size_t c = 0; c < direction.parts.size(); ++c) {
      if (std::abs(direction.parts[c]) < k_part) continue;
      text += fmt::format("{}{} {:+.0f} %", text.empty() ? "" : " with ", result_.constants[searched_[c]].before.name,
                          100 * std::expm1(unit * direction.parts[c]));
    }
    const double effect = 100 * std::expm1(unit * direction.largest_effect);
    if (effect < 1e-4) return text + " changes no prediction";
    return text + fmt::format(" changes no prediction by more than {:.2g} %, less than the rows scatter", effect);
  }

  // What is left out together: a series, else a row; several where there would be more than k_most_folds.
  std::vector<std::vector<bool>> folds() {
    std::vector<std::string> groups;
    const auto group_of = [](const FittedRow& row) {
      return row.measurement->series.empty() ? row.measurement->id : row.measurement->series;
    };
    for (const FittedRow& row : rows_) {
      if (std::ranges::find(groups, group_of(row)) == groups.end()) groups.push_back(group_of(row));
    }
    const bool one_series = groups.size() < 2;
    const std::size_t units = one_series ? rows_.size() : groups.size();
    const std::size_t count = std::min(units, k_most_folds);
    result_.left_out = fmt::format("{} {}, left out in {} turns", units, one_series ? "rows" : "series", count);
    std::vector<std::vector<bool>> left(count, std::vector<bool>(rows_.size(), false));
    for (std::size_t r = 0; r < rows_.size(); ++r) {
      const auto group = std::ranges::find(groups, group_of(rows_[r])) - groups.begin();
      left[(one_series ? r : static_cast<std::size_t>(group)) % count][r] = true;
    }
    return left;
  }

  void leave_out() {
    if (searched_.empty() || rows_.size() <= searched_.size()) {
      result_.left_out = "no row to spare";
      return;
    }
    for (const std::vector<bool>& left : folds()) {
      std::vector<bool> kept = left;
      kept.flip();
      const std::vector<FittedRow*> rows = rows_if(kept);
      if (rows.size() < searched_.size()) continue;
      const std::vector<double> parameters = of_all(fit(rows).parameters);
      for (std::size_t r = 0; r < rows_.size(); ++r) {
        if (left[r]) result_.rows[r].left_out = prediction(rows_[r], parameters);
      }
    }
  }

  void sum_up() {
    double before = 0;
    double after = 0;
    double left_out = 0;
    std::size_t tried = 0;
    for (const CalibratedRow& row : result_.rows) {
      before += std::abs(row.before / row.measured - 1);
      after += std::abs(row.after / row.measured - 1);
      if (!row.left_out) continue;
      left_out += std::abs(*row.left_out / row.measured - 1);
      ++tried;
    }
    const auto rows = static_cast<double>(result_.rows.size());
    result_.error_before_pct = 100 * before / rows;
    result_.error_after_pct = 100 * after / rows;
    if (tried > 0) result_.error_left_out_pct = 100 * left_out / static_cast<double>(tried);
  }

  VariedRuns runs_;
  Diagnostics& diagnostics_;
  Calibration result_;
  std::vector<FittedRow> rows_;
  std::vector<std::size_t> searched_;             // indices of the constants that are not kept
  std::set<std::string> known_names_;             // of constants of any row
  std::map<std::string, std::string> differing_;  // a second value of a constant
};

}  // namespace

std::optional<Calibration> calibrate(const Measurements& measurements, const std::vector<std::string>& constants,
                                     const CalibrationOptions& options, const Catalog& catalog,
                                     const ConfigFiles& configs, Diagnostics& diagnostics) {
  return Calibrator(catalog, configs, diagnostics).calibrate(measurements, constants, options);
}

}  // namespace podsim
