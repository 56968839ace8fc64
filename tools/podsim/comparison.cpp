#include "tools/podsim/comparison.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>

#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::array<std::string_view, 8> k_left_out{"tool",       "inputs", "engine",   "evidence",
                                                     "provenance", "tables", "warnings", "memory_account"};

// What tells one array element from another.
std::string element_name(const Value& element, std::size_t index) {
  for (const char* key : {"id", "name"}) {
    const Value* found = element.is(Value::Kind::table) ? element.find(key) : nullptr;
    if (found != nullptr && found->is(Value::Kind::string)) return found->as_string();
  }
  return std::to_string(index);
}

void collect(const Value& value, const std::string& name, bool headline, std::vector<Metric>& metrics) {
  switch (value.kind()) {
    case Value::Kind::null:
      return;
    case Value::Kind::boolean:
      metrics.push_back({name, value.as_boolean() ? 1.0 : 0.0, "", headline});
      return;
    case Value::Kind::integer:
    case Value::Kind::floating:
      metrics.push_back({name, value.as_number(), "", headline});
      return;
    case Value::Kind::string:
      metrics.push_back({name, std::nullopt, value.as_string(), headline});
      return;
    case Value::Kind::array:
      for (std::size_t i = 0; i < value.elements().size(); ++i) {
        const Value& element = value.elements()[i];
        collect(element, name + "[" + element_name(element, i) + "]", false, metrics);
      }
      return;
    case Value::Kind::table:
      for (const Value::Member& member : value.members()) {
        const bool names_the_element = !headline && (member.key == "id" || member.key == "name");
        if (!names_the_element) collect(member.value, name + "." + member.key, headline, metrics);
      }
      return;
  }
}

std::string printed(const Metric& metric) {
  return metric.number ? format_number(*metric.number) : metric.text;
}

MetricPair compare_one(const Metric& first, const Metric& second, double tolerance) {
  MetricPair pair{first.name, printed(first), printed(second), std::nullopt, first.headline, true};
  if (!first.number || !second.number) {
    pair.within = pair.first == pair.second;
    return pair;
  }
  const double a = *first.number;
  const double b = *second.number;
  if (a == b)
    pair.difference = 0;
  else
    pair.difference = a != 0 ? (b - a) / std::fabs(a) : std::copysign(std::numeric_limits<double>::infinity(), b);
  pair.within = std::fabs(*pair.difference) <= tolerance;
  return pair;
}

}  // namespace

std::vector<Metric> metrics_of(const Value& report) {
  std::vector<Metric> metrics;
  for (const Value::Member& member : report.members()) {
    if (std::find(k_left_out.begin(), k_left_out.end(), member.key) != k_left_out.end()) continue;
    collect(member.value, member.key, true, metrics);
  }
  return metrics;
}

std::vector<MetricPair> compare_metrics(const std::vector<Metric>& first, const std::vector<Metric>& second,
                                        double tolerance) {
  std::map<std::string, const Metric*> in_second;
  for (const Metric& metric : second) in_second.emplace(metric.name, &metric);
  std::vector<MetricPair> pairs;
  for (const Metric& metric : first) {
    const auto other = in_second.find(metric.name);
    if (other == in_second.end()) {
      pairs.push_back({metric.name, printed(metric), "", std::nullopt, metric.headline, false});
      continue;
    }
    pairs.push_back(compare_one(metric, *other->second, tolerance));
    in_second.erase(other);
  }
  for (const Metric& metric : second) {
    if (in_second.find(metric.name) == in_second.end()) continue;
    pairs.push_back({metric.name, "", printed(metric), std::nullopt, metric.headline, false});
  }
  return pairs;
}

std::optional<double> parse_tolerance(const std::string& text) {
  const bool percent = !text.empty() && text.back() == '%';
  const char* last = text.data() + text.size() - (percent ? 1 : 0);
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), last, number);
  if (error != std::errc() || end != last || !std::isfinite(number) || number < 0) return std::nullopt;
  if (!percent && number > 1) return std::nullopt;  // "5" is meant as 5 %, not as five times the value
  return percent ? number / 100 : number;
}

}  // namespace podsim
