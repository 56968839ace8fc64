#include "sim/study/comparison.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include "sim/report/metrics.hpp"
#include "sim/study/sweep_axes.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::array<std::string_view, 11> k_left_out{
    "tool",     "inputs",         "engine",   "evidence", "provenance",           "tables",
    "warnings", "memory_account", "interval", "levers",   "assumed_constants_pct"};

struct Metric {
  std::string name;
  std::optional<double> number;  // a truth value is 0 or 1
  std::string text;              // of a text
  bool headline = true;
};

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
        const bool is_twice_there = name == "step" && member.key == "time_ps";
        if (!names_the_element && !is_twice_there) collect(member.value, name + "." + member.key, headline, metrics);
      }
      return;
  }
}

std::vector<Metric> metrics_of(const Value& report) {
  std::vector<Metric> metrics;
  for (const Value::Member& member : report.members()) {
    if (std::find(k_left_out.begin(), k_left_out.end(), member.key) != k_left_out.end()) continue;
    collect(member.value, member.key, true, metrics);
  }
  return metrics;
}

std::string printed(const Metric& metric) {
  return metric.number ? format_number(*metric.number) : metric.text;
}

std::string unit_of(const Metric& metric) {
  return metric.number ? std::string(unit_by_name(metric.name)) : std::string();
}

bool is_judged(const std::string& name, bool same_batch) {
  if (name == "step.time_s") return same_batch;
  if (name == "throughput.hfu_pct") return false;  // more of it may be more recomputation
  for (const std::string_view part : {"throughput.", "latency.", "training.time_s", "energy.joules_per_sample"}) {
    if (name.starts_with(part)) return true;
  }
  return name == "verdict.fits";
}

// Where a change beyond the tolerance leads.
ChangeVerdict direction_of(const std::string& name, double change, bool judged) {
  if (!judged) return ChangeVerdict::changed;
  const bool higher = name == "verdict.fits" || better_value(name) == Better::higher;
  return (change > 0) == higher ? ChangeVerdict::better : ChangeVerdict::worse;
}

double relative_change(double before, double after) {
  if (before == after) return 0;
  return before != 0 ? (after - before) / std::fabs(before)
                     : std::copysign(std::numeric_limits<double>::infinity(), after);
}

MetricChange compare_one(const Metric& before, const Metric& after, double tolerance, bool same_batch) {
  const bool judged = is_judged(before.name, same_batch);
  MetricChange result{before.name,     printed(before),     printed(after), std::nullopt,
                      before.headline, ChangeVerdict::same, judged,         unit_of(before)};
  if (!before.number || !after.number) {
    if (result.before != result.after) result.verdict = ChangeVerdict::changed;
    return result;
  }
  result.change = relative_change(*before.number, *after.number);
  if (std::fabs(*result.change) <= tolerance) return result;
  result.verdict = direction_of(before.name, *result.change, judged);
  return result;
}

std::vector<MetricChange> compare_metrics(const std::vector<Metric>& before, const std::vector<Metric>& after,
                                          double tolerance, bool same_batch) {
  std::map<std::string, const Metric*> rest;
  for (const Metric& metric : after) rest.emplace(metric.name, &metric);
  std::vector<MetricChange> changes;
  for (const Metric& metric : before) {
    const auto other = rest.find(metric.name);
    if (other == rest.end()) {
      const bool judged = is_judged(metric.name, same_batch);
      const ChangeVerdict verdict = judged ? ChangeVerdict::worse : ChangeVerdict::missing;
      changes.push_back(
          {metric.name, printed(metric), "", std::nullopt, metric.headline, verdict, judged, unit_of(metric)});
      continue;
    }
    changes.push_back(compare_one(metric, *other->second, tolerance, same_batch));
    rest.erase(other);
  }
  for (const Metric& metric : after) {
    if (!rest.contains(metric.name)) continue;
    changes.push_back({metric.name, "", printed(metric), std::nullopt, metric.headline, ChangeVerdict::added, false,
                       unit_of(metric)});
  }
  return changes;
}

double number_at(const Value& value, std::string_view path) {
  const Value* found = value.find(path);
  const bool is_number = found != nullptr && (found->is(Value::Kind::integer) || found->is(Value::Kind::floating));
  return is_number ? found->as_number() : 0;
}

std::string signed_percent(double share) {
  return fmt::format("{:+.1f} %", 100 * share);
}

