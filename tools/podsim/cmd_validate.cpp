// podsim validate: published measurements against the model.

#include <fmt/format.h>

#include <algorithm>

#include "models/catalog.hpp"
#include "sim/core/sha256.hpp"
#include "sim/report/human.hpp"
#include "sim/study/comparison.hpp"
#include "sim/study/coverage.hpp"
#include "sim/study/evidence.hpp"
#include "sim/study/validate.hpp"
#include "sim/study/validate_page.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/progress.hpp"
#include "tools/podsim/uncertainty_input.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

std::vector<std::string> table_files(const Arguments& arguments) {
  std::vector<std::string> files = arguments.values("references");
  files.insert(files.end(), arguments.words().begin(), arguments.words().end());
  return files;
}

std::vector<ReferenceTable> tables_from(const Arguments& arguments, const ConfigFiles& configs) {
  const std::vector<std::string> files = table_files(arguments);
  if (files.empty()) return shipped_references(configs);
  Diagnostics diagnostics;
  std::vector<ReferenceTable> tables;
  for (const std::string& file : files) {
    const auto text = read_text_file(file, {"command line", 0, 0}, "--references", diagnostics);
    if (text) tables.push_back({file, *text});
  }
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  return tables;
}

std::optional<double> tolerance_from(const Arguments& arguments) {
  const std::optional<std::string> text = arguments.value("tolerance");
  if (!text) return std::nullopt;
  const std::optional<double> tolerance = parse_tolerance(*text);
  if (!tolerance) throw UsageError(fmt::format("option --tolerance: \"{}\" is neither like 5% nor like 0.05", *text));
  return tolerance;
}

// Of the tables alone; what else decides a validation are the program's own files.
std::string hash_of(const std::vector<ReferenceTable>& tables) {
  Sha256 hash;
  for (const ReferenceTable& table : tables) hash.update(table.text);
  return hash.finish();
}

std::string formatted(const Validation& validation, const std::vector<ReferenceTable>& tables,
                      const std::string& format) {
  if (format == "json") return to_json(validation);
  if (format == "csv") return to_csv(validation);
  if (format == "text") return to_text(validation);
  return formatted(validation_page(validation), hash_of(tables), format);
}

}  // namespace

const VerbSpec& validate_spec() {
  static const VerbSpec k_spec{
      "validate",
      "validate [FILE.csv …] [options]",
      "Simulate published measurements and compare.",
      "Without files: those that are shipped. Exit code 1 when no case ran, a memory point is judged wrong or, with\n"
      "--tolerance, a throughput is off by more. Lower bounds (host bound, averages of trainers) are shown and never "
      "counted.\nSingle operators are listed and judged where nothing else is compared, and summed up by kind "
      "elsewhere.",
      joined({{"references", "FILE.csv", "a table of measurements instead of those shipped", true},
              report_format_option(),
              {"tolerance", "6%", "largest error of a throughput that is accepted (default: any)"},
              {"overlay", "FILE.toml", "constants that replace those shipped", true},
              {"configs", "DIR", "use this folder instead of the configs in the program"},
              {"evidence", "FILE.csv", "write what `run` takes its evidence from"},
              {"force", "", "let --evidence replace a file"}},
             interval_options("of the intervals' draws")),
      {"podsim validate --tolerance 15%", "podsim validate --references my-runs.csv --format json"},
      1000};
  return k_spec;
}

ExitCode cmd_validate(const Arguments& arguments) {
  const std::string format = choice_option(arguments, report_format_option());
  const std::optional<double> tolerance = tolerance_from(arguments);
  constexpr std::int64_t k_draws = 100;  // of every case
  const std::optional<IntervalOptions> drawn = interval_options_from(arguments, k_draws);
  if (const auto file = arguments.value("evidence")) {
    refuse_input(*file, table_files(arguments));
    refuse_overwrite(*file, arguments.has("force"));
  }
  const ConfigFiles configs = configs_from(arguments);
  const std::vector<ReferenceTable> tables = tables_from(arguments, configs);
  Diagnostics diagnostics;
  const Catalog catalog = make_catalog();
  Validation validation = validate(tables, catalog, configs, arguments.values("overlay"), diagnostics);
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  if (drawn) {
    std::optional<Progress> shown;
    const auto progress = [&](std::int64_t done, std::int64_t all) {
      if (!shown) shown.emplace(all, 0, false);
      shown->show(done);
    };
    add_intervals(validation, tables, arguments.values("overlay"), catalog, configs, *drawn, progress);
  }
  if (const auto file = arguments.value("evidence")) write_file(*file, evidence_table(validation));
  const std::string text = formatted(validation, tables, format);
  format == "text" ? print_report(within_width(text)) : print(text);
  if (!diagnostics.all().empty()) print_error(diagnostics.to_text());
  if (std::ranges::none_of(validation.cases, &ValidatedCase::ran)) {
    print_error("podsim: no case ran: nothing was compared\n");
    return ExitCode::out_of_tolerance;
  }
  return out_of_tolerance(validation, tolerance) ? ExitCode::out_of_tolerance : ExitCode::done;
}

}  // namespace podsim
