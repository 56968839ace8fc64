// podsim calibrate: constants fitted to measurements.

#include <fmt/format.h>

#include "models/catalog.hpp"
#include "sim/study/calibrate.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

const OptionSpec& format_option() {
  static const OptionSpec k_option{"format", "NAME", "", false, {"text", "json"}};
  return k_option;
}

// Of all --constants, commas between.
std::vector<std::string> constants_from(const Arguments& arguments) {
  std::vector<std::string> names;
  for (const std::string& list : arguments.values("constants")) {
    for (std::size_t at = 0; at <= list.size();) {
      const std::size_t comma = std::min(list.find(',', at), list.size());
      if (comma > at) names.push_back(list.substr(at, comma - at));
      at = comma + 1;
    }
  }
  if (names.empty()) throw UsageError("no constants: give --constants with names, commas between");
  return names;
}

// What rows of a small table change; empty: the tables say themselves what ran.
std::optional<Experiment> base_from(const Arguments& arguments) {
  const std::string file = arguments.value("experiment").value_or("");
  if (!file.empty() || arguments.has("system")) return experiment_from(arguments, file);
  for (const char* option : {"model", "ipu-config", "compile", "launch", "set"}) {
    if (!arguments.has(option)) continue;
    throw UsageError(fmt::format("option --{} changes an experiment: give --experiment or --system too", option));
  }
  return std::nullopt;
}

std::vector<ReferenceTable> tables_from(const std::vector<std::string>& files) {
  if (files.empty()) throw UsageError("no measurements: give a CSV file");
  Diagnostics diagnostics;
  std::vector<ReferenceTable> tables;
  for (const std::string& file : files) {
    const auto text = read_text_file(file, {"command line", 0, 0}, "", diagnostics);
    if (text) tables.push_back({file, *text});
  }
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  return tables;
}

}  // namespace

const VerbSpec& calibrate_spec() {
  static const VerbSpec k_spec{
      "calibrate",
      "calibrate FILE.csv … --constants A,B [options]",
      "Fit constants to measurements and write an overlay.",
      "FILE.csv is a table that `podsim validate` reads; or, with --experiment, one with the columns metric (step_s,\n"
      "sequences_per_s, …), value and keys that change the experiment row by row; id and series may stand beside.\n"
      "Least squares of relative errors. Then: podsim run EXPERIMENT --overlay OUT.toml.",
      joined({{"constants", "A,B,…", "what is fitted: names of constants", true},
              {"experiment", "NAME|FILE", "what the rows of a small table change", false, {}, "experiments"}},
             joined(experiment_options(), {format_option(),
                                           {"out", "FILE", "write the fitted constants there, for --overlay"},
                                           {"force", "", "let --out replace a file"},
                                           {"no-leave-out", "", "do not fit again without each series of rows"}})),
      {"podsim calibrate runs.csv --experiment bert-large-bow-pod16 --constants software.framework_factor",
       "podsim calibrate published.csv --constants system.ring.bandwidth,system.streaming.bandwidth --out fit.toml"},
      1000};
  return k_spec;
}

ExitCode cmd_calibrate(const Arguments& arguments) {
  const std::string format = choice_option(arguments, format_option());
  const std::vector<std::string> constants = constants_from(arguments);
  const std::string out = arguments.value("out").value_or("");
  if (!out.empty()) {
    std::vector<std::string> inputs = input_files(arguments);
    if (arguments.has("experiment")) inputs.push_back(*arguments.value("experiment"));
    refuse_input(out, inputs);
    refuse_overwrite(out, arguments.has("force"));
  }
  const ConfigFiles configs = configs_from(arguments);
  const Catalog catalog = make_catalog();
  const std::vector<ReferenceTable> tables = tables_from(arguments.words());
  Diagnostics diagnostics;
  const Measurements measurements =
      read_measurements(tables, base_from(arguments), arguments.values("overlay"), catalog, configs, diagnostics);
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  const std::optional<Calibration> calibration =
      calibrate(measurements, constants, {!arguments.has("no-leave-out")}, catalog, configs, diagnostics);
  if (!calibration) throw ConfigError(diagnostics);
  if (!out.empty()) write_file(out, to_overlay(*calibration, fmt::format("{}", fmt::join(arguments.words(), ", "))));
  format == "json" ? print(to_json(*calibration)) : print_report(to_text(*calibration));
  if (!diagnostics.all().empty()) print_error(diagnostics.to_text());
  return ExitCode::done;
}

}  // namespace podsim
