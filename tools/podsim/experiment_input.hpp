#pragma once
// The experiment that a command line describes: a file, flags or both; and the plan made of it.

#include <stdexcept>
#include <string>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/plan/experiment.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/report.hpp"
#include "tools/podsim/exit_code.hpp"
#include "tools/podsim/options.hpp"

namespace podsim {

// --system, --model, …, --set, --overlay, --configs: what run, check and sweep share.
std::vector<OptionSpec> experiment_options();

// `first` and then `second`.
std::vector<OptionSpec> joined(std::vector<OptionSpec> first, const std::vector<OptionSpec>& second);

// Every file that the command line names as input.
std::vector<std::string> input_files(const Arguments& arguments);

ConfigFiles configs_from(const Arguments& arguments);

// `file`: the experiment's path; empty: flags alone. Throws ConfigError with every problem, UsageError when there is
// neither a file nor --system.
Experiment experiment_from(const Arguments& arguments, const std::string& file, bool system_follows = false);

// Throws ConfigError with every problem.
Plan plan_from(const Experiment& experiment, const Catalog& catalog, const ConfigFiles& configs);

// What to tell when a run's numbers are too large to be simulated.
std::string beyond_simulated_time(const std::range_error& error);

// The report with the program's version, in "text", "json" or "csv".
std::string formatted(Report report, const std::string& format);

// Prints the report and, with --out, writes report.<format> and plan.toml there. 3 when it does not fit.
class ReportOutput {
 public:
  // Throws UsageError when files would be overwritten, before anything is simulated.
  explicit ReportOutput(const Arguments& arguments);
  ExitCode show(const Plan& plan, const Report& report) const;

 private:
  std::string format_;
  std::string folder_;  // empty: none
  std::string view_;    // a table that is shown alone; empty: the report
  bool warn_ = true;
};

}  // namespace podsim
