#include "sim/study/sweep.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cmath>
#include <condition_variable>
#include <exception>
#include <mutex>
#include <thread>
#include <utility>

#include "sim/core/check.hpp"
#include "sim/core/random.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/report/result_columns.hpp"
#include "sim/study/evaluate.hpp"

namespace podsim {
namespace {

const std::vector<Column>& outcome_columns() {
  static const std::vector<Column> k_columns{{"status", ""},        {"reason", ""},      {"broken_limit", ""},
                                             {"broken_device", ""}, {"broken_need", ""}, {"broken_have", ""},
                                             {"broken_unit", ""}};
  return k_columns;
}

const std::vector<Column>& identity_columns() {
  static const std::vector<Column> k_columns{{"tool", ""}, {"inputs_sha256", ""}, {"point", ""}, {"key", ""}};
  return k_columns;
}

std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::error) return to_text(diagnostic);
  }
  return "";
}

// Rows on their way from the threads that make them to the one that writes them.
class RowQueue {
 public:
  void push(PointRow row) {
    std::unique_lock lock(mutex_);
    room_.wait(lock, [&] { return rows_.size() < k_most || failed_; });
    rows_.push_back(std::move(row));
    there_.notify_one();
  }
  // What there is, after waiting a moment for the first.
  std::vector<PointRow> take() {
    std::unique_lock lock(mutex_);
    there_.wait_for(lock, k_patience, [&] { return !rows_.empty() || workers_ == 0; });
    room_.notify_all();
    return std::exchange(rows_, {});
  }
  void begin_worker() {
    const std::lock_guard lock(mutex_);
    ++workers_;
  }
  void end_worker(std::exception_ptr error) {
    const std::lock_guard lock(mutex_);
    --workers_;
    if (error && !error_) error_ = error;
    failed_ = failed_ || error;
    there_.notify_one();
    room_.notify_all();
  }
  // Nobody takes rows any more.
  void abandon() {
    const std::lock_guard lock(mutex_);
    failed_ = true;
    room_.notify_all();
  }
  bool finished() {
    const std::lock_guard lock(mutex_);
    return workers_ == 0 && rows_.empty();
  }
  void rethrow() {
    if (error_) std::rethrow_exception(error_);
  }

 private:
  static constexpr std::size_t k_most = 4096;
  static constexpr std::chrono::milliseconds k_patience{100};
  std::mutex mutex_;
  std::condition_variable there_, room_;
  std::vector<PointRow> rows_;
  int workers_ = 0;
  bool failed_ = false;
  std::exception_ptr error_;
};

// The shard's points in turn, for all threads; counts what happened to them.
class Course {
 public:
  Course(const SweepContext& context, const SweepOptions& options)
      : context_(context), options_(options), total_(options.shard.size(context.sweep.space.size())) {}

  // The next point that has to be run; empty: none, or it is time to stop.
  std::optional<std::int64_t> next() {
    while (!broken_) {
      if (options_.stop()) {
        interrupted_ = true;
        return std::nullopt;
      }
      const std::int64_t turn = turn_.fetch_add(1);
      if (turn >= total_) return std::nullopt;
      const std::int64_t point = options_.shard.number - 1 + turn * options_.shard.of;
      if (!std::binary_search(options_.done.begin(), options_.done.end(), point)) return point;
      ++visited_;
    }
    return std::nullopt;
  }
  std::optional<PointRow> run(PointEvaluator& evaluator, std::int64_t point) {
    std::optional<PointRow> row = evaluator.row(point);
    if (!row) ++left_out_;
    ++visited_;
    return row;
  }
  void break_off() { broken_ = true; }
  SweepCounts counts() const { return {visited_, 0, left_out_, 0, interrupted_}; }

 private:
  const SweepContext& context_;
  const SweepOptions& options_;
  std::int64_t total_;
  std::atomic<std::int64_t> turn_ = 0, visited_ = 0, left_out_ = 0;
  std::atomic<bool> interrupted_ = false, broken_ = false;
};

class Runner {
 public:
  Runner(const SweepContext& context, RowSink& sink, const SweepOptions& options)
      : context_(context), sink_(sink), options_(options), course_(context, options) {
    const std::vector<Column> columns = sweep_columns(context.sweep.space);
    const auto status =
        std::find_if(columns.begin(), columns.end(), [](const Column& c) { return c.name == "status"; });
    status_ = static_cast<std::size_t>(status - columns.begin());
  }

