// podsim check: resolve and judge, without a simulation.

#include "models/catalog.hpp"
#include "sim/report/make_report.hpp"
#include "sim/study/evaluate.hpp"
#include "sim/study/evidence.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/uncertainty_input.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {

const VerbSpec& check_spec() {
  static const VerbSpec k_spec{
      "check",
      "check [EXPERIMENT] [options]",
      "Tell whether an experiment fits, without simulating it.",
      "Exit code 3 when it does not fit.",
      joined(joined(experiment_options(), {report_format_option(),
                                           {"out", "DIR", "also write the report and plan.toml there"},
                                           {"force", "", "let --out replace files"},
                                           {"quiet", "", "no warnings on standard error"}}),
             interval_options("of the interval's draws")),
      {"podsim check bert-large-squad-bow-pod16 --set ipu.replication_factor=1",
       "podsim check experiment.toml --set ipu.gradient_accumulation_steps=64 --format json"},
      1,
      "experiments"};
  return k_spec;
}

ExitCode cmd_check(const Arguments& arguments) {
  const ReportOutput output(arguments);
  const std::optional<IntervalOptions> drawn = interval_options_from(arguments, IntervalOptions().draws);
  const ConfigFiles configs = configs_from(arguments);
  const Catalog catalog = make_catalog();
  const Experiment experiment = experiment_from(arguments, arguments.words().empty() ? "" : arguments.words().front());
  VariedRuns runs(catalog, configs, false);
  Plan plan = plan_from(experiment, runs);
  const std::optional<LossScaleOutlook> loss_scale = loss_scale_of(plan, experiment, catalog, configs);
  Report report = check_plan(plan, true);
  if (loss_scale) add_loss_scale(*loss_scale, report);
  report.evidence = evidence_for(plan, catalog, configs);
  if (drawn) report.interval = interval_of(experiment, plan, Spreads(configs), runs, *drawn);
  return output.show(plan, report);
}

}  // namespace podsim
