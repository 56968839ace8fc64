#pragma once
// Two results of the same kind, metric by metric: what is better, what is worse, and why.

#include <optional>
#include <string>
#include <vector>

#include "sim/config/value.hpp"
#include "sim/store/sweep_store.hpp"
#include "sim/study/change_attribution.hpp"
#include "sim/units/quantity.hpp"

namespace podsim {

enum class ChangeVerdict {
  same,     // within the tolerance
  better,   // beyond it, to the good
  worse,    // beyond it, to the bad; or gone
  changed,  // beyond it, where neither direction is good by itself
  missing,  // in the second
  added,    // in the second
};

std::string_view name(ChangeVerdict verdict);  // "ok", "better", "WORSE", "changed", "missing in B", "missing in A"

struct MetricChange {
  std::string name;              // "throughput.samples_per_s", "devices[d0].utilisation_pct"
  std::string before, after;     // as printed; empty: missing there
  std::optional<double> change;  // (after - before) / |before|; infinite when only `before` is 0
  bool headline = true;          // false: of one of many devices or links
  ChangeVerdict verdict = ChangeVerdict::same;
  bool judged = false;    // one direction is good
  std::string unit = {};  // of numbers: "s", "byte", "%"; empty: none or another
};

// A part of a duration that both have.
struct PartChange {
  std::string name;
  Duration before, after;
};

// What a value is in both, point by point or case by case.
struct PairedValues {
  struct Pair {
    std::string name;
    double before = 0, after = 0;
  };
  std::string what;
  std::string unit;
  std::vector<Pair> pairs;  // in the order of their names' places in the first
};

struct Comparison {
  std::string kind;                   // "runs", "sweeps", "validations"
  std::vector<MetricChange> metrics;  // in the order of the first, those of the second alone behind
  std::vector<std::string> reasons;   // whole sentences; may be empty
  std::string coverage = {};          // of points: how many both have, how many one alone; empty: nothing has points
  std::string before_is = {}, after_is = {};  // which experiment, program and inputs
  std::vector<PartChange> parts = {};         // of the step of the busiest device
  bool parts_of_sample = false;               // of the time per sample instead, since the batches differ
  std::vector<PairedValues> pairs = {};
  std::vector<InputEffect> effects = {};  // the largest first
  std::vector<std::string> beyond = {};   // sentences: what the effects do not explain

  bool regressed() const;  // something is worse
  bool differs() const;    // something is not the same
  std::size_t count(ChangeVerdict verdict) const;
  std::vector<std::string> sentences() const;  // reasons, effects and what is beyond them
};

// JSON reports of two runs. Rates, latencies, the time to train and the energy of a sample are judged, the time of a
// step when both have the same global batch; the verdict too. Left out is what tells about the tool, the inputs, the
// engine and the evidence instead of the machine. Reasons: parts of the step that moved, inputs and constants that
// differ.
Comparison compare_runs(const Value& before, const Value& after, double tolerance);

// JSON of two validations, by the id of their cases. The tolerance counts in percentage points of an error here: an
// error that grows by more, a case that no longer runs and a memory point that is no longer judged right are worse.
Comparison compare_validations(const Value& before, const Value& after, double tolerance);

// Two sweeps, point by point with equal inputs: for each judged metric the geometric mean over points that both have,
// the worst points singly, and points that no longer work.
Comparison compare_sweeps(SweepStore& before, SweepStore& after, double tolerance);

// Parts of a comparison.
MetricChange compare_numbers(std::string name, double before, double after, double tolerance);
// "NAME, podsim 1.2 (abc), inputs 0123456789ab…", without what is empty.
std::string origin_of(const std::string& name, const std::string& tool, const std::string& inputs_sha256);
// "a.b" and the value of each leaf of a table, lists being leaves.
std::vector<std::pair<std::string, Value>> leaves_of(const Value& table);
// What differs between two tables of inputs: "a.b: 3 -> 4".
std::vector<std::string> differences_of(const Value& before, const Value& after);

// A table of what is judged or differs, the reasons and a summary. `all`: every metric; else those of devices and links
// only when there are at most twenty.
std::string to_text(const Comparison& comparison, bool all);
std::string to_json(const Comparison& comparison);
// A test case per metric of the first; what is worse failed, what has no counterpart was skipped.
std::string to_junit(const Comparison& comparison);

// "5%" or "0.05" as a fraction; empty when it is neither or negative.
std::optional<double> parse_tolerance(const std::string& text);

}  // namespace podsim
