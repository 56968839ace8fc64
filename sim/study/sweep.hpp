#pragma once
// Runs the points of a sweep: each is planned, judged and simulated; what is invalid or does not fit is a row too.

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/report/report.hpp"
#include "sim/store/sweep_store.hpp"
#include "sim/study/evaluate.hpp"
#include "sim/study/point_key.hpp"
#include "sim/study/sweep_definition.hpp"

namespace podsim {

struct SweepContext {
  const SweepDefinition& sweep;
  const Catalog& catalog;
  const ConfigFiles& configs;
  std::string engine = "native";
  std::string tool;  // version and commit of the program, for the rows
  // What a report of the point holds beside its simulation, for the points that `completes` picks; may throw
  // ConfigError.
  std::function<bool(const Experiment&)> completes = {};
  std::function<void(const Experiment&, Plan&, Report&)> complete = {};
};

// Inputs, status ("ok", "does_not_fit", "invalid", "internal_error") and reason, the first broken limit with need and
// have, results, program, hash of the sweep's inputs, `point` (from 0) and `key` (of the inputs alone: equal in two
// sweeps over the same values).
std::vector<Column> sweep_columns(const SweepSpace& space);
// Names of the leading input columns: keys, "axis.KEY" where a result has that name.
std::vector<std::string> sweep_inputs(const SweepSpace& space);

// One thread's way from a point to its row; plans of earlier points and the engine's arena serve the later ones.
class PointEvaluator {
 public:
  explicit PointEvaluator(const SweepContext& context);
  ~PointEvaluator();
  // Empty: a condition leaves the point out.
  std::optional<PointRow> row(std::int64_t point);
  // Length of the simulated program run in picoseconds; empty when the point cannot be simulated.
  std::optional<std::int64_t> simulated_ps(std::int64_t point);

 private:
  struct Outcome;
  Outcome outcome(const std::vector<Value>& values);
  Outcome simulated(Experiment experiment);

  const SweepContext& context_;
  Engine engine_;
  std::unique_ptr<PlanCache> cache_;
  PointStorage storage_;
  PointKey key_;
};

// Takes rows in any order.
class RowSink {
 public:
  virtual ~RowSink() = default;
  virtual void add(std::vector<PointRow> rows) = 0;
};

struct Shard {
  std::int64_t number = 1;  // from 1
  std::int64_t of = 1;
  bool has(std::int64_t point) const { return point % of == number - 1; }
  std::int64_t size(std::int64_t points) const { return points / of + (points % of >= number ? 1 : 0); }
};

struct SweepCounts {
  std::int64_t visited = 0;  // of the shard, those done before and those left out counted
  std::int64_t rows = 0;     // written now
  std::int64_t left_out = 0;
  std::int64_t internal_errors = 0;
  bool interrupted = false;
};

struct SweepOptions {
  Shard shard;
  int jobs = 1;                                           // threads; 1: all in the calling thread
  std::vector<std::int64_t> done;                         // ascending; not run again
  std::function<bool()> stop = [] { return false; };      // asked from any thread
  std::function<void(const SweepCounts&)> progress = {};  // called from the calling thread
};

SweepCounts run_sweep(const SweepContext& context, RowSink& sink, const SweepOptions& options);

// Which of the points that were simulated the reference engine runs again: one in a hundred, at least three, drawn by
// `seed`. Ascending.
std::vector<std::int64_t> audit_sample(const std::vector<std::int64_t>& points, std::uint64_t seed);

struct AuditVerdict {
  double largest_difference = 0;  // relative
  std::optional<AuditRow> worst;  // empty: nothing was compared
  std::int64_t beyond = 0;        // points further apart than max(1e-9 · T, 16 ps)
};
AuditVerdict judge_audit(const std::vector<AuditRow>& rows);

}  // namespace podsim