  SweepCounts run() {
    if (options_.jobs <= 1)
      alone();
    else
      with_threads();
    SweepCounts counts = course_.counts();
    counts.rows = rows_;
    counts.internal_errors = internal_errors_;
    return counts;
  }

 private:
  void alone() {
    PointEvaluator evaluator(context_);
    while (const std::optional<std::int64_t> point = course_.next()) {
      std::vector<PointRow> rows;
      if (auto row = course_.run(evaluator, *point)) rows.push_back(std::move(*row));
      write(std::move(rows));
    }
  }

  void with_threads() {
    RowQueue queue;
    std::vector<std::thread> threads;
    for (int t = 0; t < options_.jobs; ++t) {
      queue.begin_worker();
      threads.emplace_back([&] { work(queue); });
    }
    try {
      while (!queue.finished()) write(queue.take());
    } catch (...) {
      course_.break_off();
      queue.abandon();
      for (std::thread& thread : threads) thread.join();
      throw;
    }
    for (std::thread& thread : threads) thread.join();
    queue.rethrow();
  }

  void work(RowQueue& queue) {
    std::exception_ptr error;
    try {
      PointEvaluator evaluator(context_);
      while (const std::optional<std::int64_t> point = course_.next()) {
        if (auto row = course_.run(evaluator, *point)) queue.push(std::move(*row));
      }
    } catch (...) {
      error = std::current_exception();
      course_.break_off();
    }
    queue.end_worker(error);
  }

  void write(std::vector<PointRow> rows) {
    rows_ += static_cast<std::int64_t>(rows.size());
    for (const PointRow& row : rows) {
      if (row.cells[status_] == Cell("internal_error")) ++internal_errors_;
    }
    sink_.add(std::move(rows));
    if (!options_.progress) return;
    SweepCounts counts = course_.counts();
    counts.rows = rows_;
    options_.progress(counts);
  }

  const SweepContext& context_;
  RowSink& sink_;
  const SweepOptions& options_;
  Course course_;
  std::size_t status_ = 0;
  std::int64_t rows_ = 0;
  std::int64_t internal_errors_ = 0;
};

}  // namespace

struct PointEvaluator::Outcome {
  std::string status;
  std::string reason;
  std::optional<BrokenLimit> broken;
  std::optional<Report> report;
};

std::vector<std::string> sweep_inputs(const SweepSpace& space) {
  std::vector<std::string> names;
  for (const std::string& key : space.keys()) {
    bool taken = false;
    for (const auto* columns : {&outcome_columns(), &result_columns(), &identity_columns()}) {
      taken = taken || std::ranges::any_of(*columns, [&](const Column& column) { return column.name == key; });
    }
    names.push_back(taken ? "axis." + key : key);
  }
  return names;
}

std::vector<Column> sweep_columns(const SweepSpace& space) {
  std::vector<Column> columns;
  for (std::string& name : sweep_inputs(space)) columns.push_back({std::move(name), ""});
  for (const auto* more : {&outcome_columns(), &result_columns(), &identity_columns()}) {
    columns.insert(columns.end(), more->begin(), more->end());
  }
  return columns;
}

PointEvaluator::PointEvaluator(const SweepContext& context)
    : context_(context),
      engine_(make_engine(context.engine)),
      cache_(std::make_unique<PlanCache>()),
      key_(context.sweep.space.keys()) {}

PointEvaluator::~PointEvaluator() = default;

PointEvaluator::Outcome PointEvaluator::simulated(Experiment experiment) {
  const bool completed = context_.completes && context_.completes(experiment);
  PlanResult made = completed ? make_plan(experiment, context_.catalog, context_.configs, *cache_)
                              : make_plan(std::move(experiment), context_.catalog, context_.configs, *cache_);
  if (!made.plan) return {"invalid", first_error(made.diagnostics), {}, {}};
  Outcome outcome{"ok", "", {}, evaluate_point(*made.plan, engine_, storage_)};
  if (completed) context_.complete(experiment, *made.plan, *outcome.report);
  if (!outcome.report->verdict.fits()) {
    outcome.broken = outcome.report->verdict.broken.front();
    outcome.status = "does_not_fit";
    outcome.reason = fmt::format("{} on {}", outcome.broken->limit, outcome.broken->device);
  }
  return outcome;
}

