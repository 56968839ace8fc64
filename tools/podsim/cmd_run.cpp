// podsim run: resolve, simulate, report.

#include <fmt/format.h>

#include "models/catalog.hpp"
#include "sim/observe/critical_path.hpp"
#include "sim/report/make_report.hpp"
#include "sim/report/trace.hpp"
#include "sim/study/evaluate.hpp"
#include "sim/study/evidence.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/uncertainty_input.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {

namespace {

const OptionSpec& engine_option() {
  static const OptionSpec k_option{"engine", "NAME", "the reference, or the fast one", false, {"simgrid", "native"}};
  return k_option;
}

}  // namespace

const VerbSpec& run_spec() {
  static const VerbSpec k_spec{
      "run",
      "run [EXPERIMENT] [options]",
      "Simulate an experiment and report time, fit and bottleneck.",
      "EXPERIMENT is a file, or one of `podsim list experiments`. Exit code 3 when it does not fit.",
      joined(joined(experiment_options(),
                    {engine_option(),
                     report_format_option(),
                     {"out", "DIR", "also write the report and plan.toml there"},
                     {"view", "TABLE",
                      "a table alone and whole: sections, critical-path (what the run waited for), sensitivity …"},
                     {"trace", "FILE", "write a timeline that Perfetto opens"},
                     {"force", "", "let --out and --trace replace files"},
                     {"exact", "", "simulate every iteration of every repeat"},
                     {"no-fold", "", "simulate every replica"},
                     {"merge", "", "simulate chains of local operations as one"},
                     {"quiet", "", "no warnings on standard error"},
                     {"verbose", "", "say what is done and how long it took"}}),
             interval_options("of the interval's draws; without --interval as loss_scaling.seed")),
      {"podsim run bert-large-bow-pod16 --engine native",
       "podsim run --system bow-pod16 --model config.json --ipu-config ipu_config.json --set "
       "workload.sequence_length=128"},
      1,
      "experiments"};
  return k_spec;
}

ExitCode cmd_run(const Arguments& arguments) {
  const std::string engine_name = choice_option(arguments, engine_option());
  const std::string trace_file = arguments.value("trace").value_or("");
  const std::optional<std::int64_t> seed = integer_option(arguments, "seed");
  const std::optional<IntervalOptions> drawn = interval_options_from(arguments, IntervalOptions().draws);
  const ReportOutput output(arguments);
  if (!trace_file.empty()) {
    refuse_input(trace_file, input_files(arguments));
    refuse_overwrite(trace_file, arguments.has("force"));
  }
  const ConfigFiles configs = configs_from(arguments);
  const Catalog catalog = make_catalog();
  Experiment experiment = experiment_from(arguments, arguments.words().empty() ? "" : arguments.words().front());
  if (seed && !drawn) set_seed(experiment, *seed);
  VariedRuns runs(catalog, configs, false);
  Plan plan = plan_from(experiment, runs);
  const std::optional<LossScaleOutlook> loss_scale = loss_scale_of(plan, experiment, catalog, configs);
  Engine engine = make_engine(engine_name);
  TraceObserver trace;
  CriticalPathObserver critical_path;
  std::vector<Observer*> observers;
  const bool critical = arguments.value("view") == k_critical_path_view;
  if (critical) observers.push_back(&critical_path);
  if (!trace_file.empty()) observers.push_back(&trace);
  TimelineObserver timeline;
  if (output.has_timeline()) observers.push_back(&timeline);
  const EvaluateOptions options{.exact = arguments.has("exact"),
                                .fold = !arguments.has("no-fold"),
                                .merge = arguments.has("merge"),
                                .remedies = true,
                                .details = arguments.has("view")};
  Report report = simulate_plan(plan, engine, options, observers);
  report.evidence = evidence_for(plan, catalog, configs);
  add_levers(arguments, experiment, plan, runs, report);
  if (drawn) report.interval = interval_of(experiment, plan, Spreads(configs), runs, *drawn);
  const std::vector<Table>& further = critical_path.tables();
  report.tables.insert(report.tables.end(), further.begin(), further.end());
  if (loss_scale) add_loss_scale(*loss_scale, report);
  if (!report.engine && !arguments.has("quiet")) print_error("does not fit: nothing was simulated");
  if (report.engine && !trace_file.empty()) {
    write_file(trace_file, to_trace_json(trace.trace()));
    if (trace.trace().left_out > 0 && !arguments.has("quiet")) {
      print_error(fmt::format("--trace: {} further events are left out, above the limit of {}; the trace says where",
                              trace.trace().left_out, trace.trace().limit));
    }
  }
  if (report.engine && arguments.has("verbose")) {
    print_error(fmt::format("engine {}: {} events in {:.6f} s of wall time", report.engine->name, report.engine->events,
                            report.engine->wall_s));
  }
  return output.show(plan, report, report.engine && output.has_timeline() ? &timeline.timeline() : nullptr);
}

}  // namespace podsim
