#include "tools/podsim/experiment_input.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <utility>

#include "models/loss_scaling/outlook.hpp"
#include "sim/core/json_writer.hpp"
#include "sim/observe/critical_path.hpp"
#include "sim/report/report_page.hpp"
#include "sim/study/sensitivity.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/version.hpp"

namespace podsim {
namespace {

const Place k_command_line{"command line", 0, 0};

}  // namespace

std::vector<OptionSpec> experiment_options() {
  return {{"system", "NAME|FILE", "the machine, e.g. bow-pod16", false, {}, "systems"},
          {"model", "NAME|FILE", "a shipped model or a config.json", false, {}, "models"},
          {"ipu-config", "FILE", "an Optimum Graphcore ipu_config.json"},
          {"compile", "TEXT|@FILE", "a SambaFlow compile command"},
          {"launch", "TEXT|@FILE", "the command that runs its program"},
          {"set", "KEY=VALUE", "set any key or constant, see `podsim list keys`", true, {}, "keys"},
          {"overlay", "FILE", "constants that replace shipped ones", true},
          {"configs", "DIR", "use this folder in place of the shipped configs"}};
}

const OptionSpec& report_format_option() {
  static const OptionSpec k_option{"format", "NAME", "", false, {"text", "json", "csv", "html", "markdown"}};
  return k_option;
}

std::vector<OptionSpec> joined(std::vector<OptionSpec> first, const std::vector<OptionSpec>& second) {
  first.insert(first.end(), second.begin(), second.end());
  return first;
}

std::vector<std::string> input_files(const Arguments& arguments) {
  std::vector<std::string> files = arguments.words();
  for (const char* option : {"system", "model", "ipu-config", "overlay"}) {
    for (const std::string& file : arguments.values(option)) files.push_back(file);
  }
  for (const char* option : {"compile", "launch"}) {
    for (const std::string& text : arguments.values(option)) {
      if (text.starts_with('@')) files.push_back(text.substr(1));
    }
  }
  return files;
}

ConfigFiles configs_from(const Arguments& arguments) {
  const std::optional<std::string> folder = arguments.value("configs");
  return folder ? ConfigFiles::from_folder(*folder) : ConfigFiles::embedded();
}

Experiment experiment_from(const Arguments& arguments, const std::string& file, bool system_follows) {
  static constexpr std::pair<const char*, const char*> k_keys[] = {{"system", "system"},
                                                                   {"model", "model.config"},
                                                                   {"ipu-config", "ipu.config"},
                                                                   {"compile", "rdu.compile"},
                                                                   {"launch", "rdu.launch"}};
  if (file.empty() && !arguments.has("system") && !system_follows)
    throw UsageError("no experiment: give a file, or --system and --model");
  if (file.ends_with(".json")) {
    throw UsageError(
        fmt::format("\"{}\" is JSON, and an experiment is TOML: give an ipu_config.json by --ipu-config "
                    "and a config.json by --model, with --system",
                    file));
  }
  Diagnostics diagnostics;
  Experiment experiment;
  if (!file.empty()) {
    experiment = read_experiment(file, configs_from(arguments), diagnostics);
  } else {
    experiment.document = Value::table(k_command_line);
    std::string name = arguments.value("model").value_or("model");
    if (arguments.has("system")) name += " on " + *arguments.value("system");
    apply_override(experiment, "name=" + json_quoted(name), diagnostics);
  }
  for (const auto& [option, key] : k_keys) {
    const auto value = arguments.value(option);
    if (value) apply_override(experiment, std::string(key) + "=" + json_quoted(*value), diagnostics);
  }
  for (const std::string& assignment : arguments.values("set")) apply_override(experiment, assignment, diagnostics);
  for (const std::string& overlay : arguments.values("overlay")) experiment.overlays.push_back(overlay);
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  return experiment;
}

void set_seed(Experiment& experiment, std::int64_t seed) {
  Diagnostics none;
  apply_override(experiment, fmt::format("loss_scaling.seed={}", seed), none);
}

Plan plan_from(const Experiment& experiment, const Catalog& catalog, const ConfigFiles& configs) {
  PlanResult result = make_plan(experiment, catalog, configs);
  if (!result.plan) throw ConfigError(std::move(result.diagnostics));
  return std::move(*result.plan);
}

std::optional<LossScaleOutlook> loss_scale_of(Plan& plan, const Experiment& experiment, const Catalog& catalog,
                                              const ConfigFiles& configs) {
  return loss_scaling::outlook_for(plan, experiment.document, catalog, configs, plan.warnings);
}

std::string report_extension(const std::string& format) {
  return format == "text" ? "txt" : format == "markdown" ? "md" : format == "junit" ? "xml" : format;
}

std::string formatted(Report report, const std::string& format, const Timeline* timeline) {
  report.tool_version = version();
  report.tool_commit = commit();
  if (format == "json") return to_json(report);
  if (format == "csv") return to_csv(report);
  if (format == "html") return to_html(report_page(report, timeline));
  if (format == "markdown") return to_markdown(report_page(report, nullptr));
  return to_text(report);
}

std::string formatted(Page page, const std::string& inputs_sha256, const std::string& format) {
  page.tool_version = version();
  page.tool_commit = commit();
  page.inputs_sha256 = inputs_sha256;
  return format == "html" ? to_html(page) : to_markdown(page);
}

namespace {

// The tables of a view alone: as text or as a page; JSON holds every table, those of the view among them.
std::string viewed(const Report& report, const std::string& view, const std::string& format, const Timeline* timeline) {
  std::vector<std::string> names;
  for (const Table& table : report.tables) {
    if (table.view.empty()) names.push_back(table.name);
  }
  names.emplace_back(k_critical_path_view);
  names.emplace_back(k_sensitivity_view);
  const std::string text = view_text(report, view);
  if (text.empty()) {
    throw UsageError(fmt::format("option --view: no table is called \"{}\"; expected {}{}", view,
                                 fmt::join(names, ", "), suggestion_for(view, names)));
  }
  if (format == "text") return text;
  if (format == "json") return formatted(report, format, timeline);
  return formatted(view_page(report, view), report.inputs_sha256, format);
}

}  // namespace

ReportOutput::ReportOutput(const Arguments& arguments)
    : format_(choice_option(arguments, report_format_option())),
      folder_(arguments.value("out").value_or("")),
      view_(arguments.value("view").value_or("")),
      warn_(!arguments.has("quiet")) {
  if (!view_.empty() && format_ == "csv") {
    throw UsageError(
        "option --view: csv holds one row of the run's values, no tables; use --format text, json, html "
        "or markdown");
  }
  if (folder_.empty()) return;
  for (const std::string& file : {"report." + report_extension(format_), std::string("plan.toml")}) {
    refuse_input(folder_ + "/" + file, input_files(arguments));
    refuse_overwrite(folder_ + "/" + file, arguments.has("force"));
  }
}

ExitCode ReportOutput::show(const Plan& plan, const Report& report, const Timeline* timeline) const {
  const bool alone = !view_.empty() && report.engine;
  const std::string text = alone ? viewed(report, view_, format_, timeline) : formatted(report, format_, timeline);
  // The text report holds the warnings itself.
  if (warn_ && format_ != "text" && !plan.warnings.all().empty()) print_error(plan.warnings.to_text());
  if (!folder_.empty()) {
    make_folder(folder_);
    write_file(folder_ + "/report." + report_extension(format_), text);
    write_file(folder_ + "/plan.toml", to_toml(plan, folder_));
  }
  format_ == "text" ? print_report(text) : print(text);
  return report.verdict.fits() ? ExitCode::done : ExitCode::does_not_fit;
}

}  // namespace podsim
