// A calibration as text, JSON and an overlay.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/core/json_writer.hpp"
#include "sim/numerics/normal.hpp"
#include "sim/report/human.hpp"
#include "sim/report/text_table.hpp"
#include "sim/study/calibrate.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_width = 100;
constexpr std::size_t k_most_rows = 40;  // of the text; JSON has all

std::string signed_percent(double ratio) {
  return fmt::format("{:+.1f} %", 100 * (ratio - 1));
}

std::string error_text(const CalibratedConstant& constant) {
  return constant.standard_error ? fmt::format("{:.2g} %", 100 * *constant.standard_error) : "not known";
}

std::string constants_text(const Calibration& calibration) {
  TextTable table;
  table.column("constant", Align::left);
  for (const char* heading : {"was", "fitted", "change", "standard error", "rows"}) table.column(heading, Align::right);
  table.column("", Align::left);
  for (const CalibratedConstant& constant : calibration.constants) {
    const std::string remark = constant.kept       ? "kept: the rows cannot tell it"
                               : constant.at_bound ? "at the end of its range"
                                                   : "";
    table.row({constant.before.name, constant.before.text, constant.fitted_text(),
               signed_percent(constant.fitted / constant.before.base_value), error_text(constant),
               std::to_string(constant.rows), remark});
  }
  return "\nConstants\n" + table.text(k_width);
}

std::string correlations_text(const Calibration& calibration) {
  std::string text;
  constexpr double k_least = 0.3;
  for (std::size_t a = 0; a < calibration.constants.size(); ++a) {
    for (std::size_t b = 0; b < a; ++b) {
      const double correlation = calibration.correlations[a][b];
      if (std::abs(correlation) < k_least) continue;
      text += fmt::format("  {:+.2f}  {} with {}\n", correlation, calibration.constants[b].before.name,
                          calibration.constants[a].before.name);
    }
  }
  return text.empty() ? "" : "\nCorrelations of 0.3 and more: the rows tell these better together than apart\n" + text;
}

std::string unknown_text(const Calibration& calibration) {
  std::string text;
  for (const std::string& sentence : calibration.unknown) text += "  " + wrapped(sentence, k_width - 2, 4) + '\n';
  return text.empty() ? "" : "\nWhat the rows cannot tell\n" + text;
}

std::string rows_text(const Calibration& calibration) {
  TextTable table;
  table.column("row", Align::left);
  table.column("quantity", Align::left);
  for (const char* heading : {"measured", "fitted", "error before", "after", "left out"}) {
    table.column(heading, Align::right);
  }
  const std::size_t shown = std::min(calibration.rows.size(), k_most_rows);
  for (std::size_t r = 0; r < shown; ++r) {
    const CalibratedRow& row = calibration.rows[r];
    table.row({row.id, row.quantity, format_significant(row.measured), format_significant(row.after),
               signed_percent(row.before / row.measured), signed_percent(row.after / row.measured),
               row.left_out ? signed_percent(*row.left_out / row.measured) : "-"});
  }
  std::string text = "\nRows\n" + table.text(k_width);
  if (shown < calibration.rows.size()) {
    text += fmt::format("  … and {} more rows in --format json\n", calibration.rows.size() - shown);
  }
  return text;
}

std::string skipped_text(const Calibration& calibration) {
  if (calibration.skipped.empty()) return "";
  std::vector<std::pair<std::string, std::size_t>> reasons;
  for (const auto& [id, reason] : calibration.skipped) {
    auto known = std::ranges::find(reasons, reason, &std::pair<std::string, std::size_t>::first);
    if (known == reasons.end()) known = reasons.insert(known, {reason, 0});
    ++known->second;
  }
  std::string text = "\nNot fitted to\n";
  for (const auto& [reason, count] : reasons) {
    text += "  " + wrapped(fmt::format("{:>4}  {}", count, reason), k_width - 2, 8) + '\n';
  }
  return text;
}

void write_constants(JsonWriter& json, const Calibration& calibration) {
  json.key("constants");
  json.begin_array();
  for (const CalibratedConstant& constant : calibration.constants) {
    json.begin_object();
    json.member("constant", constant.before.name);
    json.member("was", constant.before.text);
    json.member("fitted", constant.fitted_text());
    json.member("was_base", constant.before.base_value);
    json.member("fitted_base", constant.fitted);
    json.member("base_unit", base_unit(constant.before.dimension));
    json.key("relative_standard_error");
    constant.standard_error ? json.value(*constant.standard_error) : json.null();
    json.member("rows", constant.rows);
    json.member("at_bound", constant.at_bound);
    json.member("kept", constant.kept);
    json.end_object();
  }
  json.end_array();
  json.key("correlations");
  json.begin_array();
  for (const std::vector<double>& row : calibration.correlations) {
    json.begin_array();
    for (const double correlation : row) json.value(correlation);
    json.end_array();
  }
  json.end_array();
}