// The parts of the step of the busiest device, or of the time per sample where the batches differ.
void add_parts(const Value& before, const Value& after, bool same_batch, Comparison& comparison) {
  const Value* parts = before.find("step.breakdown_s");
  const double samples_before = same_batch ? 1 : number_at(before, "step.samples");
  const double samples_after = same_batch ? 1 : number_at(after, "step.samples");
  if (parts == nullptr || after.find("step.breakdown_s") == nullptr || samples_before <= 0 || samples_after <= 0)
    return;
  comparison.parts_of_sample = !same_batch;
  for (const Value::Member& part : parts->members()) {
    const std::string path = "step.breakdown_s." + part.key;
    comparison.parts.push_back(
        {part.key, seconds(number_at(before, path) / samples_before), seconds(number_at(after, path) / samples_after)});
  }
}

std::string signed_time(double delta) {
  return (delta > 0 ? "+" : "-") + format_time(seconds(std::fabs(delta)));
}

// What moved, the largest part first.
void add_moved(const Value& before, const Value& after, Comparison& comparison) {
  if (comparison.parts.empty()) return;
  const bool of_sample = comparison.parts_of_sample;
  const double time = number_at(before, "step.time_s") / (of_sample ? number_at(before, "step.samples") : 1);
  const double whole = number_at(after, "step.time_s") / (of_sample ? number_at(after, "step.samples") : 1) - time;
  if (!(time > 0) || whole == 0) return;
  std::vector<std::pair<double, std::string>> moved;
  for (const PartChange& part : comparison.parts) {
    const double delta = (part.after - part.before).in_base();
    constexpr double k_worth_telling = 0.02;  // of the whole change
    if (std::fabs(delta) < k_worth_telling * std::fabs(whole)) continue;
    moved.emplace_back(delta, part.name + " " + signed_time(delta));
  }
  std::stable_sort(moved.begin(), moved.end(),
                   [](const auto& a, const auto& b) { return std::fabs(a.first) > std::fabs(b.first); });
  std::vector<std::string> texts;
  for (const auto& [delta, text] : moved) texts.push_back(text);
  comparison.reasons.push_back(fmt::format("the {} changes by {} ({}): {}", of_sample ? "time per sample" : "step",
                                           signed_percent(whole / time), signed_time(whole), fmt::join(texts, ", ")));
}

void add_cycle(const Value& before, const Value& after, std::vector<std::string>& reasons) {
  const double first = number_at(before, "schedule.cycle_time_s");
  const double second = number_at(after, "schedule.cycle_time_s");
  if (!(first > 0) || !(second > 0) || first == second) return;
  std::string text =
      fmt::format("the cycle is {} by {:.1f} %: {} -> {}", second < first ? "shorter" : "longer",
                  100 * std::fabs(second / first - 1), format_time(seconds(first)), format_time(seconds(second)));
  const double cycles_before = number_at(before, "schedule.cycles_per_update");
  const double cycles_after = number_at(after, "schedule.cycles_per_update");
  text += cycles_before == cycles_after ? fmt::format(", {} of them per update in both", cycles_before)
                                        : fmt::format(", {} -> {} of them per update", cycles_before, cycles_after);
  reasons.push_back(text);
}

// Constants by name, as written.
Value constants_of(const Value& report) {
  Value constants = Value::table({});
  const Value* provenance = report.find("provenance");
  if (provenance == nullptr || !provenance->is(Value::Kind::array)) return constants;
  for (const Value& constant : provenance->elements()) {
    const Value* name = constant.find("constant");
    const Value* written = constant.find("written");
    if (name != nullptr && written != nullptr) constants.add(name->as_string(), {}, *written);
  }
  return constants;
}

void add_listed(const std::string& what, const std::vector<std::string>& differences,
                std::vector<std::string>& reasons) {
  for (const std::string& difference : differences) reasons.push_back(what + " " + difference);
}

std::string tool_of(const Value& report) {
  const Value* version = report.find("tool.version");
  const Value* commit = report.find("tool.commit");
  if (version == nullptr || commit == nullptr) return "";
  return version->as_string() + " (" + commit->as_string() + ")";
}

void add_reasons(const Value& before, const Value& after, bool same_batch, Comparison& comparison) {
  std::vector<std::string>& reasons = comparison.reasons;
  if (!same_batch) {
    reasons.push_back(fmt::format("the global batch differs: {} -> {}; the time of a step is not judged",
                                  number_at(before, "batch.global"), number_at(after, "batch.global")));
  }
  add_moved(before, after, comparison);
  add_cycle(before, after, reasons);
  if (tool_of(before) != tool_of(after)) {
    reasons.push_back(fmt::format("another podsim: {} -> {}", tool_of(before), tool_of(after)));
  }
  const Value* inputs_before = before.find("inputs.plan");
  const Value* inputs_after = after.find("inputs.plan");
  if (inputs_before != nullptr && inputs_after != nullptr) {
    add_listed("input", differences_of(*inputs_before, *inputs_after), reasons);
  }
  add_listed("constant", differences_of(constants_of(before), constants_of(after)), reasons);
}

