// podsim compare: two JSON reports, for regression checks.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/report/text_table.hpp"
#include "tools/podsim/comparison.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

Value read_report(const std::string& path) {
  const Place place{"command line", 0, 0};
  Diagnostics diagnostics;
  const auto text = read_text_file(path, place, "", diagnostics);
  std::optional<Value> report;
  if (text) report = parse_json(*text, path, diagnostics);
  if (report && (!report->is(Value::Kind::table) || report->find("verdict") == nullptr)) {
    diagnostics.error(report->place(), "", "is not a report", "what `podsim run --format json` prints");
  }
  if (diagnostics.has_errors() || !report) throw ConfigError(diagnostics);
  return *report;
}

std::string difference_text(const MetricPair& pair) {
  if (!pair.difference) return "";
  if (!std::isfinite(*pair.difference)) return *pair.difference > 0 ? "+inf %" : "-inf %";
  return fmt::format("{:+.3f} %", 100 * *pair.difference);
}

std::string verdict_text(const MetricPair& pair) {
  if (pair.first.empty() != pair.second.empty()) return pair.first.empty() ? "missing in A" : "missing in B";
  return pair.within ? "ok" : "DIFFERS";
}

}  // namespace

const VerbSpec& compare_spec() {
  static const VerbSpec k_spec{
      "compare",
      "compare A.json B.json [options]",
      "Compare two JSON reports, metric by metric.",
      "Exit code 1 when a metric differs by more than the tolerance or is missing in one.",
      {{"tolerance", "5%", "largest relative difference that is accepted (default 5%)"},
       {"all", "", "print every device and link, not only those that differ"}},
      {"podsim compare old/report.json new/report.json", "podsim compare old.json new.json --tolerance 0.1%"},
      2};
  return k_spec;
}

ExitCode cmd_compare(const Arguments& arguments) {
  if (arguments.words().size() != 2) throw UsageError("compare takes two reports");
  const std::string text = arguments.value("tolerance").value_or("5%");
  const std::optional<double> tolerance = parse_tolerance(text);
  if (!tolerance) throw UsageError(fmt::format("option --tolerance: \"{}\" is neither like 5% nor like 0.05", text));
  const auto pairs = compare_metrics(metrics_of(read_report(arguments.words()[0])),
                                     metrics_of(read_report(arguments.words()[1])), *tolerance);
  TextTable table;
  table.column("metric", Align::left);
  table.column("A", Align::right);
  table.column("B", Align::right);
  table.column("difference", Align::right);
  table.column("verdict", Align::left);
  for (const MetricPair& pair : pairs) {
    if (!pair.headline && pair.within && !arguments.has("all")) continue;
    const auto shown = [](const std::string& value) { return value.empty() ? std::string("-") : value; };
    table.row({pair.name, shown(pair.first), shown(pair.second), difference_text(pair), verdict_text(pair)});
  }
  const auto beyond = std::count_if(pairs.begin(), pairs.end(), [](const MetricPair& pair) { return !pair.within; });
  print(table.text(SIZE_MAX) +
        fmt::format("\n{} metrics compared, {} beyond {} or missing\n", pairs.size(), beyond, text));
  return beyond == 0 ? ExitCode::done : ExitCode::out_of_tolerance;
}

}  // namespace podsim
