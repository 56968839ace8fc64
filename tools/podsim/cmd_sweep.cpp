// podsim sweep run: a grid of experiments as one table.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>

#include "models/catalog.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/study/evaluate.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/sweep_axes.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

// Done, total, rate and time left, a few times a second, when standard error is a terminal.
class Progress {
 public:
  Progress(std::size_t total, bool quiet) : total_(total), shown_(!quiet && isatty(STDERR_FILENO) != 0) {}
  void step() {
    ++done_;
    const auto now = Clock::now();
    if (!shown_ || (now - last_ < std::chrono::milliseconds(250) && done_ < total_)) return;
    last_ = now;
    const double elapsed = std::chrono::duration<double>(now - begin_).count();
    const double rate = static_cast<double>(done_) / std::max(elapsed, 1e-9);
    std::fprintf(stderr, "\r%zu/%zu points, %.0f/s, %.0f s left ", done_, total_, rate,
                 static_cast<double>(total_ - done_) / rate);
    if (done_ == total_) std::fputc('\n', stderr);
  }

 private:
  using Clock = std::chrono::steady_clock;
  std::size_t total_;
  std::size_t done_ = 0;
  bool shown_;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
};

std::vector<std::string> header(const std::vector<SweepAxis>& axes) {
  std::vector<std::string> cells;
  const std::vector<std::string> columns = csv_header();
  for (const SweepAxis& axis : axes) {
    const bool taken = std::find(columns.begin(), columns.end(), axis.key) != columns.end();
    cells.push_back(taken ? "axis." + axis.key : axis.key);
  }
  cells.insert(cells.end(), {"status", "reason"});
  cells.insert(cells.end(), columns.begin(), columns.end());
  return cells;
}

// An axis that no document knows is a slip of the pen, not a grid of invalid points. Told before anything is simulated.
void refuse_unknown_axes(const std::vector<SweepAxis>& axes, const Experiment& base, const Catalog& catalog,
                         const ConfigFiles& configs) {
  Experiment first = base;
  Diagnostics unusable;
  Diagnostics unknown;
  for (const SweepAxis& axis : axes) apply_override(first, axis.assignments.front(), unusable);
  if (!unusable.has_errors()) {
    const PlanResult made = make_plan(first, catalog, configs);
    for (const Diagnostic& problem : made.diagnostics.all()) {
      const bool of_axis = std::any_of(axes.begin(), axes.end(), [&](const SweepAxis& axis) {
        return axis.key == problem.key || axis.key.starts_with(problem.key + ".");
      });
      if (!of_axis || !problem.problem.starts_with("unknown ")) continue;
      unknown.error(problem.place, problem.key, problem.problem, problem.expected, problem.suggestion);
    }
  }
  if (unknown.has_errors()) throw ConfigError(unknown);
}

std::string first_error(const Diagnostics& diagnostics) {
  for (const Diagnostic& diagnostic : diagnostics.all()) {
    if (diagnostic.severity == Severity::error) return to_text(diagnostic);
  }
  return "";
}

std::vector<std::string> invalid(const std::string& reason) {
  std::vector<std::string> cells{"invalid", reason};
  cells.insert(cells.end(), csv_header().size(), "");
  return cells;
}

// What points leave to those after them.
struct Shared {
  PlanCache plans;
  RunResult result;
  std::vector<std::vector<std::optional<Override>>> overrides;  // by axis and value; empty where it is malformed
};

std::vector<std::vector<std::optional<Override>>> read_once(const std::vector<SweepAxis>& axes) {
  std::vector<std::vector<std::optional<Override>>> overrides;
  for (const SweepAxis& axis : axes) {
    std::vector<std::optional<Override>>& values = overrides.emplace_back();
    Diagnostics told_at_each_point;
    for (const std::string& text : axis.assignments) values.push_back(parse_override(text, told_at_each_point));
  }
  return overrides;
}

std::vector<std::string> outcome_of(const Plan& plan, Engine& engine, Shared& shared) {
  std::vector<std::string> cells;
  const Report report = evaluate_point(plan, engine, shared.result);
  if (report.verdict.fits()) {
    cells = {"ok", ""};
  } else {
    const BrokenLimit& broken = report.verdict.broken.front();
    cells = {"does_not_fit", fmt::format("{} on {}", broken.limit, broken.device)};
  }
  const std::vector<std::string> row = csv_row(report);
  cells.insert(cells.end(), row.begin(), row.end());
  return cells;
}

