#pragma once
// From a row of a published-measurement table to experiments, or the reason why it cannot be run.

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "sim/plan/experiment.hpp"

namespace podsim {

struct Plan;

struct CaseRow {
  std::string file;
  int line = 0;
  std::map<std::string, std::string, std::less<>> cells;  // by column name; absent columns are missing
};

struct SkippedCase {
  std::string reason;
};

// One operator on its own; see operator_estimate.hpp.
struct OperatorCase {
  Experiment machine;
  std::string text;
};

// A second figure of the same run.
struct FurtherFigure {
  std::string quantity;
  double measured = 0;
};

// What was measured: whether it fits; else a value that reports have, by its name there: "sequences_per_s",
// "packs_per_s", "images_per_s", "tokens_per_s" of the throughput, "step_s" of the step, or a family's own. Of a single
// operator: "cycles" or "bytes".
inline constexpr std::string_view k_fits = "fits";

struct PublishedCase {
  std::string id;
  std::string source_id;  // the id that lists of sources name; differs from `id` in a derived case
  std::string source;     // where it was published
  std::string quantity = "sequences_per_s";
  std::optional<double> measured;     // of a value
  std::optional<bool> measured_fits;  // of k_fits
  std::string lower_bound;            // why the measured rate is only a lower bound; empty: it is none
  std::string excluded;               // why it is shown but in no figure; empty: it counts
  std::vector<FurtherFigure> further;
  std::string group;                  // of cases that are also judged together; empty: none
  std::vector<std::string> defaults;  // "column = value" for every cell that was empty or missing
  std::variant<Experiment, OperatorCase, SkippedCase> content;
};

// One property of a run that says how near it is to another.
struct CaseFeature {
  std::string name;
  std::string text;              // the value, as a word or a number
  std::optional<double> number;  // of a number: distances are powers of two
  double weight = 1;             // of a difference: text that differs counts once, a factor of two counts once
};

class CaseReader {
 public:
  virtual ~CaseReader() = default;
  // Whether a table with these columns is one of this reader's.
  virtual bool accepts(const std::vector<std::string>& columns) const = 0;
  // At least one case; a row may stand for several.
  virtual std::vector<PublishedCase> read(const CaseRow& row) const = 0;
  // Always the same names in the same order, the kind of model first; empty for plans of other families.
  virtual std::vector<CaseFeature> features(const Plan& plan) const = 0;
};

}  // namespace podsim