std::string text_at(const Value& value, std::string_view path) {
  const Value* found = value.find(path);
  return found != nullptr && found->is(Value::Kind::string) ? found->as_string() : std::string();
}

std::string origin_of(const Value& report) {
  return podsim::origin_of(text_at(report, "inputs.plan.name"),
                           tool_of(report).empty() ? "" : "podsim " + tool_of(report),
                           text_at(report, "inputs.sha256"));
}

}  // namespace

Comparison compare_runs(const Value& before, const Value& after, double tolerance) {
  const bool same_batch = number_at(before, "batch.global") == number_at(after, "batch.global");
  Comparison comparison{"runs", compare_metrics(metrics_of(before), metrics_of(after), tolerance, same_batch), {}};
  comparison.before_is = origin_of(before);
  comparison.after_is = origin_of(after);
  add_parts(before, after, same_batch, comparison);
  add_reasons(before, after, same_batch, comparison);
  return comparison;
}

std::string origin_of(const std::string& name, const std::string& tool, const std::string& inputs_sha256) {
  std::vector<std::string> parts;
  if (!name.empty()) parts.push_back(name);
  if (!tool.empty()) parts.push_back(tool);
  if (!inputs_sha256.empty()) parts.push_back(fmt::format("inputs {:.12}…", inputs_sha256));
  return fmt::format("{}", fmt::join(parts, ", "));
}

MetricChange compare_numbers(std::string name, double before, double after, double tolerance) {
  MetricChange result;
  result.name = std::move(name);
  result.before = format_significant(before);
  result.after = format_significant(after);
  result.change = relative_change(before, after);
  result.judged = true;
  result.unit = unit_by_name(result.name);
  if (std::fabs(*result.change) > tolerance) result.verdict = direction_of(result.name, *result.change, true);
  return result;
}

std::vector<std::pair<std::string, Value>> leaves_of(const Value& table) {
  std::vector<std::pair<std::string, Value>> leaves;
  for (const Value::Member& member : table.members()) {
    if (!member.value.is(Value::Kind::table)) {
      leaves.emplace_back(member.key, member.value);
      continue;
    }
    for (auto& [path, value] : leaves_of(member.value)) leaves.emplace_back(member.key + "." + path, std::move(value));
  }
  return leaves;
}

std::vector<std::string> differences_of(const Value& before, const Value& after) {
  std::map<std::string, std::string> rest;
  for (const auto& [path, value] : leaves_of(after)) rest.emplace(path, toml_text(value));
  std::vector<std::string> differences;
  for (const auto& [path, value] : leaves_of(before)) {
    const auto other = rest.find(path);
    const std::string text = toml_text(value);
    if (other == rest.end()) {
      differences.push_back(fmt::format("{}: {} -> none", path, text));
      continue;
    }
    if (other->second != text) differences.push_back(fmt::format("{}: {} -> {}", path, text, other->second));
    rest.erase(other);
  }
  for (const auto& [path, value] : leaves_of(after)) {
    if (rest.contains(path)) differences.push_back(fmt::format("{}: none -> {}", path, toml_text(value)));
  }
  return differences;
}

bool Comparison::regressed() const {
  return std::ranges::any_of(metrics, [](const MetricChange& m) { return m.verdict == ChangeVerdict::worse; });
}

std::size_t Comparison::count(ChangeVerdict verdict) const {
  return static_cast<std::size_t>(std::ranges::count(metrics, verdict, &MetricChange::verdict));
}

std::vector<std::string> Comparison::sentences() const {
  std::vector<std::string> all = reasons;
  for (const InputEffect& effect : effects) all.push_back(sentence_of(effect));
  all.insert(all.end(), beyond.begin(), beyond.end());
  return all;
}

bool Comparison::differs() const {
  return std::ranges::any_of(metrics, [](const MetricChange& m) { return m.verdict != ChangeVerdict::same; });
}

std::string_view name(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::same:
      return "ok";
    case ChangeVerdict::better:
      return "better";
    case ChangeVerdict::worse:
      return "WORSE";
    case ChangeVerdict::changed:
      return "changed";
    case ChangeVerdict::missing:
      return "missing in B";
    case ChangeVerdict::added:
      return "missing in A";
  }
  return "";
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
