#pragma once
// The experiment that a command line describes: a file, flags or both; and the plan made of it.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/observe/timeline.hpp"
#include "sim/plan/experiment.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/page.hpp"
#include "sim/report/report.hpp"
#include "tools/podsim/exit_code.hpp"
#include "tools/podsim/options.hpp"

namespace podsim {

// --system, --model, …, --set, --overlay, --configs: what run, check and sweep share.
std::vector<OptionSpec> experiment_options();

// --format with all the formats of a report.
const OptionSpec& report_format_option();

// `first` and then `second`.
std::vector<OptionSpec> joined(std::vector<OptionSpec> first, const std::vector<OptionSpec>& second);

// Every file that the command line names as input.
std::vector<std::string> input_files(const Arguments& arguments);

ConfigFiles configs_from(const Arguments& arguments);

// `file`: the experiment's path; empty: flags alone. Throws ConfigError with every problem, UsageError when there is
// neither a file nor --system.
Experiment experiment_from(const Arguments& arguments, const std::string& file, bool system_follows = false);

// As loss_scaling.seed.
void set_seed(Experiment& experiment, std::int64_t seed);

// Throws ConfigError with every problem.
Plan plan_from(const Experiment& experiment, const Catalog& catalog, const ConfigFiles& configs);

// What the loss scale does to the plan's training, if it has a loss whose gradients are modelled; what the user should
// know joins the plan's warnings. Throws ConfigError about the section.
std::optional<LossScaleOutlook> loss_scale_of(Plan& plan, const Experiment& experiment, const Catalog& catalog,
                                              const ConfigFiles& configs);

// How names of files end: "md" of "markdown".
std::string report_extension(const std::string& format);

// The report with the program's version, in one of its formats; `timeline` may be null.
std::string formatted(Report report, const std::string& format, const Timeline* timeline = nullptr);

// The page with the program's version and the hash of its inputs, in "html" or "markdown".
std::string formatted(Page page, const std::string& inputs_sha256, const std::string& format);

// Prints the report and, with --out, writes report.<format> and plan.toml there. 3 when it does not fit.
class ReportOutput {
 public:
  // Throws UsageError when files would be overwritten, before anything is simulated.
  explicit ReportOutput(const Arguments& arguments);
  // Whether the format shows a timeline.
  bool has_timeline() const { return format_ == "html"; }
  ExitCode show(const Plan& plan, const Report& report, const Timeline* timeline = nullptr) const;

 private:
  std::string format_;
  std::string folder_;  // empty: none
  std::string view_;    // a table that is shown alone; empty: the report
  bool warn_ = true;
};

}  // namespace podsim