void write_rows(JsonWriter& json, const Calibration& calibration) {
  json.key("rows");
  json.begin_array();
  for (const CalibratedRow& row : calibration.rows) {
    json.begin_object();
    json.member("id", row.id);
    json.member("series", row.series);
    json.member("quantity", row.quantity);
    json.member("measured", row.measured);
    json.member("before", row.before);
    json.member("after", row.after);
    json.key("left_out");
    row.left_out ? json.value(*row.left_out) : json.null();
    json.end_object();
  }
  json.end_array();
  json.key("skipped");
  json.begin_array();
  for (const auto& [id, reason] : calibration.skipped) {
    json.begin_object();
    json.member("id", id);
    json.member("reason", reason);
    json.end_object();
  }
  json.end_array();
}

// P10 to P90 of a value whose logarithm is normal.
std::string spread_text(const CalibratedConstant& constant) {
  if (!constant.standard_error) return "";
  const double reach = std::exp(normal_quantile(0.9) * *constant.standard_error);
  return fmt::format("{} to {}", text_with_value(constant.before, constant.fitted / reach),
                     text_with_value(constant.before, constant.fitted * reach));
}

std::string overlay_entry(const CalibratedConstant& constant, const std::string& source) {
  const bool bare = constant.before.dimension == "number";
  std::string text = fmt::format("\n[{}]\nvalue = {}\n", constant.before.name,
                                 bare ? constant.fitted_text() : json_quoted(constant.fitted_text()));
  text += fmt::format("source = {}\nconfidence = \"fitted\"\n", json_quoted(source));
  const std::string spread = spread_text(constant);
  return spread.empty() ? text : text + fmt::format("spread = {}\n", json_quoted(spread));
}

}  // namespace

std::string to_text(const Calibration& calibration) {
  std::string text =
      fmt::format("{} constants fitted to {} rows\n\n", calibration.constants.size(), calibration.rows.size());
  text += fmt::format("  mean |error|   {:.2f} % before, {:.2f} % after\n", calibration.error_before_pct,
                      calibration.error_after_pct);
  text += "  left out       ";
  if (calibration.error_left_out_pct) text += fmt::format("{:.2f} % on ", *calibration.error_left_out_pct);
  text += calibration.left_out.empty() ? "not asked for\n" : calibration.left_out + '\n';
  if (!calibration.converged) text += "  the search did not converge: take the values as a direction only\n";
  return text + constants_text(calibration) + correlations_text(calibration) + unknown_text(calibration) +
         rows_text(calibration) + skipped_text(calibration);
}

std::string to_json(const Calibration& calibration) {
  JsonWriter json;
  json.begin_object();
  write_constants(json, calibration);
  json.key("unknown");
  json.begin_array();
  for (const std::string& sentence : calibration.unknown) json.value(sentence);
  json.end_array();
  json.key("mean_absolute_error_pct");
  json.begin_object();
  json.member("before", calibration.error_before_pct);
  json.member("after", calibration.error_after_pct);
  json.key("left_out");
  calibration.error_left_out_pct ? json.value(*calibration.error_left_out_pct) : json.null();
  json.end_object();
  json.member("left_out", calibration.left_out);
  json.member("converged", calibration.converged);
  json.member("evaluations", calibration.evaluations);
  write_rows(json, calibration);
  json.end_object();
  return json.text();
}

std::string to_overlay(const Calibration& calibration, const std::string& measured_in) {
  std::string ids;
  for (const CalibratedRow& row : calibration.rows) ids += (ids.empty() ? "" : ", ") + row.id;
  std::string text = fmt::format(
      "# Fitted by podsim calibrate to {} rows of {}: mean |error| {:.2f} %, before {:.2f} %", calibration.rows.size(),
      printable(measured_in), calibration.error_after_pct, calibration.error_before_pct);
  if (calibration.error_left_out_pct)
    text += fmt::format(", on rows left out {:.2f} %", *calibration.error_left_out_pct);
  text += ".\n# Spreads are P10 to P90.\n";
  for (const std::string& sentence : calibration.unknown) text += "# The rows cannot tell: " + sentence + ".\n";
  for (const CalibratedConstant& constant : calibration.constants) {
    if (constant.kept) continue;
    text += overlay_entry(constant, fmt::format("fitted on {} ({}, was {})", ids, measured_in, constant.before.text));
  }
  return text;
}

}  // namespace podsim
