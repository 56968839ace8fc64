#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/core/json_writer.hpp"
#include "sim/report/human.hpp"
#include "sim/report/text_table.hpp"
#include "sim/study/comparison.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_most_details = 20;

std::string change_text(const MetricChange& metric) {
  if (!metric.change) return "";
  if (!std::isfinite(*metric.change)) return *metric.change > 0 ? "+inf %" : "-inf %";
  return fmt::format("{:+.3f} %", 100 * *metric.change);
}

std::string or_dash(const std::string& text) {
  return text.empty() ? "-" : text;
}

// Numbers with seven digits, the change beside them is of the whole ones; texts as far as they fit.
std::string shortened(const std::string& text) {
  constexpr std::size_t k_most = 20;
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? fmt::format("{:.7g}", number) : fit_width(or_dash(text), k_most);
}

std::string xml(const std::string& text) {
  std::string result;
  for (const char c : text) {
    if (c == '&')
      result += "&amp;";
    else if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '"')
      result += "&quot;";
    else
      result += static_cast<unsigned char>(c) < 0x20 ? ' ' : c;
  }
  return result;
}

std::string summary_of(const Comparison& comparison) {
  const std::size_t of_one = comparison.count(ChangeVerdict::missing) + comparison.count(ChangeVerdict::added);
  std::string text = comparison.coverage.empty() ? "" : comparison.coverage + "\n";
  text += fmt::format("{} metrics compared", comparison.metrics.size() - of_one);
  for (const ChangeVerdict verdict : {ChangeVerdict::worse, ChangeVerdict::better, ChangeVerdict::changed,
                                      ChangeVerdict::missing, ChangeVerdict::added}) {
    const std::size_t count = comparison.count(verdict);
    if (count > 0) text += fmt::format(", {} {}", count, verdict == ChangeVerdict::worse ? "worse" : name(verdict));
  }
  return text + (comparison.differs() ? "" : ", all within the tolerance");
}

}  // namespace

std::string to_text(const Comparison& comparison, bool all) {
  TextTable table;
  table.column("metric", Align::left, Overflow::wrap);
  table.column("A", Align::right);
  table.column("B", Align::right);
  table.column("change", Align::right);
  table.column("verdict", Align::left);
  const auto is_detail = [](const MetricChange& metric) {
    return !metric.headline && metric.verdict != ChangeVerdict::same;
  };
  const auto details = static_cast<std::size_t>(std::ranges::count_if(comparison.metrics, is_detail));
  for (const MetricChange& metric : comparison.metrics) {
    const bool of_whole = metric.headline && (metric.judged || metric.verdict != ChangeVerdict::same);
    if (!all && !of_whole && !(is_detail(metric) && details <= k_most_details)) continue;
    table.row({metric.name, shortened(metric.before), shortened(metric.after), change_text(metric),
               std::string(name(metric.verdict))});
  }
  std::string text = table.text();
  if (!all && details > k_most_details) {
    text += fmt::format("  … and {} more of single parts; --all shows them\n", details);
  }
  const std::vector<std::string> reasons = comparison.sentences();
  if (!reasons.empty()) text += "\nWhy\n";
  for (const std::string& reason : reasons) text += "  " + reason + "\n";
  return text + "\n" + summary_of(comparison) + "\n";
}

std::string to_json(const Comparison& comparison) {
  JsonWriter json;
  json.begin_object();
  json.member("kind", std::string_view(comparison.kind));
  json.member("regressed", comparison.regressed());
  json.key("metrics");
  json.begin_array();
  for (const MetricChange& metric : comparison.metrics) {
    json.begin_object();
    json.member("name", std::string_view(metric.name));
    json.member("before", std::string_view(metric.before));
    json.member("after", std::string_view(metric.after));
    json.key("change_pct");
    if (metric.change && std::isfinite(*metric.change))
      json.value(100 * *metric.change);
    else
      json.null();
    json.member("verdict", name(metric.verdict));
    json.end_object();
  }
  json.end_array();
  json.key("reasons");
  json.begin_array();
  for (const std::string& reason : comparison.sentences()) json.value(std::string_view(reason));
  json.end_array();
  json.end_object();
  return json.text();
}

std::string to_junit(const Comparison& comparison) {
  std::string cases;
  std::size_t skipped = 0;
  for (const MetricChange& metric : comparison.metrics) {
    if (metric.verdict == ChangeVerdict::added) continue;
    cases += fmt::format("  <testcase classname=\"{}\" name=\"{}\"", comparison.kind, xml(metric.name));
    const std::string what =
        xml(fmt::format("{} -> {} {}", or_dash(metric.before), or_dash(metric.after), change_text(metric)));
    if (metric.verdict == ChangeVerdict::worse) {
      cases += fmt::format(">\n    <failure message=\"{}\"/>\n  </testcase>\n", what);
    } else if (metric.verdict == ChangeVerdict::missing) {
      ++skipped;
      cases += fmt::format(">\n    <skipped message=\"{}\"/>\n  </testcase>\n", what);
    } else {
      cases += "/>\n";
    }
  }
  const std::size_t tests = comparison.metrics.size() - comparison.count(ChangeVerdict::added);
  std::string text = "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n";
  text += fmt::format("<testsuite name=\"podsim compare\" tests=\"{}\" failures=\"{}\" errors=\"0\" skipped=\"{}\">\n",
                      tests, comparison.count(ChangeVerdict::worse), skipped);
  text += cases;
  const std::vector<std::string> reasons = comparison.sentences();
  if (!reasons.empty()) {
    text += "  <system-out>";
    for (const std::string& reason : reasons) text += xml(reason) + "\n";
    text += "</system-out>\n";
  }
  return text + "</testsuite>\n";
}

}  // namespace podsim
