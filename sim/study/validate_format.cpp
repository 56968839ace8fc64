// A validation as text, JSON and CSV.

#include <fmt/format.h>

#include <algorithm>

#include "sim/core/json_writer.hpp"
#include "sim/report/report.hpp"
#include "sim/report/text_table.hpp"
#include "sim/study/coverage.hpp"
#include "sim/study/validate.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

std::string_view word(bool fits) {
  return fits ? "fits" : "does_not_fit";
}

std::string value_text(const ValidatedCase& one, const std::optional<double>& rate, const std::optional<bool>& fits) {
  if (one.is_point()) return fits ? std::string(word(*fits)) : "";
  return rate ? format_number(*rate) : "";
}

std::string significant(const std::optional<double>& value) {
  return value ? format_significant(*value) : "-";
}

std::string percent(const std::optional<double>& value, bool sign) {
  if (!value) return "-";
  return sign ? fmt::format("{:+.1f} %", *value) : fmt::format("{:.1f} %", *value);
}

std::string standing(const ValidatedCase& one) {
  if (!one.lower_bound.empty()) return one.below_bound() ? "BELOW BOUND" : "lower bound";
  if (!one.excluded.empty()) return "excluded";
  return one.fitted ? "fitted" : "held out";
}

std::string judgement(const ValidatedCase& one) {
  if (!one.is_point()) return percent(one.error_pct, true);
  return one.wrong() ? "WRONG" : "right";
}

std::string range_text(const ValidatedCase& one) {
  if (!one.interval) return "-";
  return fmt::format("{} to {}", format_significant(one.interval->p10), format_significant(one.interval->p90));
}

// A table for each quantity, in the order of their first cases.
std::string case_lines(const Validation& validation) {
  const bool operators = validation.operators_alone();
  const bool intervals = !validation.coverage.empty();
  std::size_t left_out = 0;
  std::vector<const ValidatedCase*> shown;
  for (const ValidatedCase& one : validation.cases) {
    if (!one.ran()) continue;
    if (one.is_operator() && !operators) {
      ++left_out;
    } else {
      shown.push_back(&one);
    }
  }
  std::vector<std::string> quantities;
  for (const ValidatedCase* one : shown) {
    if (std::ranges::find(quantities, one->quantity) == quantities.end()) quantities.push_back(one->quantity);
  }
  std::string text;
  for (const std::string& quantity : quantities) {
    TextTable table;
    table.column("case", Align::left);
    table.column("measured", Align::right);
    table.column("predicted", Align::right);
    table.column("error", Align::right);
    if (intervals) table.column("P10 to P90", Align::right);
    table.column("is", Align::left);
    for (const ValidatedCase* shown_case : shown) {
      const ValidatedCase& one = *shown_case;
      if (one.quantity != quantity) continue;
      const bool point = one.is_point();
      std::vector<std::string> cells{one.id, point ? std::string(word(*one.measured_fits)) : significant(one.measured),
                                     point ? std::string(word(*one.predicted_fits)) : significant(one.predicted),
                                     judgement(one)};
      if (intervals) cells.push_back(range_text(one));
      cells.push_back(standing(one));
      table.row(std::move(cells));
    }
    text += (text.empty() ? "" : "\n") + (quantity == k_fits ? std::string("memory") : quantity) + '\n';
    text += table.text();
  }
  if (left_out > 0) {
    text += fmt::format("\nand {} single operators, in groups below; --format json lists them\n", left_out);
  }
  return text.empty() ? "no case could be run\n" : text;
}

std::string group_lines(const std::vector<ValidationGroup>& groups) {
  TextTable table;
  table.column("group", Align::left);
  for (const char* heading : {"cases", "mean |error|", "largest", "bias", "Spearman", "wrong"}) {
    table.column(heading, Align::right);
  }
  for (const ValidationGroup& group : groups) {
    table.row({group.name, std::to_string(group.cases), percent(group.mape_pct, false),
               percent(group.maximum_pct, false), percent(group.bias_pct, true), significant(group.spearman),
               group.wrong ? std::to_string(*group.wrong) : "-"});
  }
  return table.text();
}

std::string skipped_lines(const std::vector<ValidatedCase>& cases) {
  struct Reason {
    std::string text;
    std::string first;
    std::size_t count = 0;
  };
  std::vector<Reason> reasons;
  for (const ValidatedCase& one : cases) {
    if (one.ran()) continue;
    auto known = std::ranges::find(reasons, one.skipped_reason, &Reason::text);
    if (known == reasons.end()) known = reasons.insert(known, {one.skipped_reason, one.id, 0});
    ++known->count;
  }
  if (reasons.empty()) return "";
  std::string text = "\nSkipped\n";
  for (const Reason& reason : reasons) {
    text += fmt::format("  {:>4}  {} ({}{})\n", reason.count, reason.text, reason.first, reason.count > 1 ? ", …" : "");
  }
  return text;
}

// Runs that happened, so whatever the memory account says, they fitted; settings that their row leaves out may be why.
std::string unfitting_lines(const std::vector<ValidatedCase>& cases) {
  std::string text;
  for (const ValidatedCase& one : cases) {
    const bool published_rate = one.ran() && !one.is_point();
    if (published_rate && one.predicted_fits == false) text += "  " + one.id + "\n";
  }
  return text.empty() ? ""
                      : "\nPublished runs that are judged not to fit, which the memory points do not count\n" + text;
}

