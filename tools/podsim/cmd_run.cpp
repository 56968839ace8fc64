// podsim run: resolve, simulate, report.

#include <fmt/format.h>

#include "models/catalog.hpp"
#include "sim/report/trace.hpp"
#include "sim/study/evaluate.hpp"
#include "sim/study/evidence.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {

const VerbSpec& run_spec() {
  static const VerbSpec k_spec{
      "run",
      "run [EXPERIMENT] [options]",
      "Simulate an experiment and report time, fit and bottleneck.",
      "EXPERIMENT is a file, or one of `podsim list experiments`. Exit code 3 when it does not fit.",
      joined(experiment_options(), {{"engine", "NAME", "simgrid (reference, default) or native (fast)"},
                                    {"format", "NAME", "text (default), json or csv"},
                                    {"out", "DIR", "also write the report and plan.toml there"},
                                    {"view", "TABLE", "print a table of the report alone and whole: sections, …"},
                                    {"trace", "FILE", "write a timeline that Perfetto opens"},
                                    {"force", "", "let --out and --trace replace files"},
                                    {"exact", "", "simulate every iteration of every repeat"},
                                    {"no-fold", "", "simulate every replica"},
                                    {"merge", "", "simulate chains of local operations as one"},
                                    {"seed", "N", "seed of everything random (no part of a run is, so far)"},
                                    {"quiet", "", "no warnings on standard error"},
                                    {"verbose", "", "say what is done and how long it took"}}),
      {"podsim run bert-large-bow-pod16 --engine native",
       "podsim run --system bow-pod16 --model config.json --ipu-config ipu_config.json --set "
       "workload.sequence_length=128"}};
  return k_spec;
}

ExitCode cmd_run(const Arguments& arguments) {
  const std::string engine_name = choice_option(arguments, "engine", {"simgrid", "native"});
  const std::string trace_file = arguments.value("trace").value_or("");
  const bool seeded = integer_option(arguments, "seed").has_value();
  if (seeded && !arguments.has("quiet")) {
    print_error("command line: warning: --seed: has no effect: nothing in this run is random");
  }
  const ReportOutput output(arguments);
  if (!trace_file.empty()) {
    refuse_input(trace_file, input_files(arguments));
    refuse_overwrite(trace_file, arguments.has("force"));
  }
  const ConfigFiles configs = configs_from(arguments);
  const Catalog catalog = make_catalog();
  const Experiment experiment = experiment_from(arguments, arguments.words().empty() ? "" : arguments.words().front());
  const Plan plan = plan_from(experiment, catalog, configs);
  Engine engine = make_engine(engine_name);
  TraceObserver trace;
  std::vector<Observer*> observers;
  if (!trace_file.empty()) observers.push_back(&trace);
  const EvaluateOptions options{.exact = arguments.has("exact"),
                                .fold = !arguments.has("no-fold"),
                                .merge = arguments.has("merge"),
                                .remedies = true,
                                .details = arguments.has("view")};
  Report report = simulate_plan(plan, engine, options, observers);
  report.evidence = evidence_for(plan, catalog, configs);
  if (!report.engine && !arguments.has("quiet")) print_error("does not fit: nothing was simulated");
  if (report.engine && !trace_file.empty()) write_file(trace_file, to_trace_json(trace.trace()));
  if (report.engine && arguments.has("verbose")) {
    print_error(fmt::format("engine {}: {} events in {:.6f} s of wall time", report.engine->name, report.engine->events,
                            report.engine->wall_s));
  }
  return output.show(plan, report);
}

}  // namespace podsim