PointEvaluator::Outcome PointEvaluator::outcome(const std::vector<Value>& values) {
  Experiment experiment = context_.sweep.base;
  Diagnostics unusable;
  const std::vector<std::string>& keys = context_.sweep.space.keys();
  for (std::size_t k = 0; k < keys.size(); ++k) apply_value(experiment, keys[k], values[k], unusable);
  if (unusable.has_errors()) return {"invalid", first_error(unusable), {}, {}};
  try {
    return simulated(std::move(experiment));
  } catch (const ConfigError& error) {
    return {"invalid", first_error(error.diagnostics()), {}, {}};
  } catch (const std::range_error& error) {
    return {"invalid", beyond_simulated_time(error), {}, {}};
  } catch (const InternalError& error) {
    return {"internal_error", error.what(), {}, {}};
  }
}

std::optional<PointRow> PointEvaluator::row(std::int64_t point) {
  const std::vector<Value> values = context_.sweep.space.values(point);
  if (context_.sweep.leaves_out(values)) return std::nullopt;
  Outcome result = outcome(values);
  key_.take(values);
  PointRow row{point, {}};
  std::vector<Cell>& cells = row.cells;
  cells.reserve(values.size() + outcome_columns().size() + result_columns().size() + identity_columns().size());
  key_.add_cells(cells);
  cells.emplace_back(std::move(result.status));
  cells.emplace_back(std::move(result.reason));
  if (result.broken) {
    const BrokenLimit& broken = *result.broken;
    cells.insert(cells.end(), {broken.limit, broken.device, broken.need, broken.have, broken.unit});
  } else {
    cells.insert(cells.end(), 5, Cell());
  }
  if (result.report) {
    add_result_cells(*result.report, cells);
  } else {
    cells.insert(cells.end(), result_columns().size(), Cell());
  }
  cells.emplace_back(context_.tool);
  cells.emplace_back(context_.sweep.input_sha256);
  cells.emplace_back(point);
  cells.emplace_back(key_.text());
  return row;
}

std::optional<std::int64_t> PointEvaluator::simulated_ps(std::int64_t point) {
  const Outcome result = outcome(context_.sweep.space.values(point));
  if (!result.report || !result.report->engine) return std::nullopt;
  return result.report->engine->simulated.picoseconds();
}

SweepCounts run_sweep(const SweepContext& context, RowSink& sink, const SweepOptions& options) {
  return Runner(context, sink, options).run();
}

std::vector<std::int64_t> audit_sample(const std::vector<std::int64_t>& points, std::uint64_t seed) {
  constexpr std::size_t k_share = 100;
  constexpr std::size_t k_least = 3;
  std::vector<std::pair<std::uint64_t, std::int64_t>> drawn;
  for (const std::int64_t point : points) {
    SplitMix64 number(seed ^ (static_cast<std::uint64_t>(point) * 0x9e3779b97f4a7c15));
    drawn.emplace_back(number.next(), point);
  }
  std::sort(drawn.begin(), drawn.end());
  drawn.resize(std::min(drawn.size(), std::max(k_least, (points.size() + k_share - 1) / k_share)));
  std::vector<std::int64_t> sample;
  for (const auto& [number, point] : drawn) sample.push_back(point);
  std::sort(sample.begin(), sample.end());
  return sample;
}

AuditVerdict judge_audit(const std::vector<AuditRow>& rows) {
  constexpr double k_relative = 1e-9;
  constexpr double k_absolute_ps = 16;
  AuditVerdict verdict;
  for (const AuditRow& row : rows) {
    const double difference = std::fabs(static_cast<double>(row.reference_ps - row.native_ps));
    const double time = static_cast<double>(row.native_ps);
    if (difference > std::max(k_relative * time, k_absolute_ps)) ++verdict.beyond;
    const double relative = time > 0 ? difference / time : difference;
    if (verdict.worst && relative <= verdict.largest_difference) continue;
    verdict.largest_difference = relative;
    verdict.worst = row;
  }
  return verdict;
}

}  // namespace podsim