// Status, reason and the report's cells of one point.
std::vector<std::string> outcome(const Experiment& experiment, const Catalog& catalog, const ConfigFiles& configs,
                                 Engine& engine, Shared& shared) {
  const PlanResult made = make_plan(experiment, catalog, configs, shared.plans);
  if (!made.plan) return invalid(first_error(made.diagnostics));
  try {
    return outcome_of(*made.plan, engine, shared);
  } catch (const std::range_error& error) {
    return invalid(beyond_simulated_time(error));
  }
}

// Rows go to standard output as they come, or into a file when all are there.
class RowOutput {
 public:
  explicit RowOutput(const Arguments& arguments) : file_(arguments.value("out").value_or("")) {
    if (!file_.empty()) refuse_overwrite(file_, arguments.has("force"));
  }
  void add(const std::vector<std::string>& cells) {
    if (file_.empty())
      print(csv_line(cells));
    else
      text_ += csv_line(cells);
  }
  void finish() const {
    if (!file_.empty()) write_file(file_, text_);
  }

 private:
  std::string file_;
  std::string text_;
};

}  // namespace

const VerbSpec& sweep_spec() {
  static const VerbSpec k_spec{
      "sweep",
      "sweep run [EXPERIMENT] --axis KEY=V1,V2,… [options]",
      "Simulate a grid over any keys; prints CSV, a row per point.",
      "Points that are invalid or do not fit are rows with a status and a reason.",
      joined({{"axis", "KEY=V1,V2,…", "values of a key; more axes span a grid", true}},
             joined(experiment_options(), {{"engine", "NAME", "native (fast, default) or simgrid (reference)"},
                                           {"out", "FILE", "write the CSV there and not to standard output"},
                                           {"force", "", "let --out replace a file"},
                                           {"quiet", "", "no progress"}})),
      {"podsim sweep run gpt2-caraml-pod4 --axis ipu.gradient_accumulation_steps=16,64,256",
       "podsim sweep run experiment.toml --axis system=pod16,bow-pod16 --axis workload.micro_batch_size=1,2,4"},
      2};
  return k_spec;
}

ExitCode cmd_sweep(const Arguments& arguments) {
  if (arguments.words().empty() || arguments.words().front() != "run") {
    const std::string word = arguments.words().empty() ? "" : arguments.words().front();
    throw UsageError(fmt::format("unknown kind of sweep \"{}\"; expected run", word));
  }
  const std::string engine_name = choice_option(arguments, "engine", {"native", "simgrid"});
  const ConfigFiles configs = configs_from(arguments);
  const Catalog catalog = make_catalog();
  Diagnostics diagnostics;
  std::vector<SweepAxis> axes = parse_axes(arguments.values("axis"), diagnostics);
  const bool over_systems = std::any_of(axes.begin(), axes.end(), [](const SweepAxis& axis) {
    return axis.key == "system" || axis.key == "system.name";
  });
  const Experiment base =
      experiment_from(arguments, arguments.words().size() > 1 ? arguments.words()[1] : "", over_systems);
  if (axes.empty()) axes = document_axes(base.document, diagnostics);
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  if (axes.empty()) throw UsageError("no axis: give --axis KEY=V1,V2,… or a [sweep.axes] table");
  refuse_unknown_axes(axes, base, catalog, configs);
  RowOutput output(arguments);
  Engine engine = make_engine(engine_name);
  Shared shared;
  shared.overrides = read_once(axes);
  Progress progress(grid_size(axes), arguments.has("quiet"));
  output.add(header(axes));
  for (std::size_t index = 0; index < grid_size(axes); ++index) {
    Experiment experiment = base;
    Diagnostics unusable;
    std::vector<std::string> cells;
    const std::vector<std::size_t> point = grid_point(axes, index);
    for (std::size_t a = 0; a < axes.size(); ++a) {
      const std::optional<Override>& read = shared.overrides[a][point[a]];
      read ? apply_override(experiment, *read, unusable)
           : apply_override(experiment, axes[a].assignments[point[a]], unusable);
      cells.push_back(axes[a].cells[point[a]]);
    }
    const std::vector<std::string> rest =
        unusable.has_errors() ? invalid(first_error(unusable)) : outcome(experiment, catalog, configs, engine, shared);
    cells.insert(cells.end(), rest.begin(), rest.end());
    output.add(cells);
    progress.step();
  }
  output.finish();
  return ExitCode::done;
}

}  // namespace podsim
