// podsim compare: two results of a kind, for regression checks.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>

#include "models/catalog.hpp"
#include "sim/core/sha256.hpp"
#include "sim/study/change_attribution.hpp"
#include "sim/study/comparison.hpp"
#include "sim/study/comparison_page.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/page_output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

enum class ResultKind { run, validation, sweep };

struct Result {
  ResultKind kind = ResultKind::run;
  std::string path;
  Value document;      // not of a sweep
  std::string inputs;  // what decides it: the text of a file, the hash of a sweep's inputs
};

bool is_database(const std::string& path) {
  static constexpr std::string_view k_magic = "SQLite format 3";
  std::string head(k_magic.size(), '\0');
  std::ifstream file(path, std::ios::binary);
  return file.read(head.data(), static_cast<std::streamsize>(head.size())) && head == k_magic;
}

// The JSON report where a folder of `run --out` is named.
std::string report_in(const std::string& path) {
  std::error_code code;
  if (!std::filesystem::is_directory(path, code)) return path;
  const std::string report = path + (path.ends_with('/') ? "" : "/") + "report.json";
  if (std::filesystem::exists(report, code)) return report;
  Diagnostics diagnostics;
  diagnostics.error({path, 0, 0}, "", "has no report.json", "a folder of `podsim run --format json --out DIR`");
  throw ConfigError(diagnostics);
}

// That what is compared has the types that a report gives it; a damaged one would compare as something else.
void check_run(const Value& report, Diagnostics& diagnostics) {
  const Value* plan = report.find("inputs.plan");
  if (plan != nullptr && !plan->is(Value::Kind::table)) {
    diagnostics.error(plan->place(), "inputs.plan", "is " + kind_name(plan->kind()), "an object");
  }
  for (const char* section : {"throughput", "latency"}) {
    const Value* values = report.find(section);
    if (values == nullptr || values->is(Value::Kind::null)) continue;
    if (!values->is(Value::Kind::table)) {
      diagnostics.error(values->place(), section, "is " + kind_name(values->kind()), "an object");
      continue;
    }
    for (const Value::Member& member : values->members()) {
      const bool number = member.value.is(Value::Kind::integer) || member.value.is(Value::Kind::floating);
      if (number || member.value.is(Value::Kind::null)) continue;
      diagnostics.error(member.value.place(), std::string(section) + "." + member.key,
                        "is " + kind_name(member.value.kind()), "a number");
    }
  }
}

Result read_result(const std::string& named) {
  const std::string path = report_in(named);
  if (is_database(path)) return {ResultKind::sweep, path, {}, SweepStore::read(path).identity().input_sha256};
  const Place place{"command line", 0, 0};
  Diagnostics diagnostics;
  const auto text = read_text_file(path, place, "", diagnostics);
  std::optional<Value> document;
  if (text && text->find_first_not_of(" \t\r\n") != text->find_first_of("{[")) {
    diagnostics.error({path, 0, 0}, "", "is not JSON", "what `--format json` of `podsim run` or `validate` writes");
  } else if (text) {
    document = parse_json(*text, path, diagnostics);
  }
  const bool is_table = document && document->is(Value::Kind::table);
  const bool is_run = is_table && document->find("verdict") != nullptr;
  const bool is_validation = is_table && document->find("cases") != nullptr && document->find("groups") != nullptr;
  if (document && !is_run && !is_validation) {
    diagnostics.error(document->place(), "", "is no result",
                      "what `podsim run --format json` or `podsim validate --format json` prints, or a database of "
                      "`podsim sweep run`");
  }
  if (is_run) check_run(*document, diagnostics);
  if (diagnostics.has_errors() || !document) throw ConfigError(diagnostics);
  return {is_run ? ResultKind::run : ResultKind::validation, path, std::move(*document), *text};
}

Comparison comparison_of(const Result& before, const Result& after, double tolerance, const ConfigFiles& configs) {
  if (before.kind != after.kind) {
    throw UsageError(fmt::format("{} and {} are results of different kinds", before.path, after.path));
  }
  switch (before.kind) {
    case ResultKind::validation:
      return compare_validations(before.document, after.document, tolerance);
    case ResultKind::sweep: {
      SweepStore first = SweepStore::read(before.path);
      SweepStore second = SweepStore::read(after.path);
      return compare_sweeps(first, second, tolerance);
    }
    case ResultKind::run:
      break;
  }
  Comparison comparison = compare_runs(before.document, after.document, tolerance);
  const Catalog catalog = make_catalog();
  ChangeAttribution attribution = attribute_change(before.document, after.document, catalog, configs);
  comparison.effects = std::move(attribution.effects);
  comparison.beyond = std::move(attribution.beyond);
  return comparison;
}

const OptionSpec& format_option() {
  static const OptionSpec k_option{"format", "NAME", "", false, {"text", "json", "junit", "html", "markdown"}};
  return k_option;
}

}  // namespace

const VerbSpec& compare_spec() {
  static const VerbSpec k_spec{
      "compare",
      "compare A B [options]",
      "Compare two runs, sweeps or validations, metric by metric, and explain the change.",
      "A and B are JSON reports of `run` or `validate`, or databases of `sweep run`. Exit code 1 when something in B "
      "is\n"
      "worse than in A by more than the tolerance: a rate, a latency, a time to train, a verdict, the error of a case.",
      joined({{"tolerance", "2%",
               "largest change that is accepted (default 2%; percentage points of a validation's errors)"},
              {"strict", "", "exit code 1 for any change beyond the tolerance, better ones too"},
              format_option(),
              {"all", "", "print every metric, not only those of the whole or that differ"},
              {"configs", "DIR", "use this folder in place of the shipped configs"}},
             page_output_options()),
      {"podsim compare old/report.json new/report.json", "podsim compare old.sqlite new.sqlite --format junit"},
      2};
  return k_spec;
}

ExitCode cmd_compare(const Arguments& arguments) {
  if (arguments.words().size() != 2) throw UsageError("compare takes two results");
  const PageOutput output(arguments, format_option(), "comparison");
  const std::string text = arguments.value("tolerance").value_or("2%");
  const std::optional<double> tolerance = parse_tolerance(text);
  if (!tolerance) throw UsageError(fmt::format("option --tolerance: \"{}\" is neither like 5% nor like 0.05", text));
  const Result before = read_result(arguments.words()[0]);
  const Result after = read_result(arguments.words()[1]);
  const Comparison comparison = comparison_of(before, after, *tolerance, configs_from(arguments));
  if (output.is_page()) {
    output.show(comparison_page(comparison, arguments.words()[0], arguments.words()[1], *tolerance),
                sha256_hex(before.inputs + after.inputs));
  } else if (output.format() == "json") {
    output.show(to_json(comparison));
  } else if (output.format() == "junit") {
    output.show(to_junit(comparison));
  } else {
    output.show(to_text(comparison, arguments.has("all")));
  }
  const auto is_compared = [](const MetricChange& metric) {
    return metric.judged && metric.verdict != ChangeVerdict::missing && metric.verdict != ChangeVerdict::added;
  };
  if (std::ranges::none_of(comparison.metrics, is_compared)) {
    print_error("podsim: nothing is in both results: nothing was compared");
    return ExitCode::out_of_tolerance;
  }
  const bool failed = comparison.regressed() || (arguments.has("strict") && comparison.differs());
  return failed ? ExitCode::out_of_tolerance : ExitCode::done;
}

}  // namespace podsim