template <class T>
void optional_member(JsonWriter& json, std::string_view key, const std::optional<T>& value) {
  json.key(key);
  if (value)
    json.value(*value);
  else
    json.null();
}

void fit_or_rate(JsonWriter& json, std::string_view key, const ValidatedCase& one, const std::optional<double>& rate,
                 const std::optional<bool>& fits) {
  if (!one.is_point()) return optional_member(json, key, rate);
  json.key(key);
  if (fits)
    json.value(word(*fits));
  else
    json.null();
}

void write_operator(JsonWriter& json, const ValidatedCase& one) {
  json.member("operation", one.operation);
  json.member("group", one.group);
  json.key("further");
  json.begin_array();
  for (const FurtherComparison& figure : one.further) {
    json.begin_object();
    json.member("quantity", figure.quantity);
    json.member("measured", figure.measured);
    json.member("predicted", figure.predicted);
    json.member("error_pct", figure.error_pct());
    json.end_object();
  }
  json.end_array();
}

void write_case(JsonWriter& json, const ValidatedCase& one) {
  json.begin_object();
  json.member("id", one.id);
  json.member("quantity", one.quantity);
  fit_or_rate(json, "measured", one, one.measured, one.measured_fits);
  fit_or_rate(json, "predicted", one, one.predicted, one.predicted_fits);
  optional_member(json, "error_pct", one.error_pct);
  json.member("source", one.source);
  json.member("fitted", one.ran() && one.fitted);
  json.member("held_out", one.ran() && !one.fitted);
  json.member("lower_bound", one.lower_bound);
  json.member("below_bound", one.below_bound());
  optional_member(json, "fits", one.predicted_fits);
  json.member("skipped_reason", one.skipped_reason);
  if (one.interval) {
    json.key("interval");
    json.begin_object();
    json.member("p10", one.interval->p10);
    json.member("p50", one.interval->p50);
    json.member("p90", one.interval->p90);
    json.end_object();
  }
  if (one.is_operator()) write_operator(json, one);
  json.key("defaults");
  json.begin_array();
  for (const std::string& text : one.defaults) json.value(text);
  json.end_array();
  json.end_object();
}

void write_coverage(JsonWriter& json, const std::vector<IntervalCoverage>& coverage) {
  json.key("coverage");
  json.begin_array();
  for (const IntervalCoverage& group : coverage) {
    json.begin_object();
    json.member("name", group.group);
    json.member("cases", group.cases);
    json.member("inside_p10_to_p90", group.inside);
    json.member("inside_pct", group.inside_pct());
    json.member("below_p10", group.below);
    json.member("above_p90", group.above);
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string to_text(const Validation& validation) {
  const auto took_defaults = std::ranges::count_if(
      validation.cases, [](const ValidatedCase& one) { return one.ran() && !one.defaults.empty(); });
  std::string text = case_lines(validation);
  if (!validation.groups.empty()) text += "\n" + group_lines(validation.groups);
  text += coverage_text(validation.coverage);
  text += unfitting_lines(validation.cases) + skipped_lines(validation.cases);
  if (took_defaults > 0) {
    text += fmt::format("\n{} of the cases took defaults for empty cells; --format json names them.\n", took_defaults);
  }
  return text;
}

std::string to_json(const Validation& validation) {
  JsonWriter json;
  json.begin_object();
  json.key("cases");
  json.begin_array();
  for (const ValidatedCase& one : validation.cases) write_case(json, one);
  json.end_array();
  json.key("groups");
  json.begin_array();
  for (const ValidationGroup& group : validation.groups) {
    json.begin_object();
    json.member("name", group.name);
    json.member("cases", group.cases);
    optional_member(json, "mape_pct", group.mape_pct);
    optional_member(json, "maximum_pct", group.maximum_pct);
    optional_member(json, "bias_pct", group.bias_pct);
    optional_member(json, "spearman", group.spearman);
    optional_member(json, "right", group.right);
    optional_member(json, "wrong", group.wrong);
    json.end_object();
  }
  json.end_array();
  if (!validation.coverage.empty()) write_coverage(json, validation.coverage);
  json.end_object();
  return json.text();
}

std::string to_csv(const Validation& validation) {
  std::string text = csv_line({"id", "quantity", "measured", "predicted", "error_pct", "source", "fitted", "held_out",
                               "lower_bound", "skipped_reason", "defaults"});
  for (const ValidatedCase& one : validation.cases) {
    text += csv_line({one.id, one.quantity, value_text(one, one.measured, one.measured_fits),
                      value_text(one, one.predicted, one.predicted_fits),
                      one.error_pct ? format_number(*one.error_pct) : "", one.source,
                      one.ran() && one.fitted ? "true" : "false", one.ran() && !one.fitted ? "true" : "false",
                      one.lower_bound, one.skipped_reason, fmt::format("{}", fmt::join(one.defaults, "; "))});
  }
  return text;
}

}  // namespace podsim
