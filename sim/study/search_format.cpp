#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "sim/core/json_writer.hpp"
#include "sim/report/human.hpp"
#include "sim/report/phrases.hpp"
#include "sim/report/text_table.hpp"
#include "sim/study/search.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

std::string setting_text(const SearchSetting& setting) {
  if (setting.value.is(Value::Kind::null)) return setting.key + ": not written";
  return fmt::format("{} = {}", setting.key, toml_text(setting.value));
}

std::string unit_of(const SearchResult& result) {
  const bool generation = result.winner && result.winner->report.mode == RunMode::generation;
  return generation ? "requests/s" : "samples/s";
}

std::string batch_text(const SearchResult& result) {
  if (!result.batch) return "";
  const BatchRange& batch = *result.batch;
  if (result.batch_kept) return fmt::format(", global batch {} kept", grouped(batch.most));
  if (batch.least == batch.most) return fmt::format(", global batch {}", grouped(batch.most));
  return fmt::format(", global batch {} to {}", grouped(batch.least), grouped(batch.most));
}

std::string head_of(const SearchResult& result) {
  const SearchCounts& counts = result.tree.counts;
  std::string text;
  if (result.winner) text = result.winner->report.name + "\n";
  text += fmt::format(
      "Search for {}{}: {} configurations, {} ruled out by bounds; {} judged, each placement by itself\n",
      result.objective == SearchObjective::smallest_system   ? "the smallest system"
      : result.objective == SearchObjective::throughput      ? "the highest throughput"
      : result.objective == SearchObjective::cost_per_sample ? "the lowest cost of a sample"
                                                             : "the most samples per joule",
      batch_text(result), grouped(counts.configurations), grouped(counts.ruled_out), grouped(counts.judged));
  if (result.tree.stopped) {
    text += fmt::format("Stopped before {} of them were looked at: there may be better ones\n",
                        grouped(counts.configurations - counts.closed));
  }
  return text;
}

// "+4.4 % against the 5,084 of the experiment as written".
// `label` says which system or varied values both have.
std::string against_text(const SearchPoint& now, const SearchPoint& before, const std::string& label) {
  constexpr double k_many = 2;
  const double factor = now.samples_per_s / before.samples_per_s;
  const std::string change =
      factor < k_many ? fmt::format("{:+.1f} %", 100 * (factor - 1)) : fmt::format("{:.3g} times", factor);
  std::string text =
      fmt::format("{} {} {} of the experiment as written{}", change, factor < k_many ? "against the" : "the",
                  human_number(before.samples_per_s), label.empty() ? "" : " with " + label);
  if (now.global_batch != before.global_batch) {
    text += fmt::format(", whose batch is {}", grouped(before.global_batch));
  }
  return text;
}

void add_line(std::string& text, const char* label, const std::string& content) {
  text += fmt::format("  {:<12} {}\n", label, content);
}

// Settings that none of the files says.
std::string beside_text(const SearchWinner& winner) {
  std::vector<std::string> beside;
  for (const SearchSetting& setting : winner.settings) {
    const bool said =
        std::ranges::any_of(winner.deployment, [&](const Deployment& file) { return file.keys.contains(setting.key); });
    if (!said && !setting.value.is(Value::Kind::null)) beside.push_back(setting_text(setting));
  }
  return beside.empty() ? "" : fmt::format("\nBeside it\n  {}\n", fmt::join(beside, "\n  "));
}

std::string winner_text(const SearchResult& result) {
  const SearchPoint& best = result.tree.best.front();
  const SearchScenario& scenario = result.scenarios[best.scenario];
  const SearchWinner& winner = *result.winner;
  std::string text = "\nBest configuration\n";
  if (!scenario.label.empty()) add_line(text, "Where", scenario.label);
  std::string rate = fmt::format("{} {}", human_number(best.samples_per_s), unit_of(result));
  if (scenario.written) {
    rate += ", " + against_text(best, *scenario.written, scenario.label);
  } else {
    rate += "; the experiment as written does not run" + (scenario.label.empty() ? "" : " with " + scenario.label);
  }
  add_line(text, "Throughput", rate);
  add_line(text, "Step",
           fmt::format("{} for {} samples, on {} devices; MFU {}", human_long_time(best.step_s),
                       grouped(best.global_batch), grouped(best.devices), human_percent(best.mfu_pct)));
  if (best.latency_s) add_line(text, "Latency", human_long_time(*best.latency_s) + " of a request");
  if (best.joules_per_sample)
    add_line(text, "Energy", human_number(*best.joules_per_sample) + " J for a sample, idle devices included");
  if (best.cost_per_sample) {
    constexpr double k_many = 1e6;
    add_line(text, "Cost",
             fmt::format("{} {} for a million samples", human_number(k_many * *best.cost_per_sample), result.currency));
  }
  add_line(text, "Memory", human_percent(best.headroom_pct) + " of the fullest memory's limit stay free");
  add_line(text, "Evidence", evidence_text(winner.report.evidence));
  if (winner.reference_ps) {
    const double native = static_cast<double>(*winner.native_ps);
    const double difference = std::fabs(static_cast<double>(*winner.reference_ps) - native) / std::max(native, 1.0);
    add_line(text, "Audit", fmt::format("simgrid agrees within {:.2g}", difference));
  }
  text += "\nSettings that differ from the experiment\n";
  if (winner.changes.empty()) text += "  none: nothing that was tried is better\n";
  for (const SearchSetting& setting : winner.changes) text += "  " + setting_text(setting) + "\n";
  for (const Deployment& file : winner.deployment) text += fmt::format("\n{}\n{}", file.name, file.text);
  return text + beside_text(winner);
}

bool same(const Value& a, const Value& b) {
  const auto number = [](const Value& value) {
    return value.is(Value::Kind::integer) || value.is(Value::Kind::floating);
  };
  if (number(a) && number(b)) return a.as_number() == b.as_number();
  if (!a.is(Value::Kind::array) || !b.is(Value::Kind::array)) return toml_text(a) == toml_text(b);
  return std::ranges::equal(a.elements(), b.elements(),
                            [](const Value& one, const Value& other) { return same(one, other); });
}

std::vector<std::string> words_of(const std::string& text) {
  std::vector<std::string> words{""};
  for (const char c : text) {
    if (c == ' ')
      words.emplace_back();
    else
      words.back() += c;
  }
  return words;
}

// Of a command its words that the other does not have, each with the option in front of it.
std::string words_beyond(const std::string& text, const std::string& other) {
  const std::vector<std::string> words = words_of(text);
  const std::vector<std::string> known = words_of(other);
  const auto is_option = [](const std::string& word) { return word.starts_with('-'); };
  std::vector<std::string> beyond;
  for (std::size_t w = 0; w < words.size(); ++w) {
    if (std::ranges::count(known, words[w]) > 0) continue;
    const bool named_before = w > 0 && is_option(words[w - 1]) && std::ranges::count(known, words[w - 1]) > 0;
    beyond.push_back(!is_option(words[w]) && named_before ? words[w - 1] + " " + words[w] : words[w]);
  }
  return fmt::format("{}", fmt::join(beyond, " "));
}

// What a configuration says otherwise than the best one.
std::string difference_text(const SearchResult& result, const SearchPoint& point) {
  const SearchPoint& best = result.tree.best.front();
  const std::vector<SearchSetting>& known = result.winner->settings;
  std::vector<std::string> parts;
  if (point.scenario != best.scenario) parts.push_back(result.scenarios[point.scenario].label);
  if (point.settings.empty() && !best.settings.empty()) parts.emplace_back("the experiment as written");
  for (const SearchSetting& setting : point.settings) {
    const auto other = std::ranges::find(known, setting.key, &SearchSetting::key);
    if (setting.value.is(Value::Kind::null) || (other != known.end() && same(other->value, setting.value))) continue;
    const std::string name = setting.key.substr(setting.key.find('.') + 1);
    const bool command = setting.value.is(Value::Kind::string) && other != known.end();
    const std::string value =
        command ? words_beyond(setting.value.as_string(), other->value.as_string()) : toml_text(setting.value);
    if (!value.empty()) parts.push_back(name + " " + value);
  }
  return fmt::format("{}", fmt::join(parts, ", "));
}

std::string points_text(const SearchResult& result, const std::string& heading, const std::vector<SearchPoint>& points,
                        const std::string& last) {
  TextTable table;
  table.column(unit_of(result), Align::right);
  table.column("devices", Align::right);
  table.column("MFU", Align::right);
  table.column("memory free", Align::right);
  table.column(last, Align::left);
  constexpr std::size_t k_longest = 240;
  for (const SearchPoint& point : points) {
    table.row({human_number(point.samples_per_s), grouped(point.devices), human_percent(point.mfu_pct),
               human_percent(point.headroom_pct), fit_width(difference_text(result, point), k_longest)});
  }
  constexpr std::size_t k_width = 320;
  return "\n" + heading + "\n" + table.text(k_width);
}

std::string amount(double value, const std::string& unit) {
  if (unit == "byte") return format_bytes(Bytes(std::llround(value)));
  if (unit == "s") return human_long_time(value);
  return human_number(value) + (unit == "1/s" ? " samples/s" : "");
}

std::string rejections_text(const SearchResult& result) {
  std::string text;
  for (const SearchRejection& rejection : result.tree.rejections) {
    if (text.empty()) text = "\nRejected, of those judged\n";
    text += fmt::format("  {} for {}", grouped(rejection.configurations), rejection.limit);
    if (rejection.nearest) {
      const BrokenLimit& nearest = *rejection.nearest;
      text += fmt::format("; the nearest misses by {}: {} needed, {} there{}",
                          human_percent(100 * rejection.missed_by()), amount(nearest.need, nearest.unit),
                          amount(nearest.have, nearest.unit), nearest.device.empty() ? "" : " on " + nearest.device);
    } else if (!rejection.reason.empty()) {
      text += ": " + rejection.reason;
    }
    text += "\n";
  }
  return text;
}

std::string space_text(const SearchResult& result) {
  std::string text;
  std::string before;
  for (const SearchScenario& scenario : result.scenarios) {
    if (!scenario.problem.empty()) continue;
    std::string own;
    for (const SearchDimension& dimension : scenario.dimensions) {
      own += fmt::format("  {}: {}\n", dimension.key, dimension.values.empty() ? "fixed" : dimension.values);
    }
    for (const std::string& note : scenario.notes) own += "  " + note + "\n";
    if (own == before) continue;
    text += fmt::format("\nTried{}\n{}", scenario.label.empty() ? "" : " for " + scenario.label, own);
    before = own;
  }
  return text;
}

std::string none_text(const SearchResult& result) {
  std::string text = "\nNo configuration fits and keeps the limits\n";
  for (const SearchScenario& scenario : result.scenarios) {
    if (scenario.written_problem.empty()) continue;
    text += fmt::format("  {}as written: {}\n", scenario.label.empty() ? "" : scenario.label + ", ",
                        scenario.written_problem);
  }
  return text;
}

// ---- JSON

void write_value(JsonWriter& json, const Value& value) {
  switch (value.kind()) {
    case Value::Kind::boolean:
      json.value(value.as_boolean());
      break;
    case Value::Kind::integer:
      json.value(value.as_integer());
      break;
    case Value::Kind::floating:
      json.value(value.as_number());
      break;
    case Value::Kind::string:
      json.value(std::string_view(value.as_string()));
      break;
    case Value::Kind::array:
      json.begin_array();
      for (const Value& element : value.elements()) write_value(json, element);
      json.end_array();
      break;
    case Value::Kind::table:
    case Value::Kind::null:
      json.null();
      break;
  }
}

void write_settings(JsonWriter& json, const char* name, const std::vector<SearchSetting>& settings) {
  json.key(name);
  json.begin_object();
  for (const SearchSetting& setting : settings) {
    json.key(setting.key);
    write_value(json, setting.value);
  }
  json.end_object();
}

void write_optional(JsonWriter& json, const char* name, const std::optional<double>& value) {
  if (value) json.member(name, *value);
}

void write_point(JsonWriter& json, const SearchResult& result, const SearchPoint& point) {
  json.begin_object();
  json.member("scenario", std::string_view(result.scenarios[point.scenario].label));
  json.member("samples_per_s", point.samples_per_s);
  json.member("devices", point.devices);
  json.member("micro_batch", point.micro_batch);
  json.member("global_batch", point.global_batch);
  json.member("step_s", point.step_s);
  json.member("mfu_pct", point.mfu_pct);
  json.member("headroom_pct", point.headroom_pct);
  write_optional(json, "request_s", point.latency_s);
  write_optional(json, "joules_per_sample", point.joules_per_sample);
  write_optional(json, "cost_per_sample", point.cost_per_sample);
  write_settings(json, "settings", point.settings);
  json.end_object();
}

void write_points(JsonWriter& json, const SearchResult& result, const char* name,
                  const std::vector<SearchPoint>& points) {
  json.key(name);
  json.begin_array();
  for (const SearchPoint& point : points) write_point(json, result, point);
  json.end_array();
}

void write_winner(JsonWriter& json, const SearchResult& result) {
  json.key("winner");
  if (!result.winner) {
    json.null();
    return;
  }
  const SearchWinner& winner = *result.winner;
  json.begin_object();
  json.key("point");
  write_point(json, result, result.tree.best.front());
  write_settings(json, "changes", winner.changes);
  json.key("files");
  json.begin_object();
  for (const Deployment& file : winner.deployment) json.member(file.name, std::string_view(file.text));
  json.end_object();
  json.member("plan_toml", std::string_view(winner.plan_toml));
  json.member("inputs_sha256", std::string_view(winner.report.inputs_sha256));
  if (winner.reference_ps) {
    json.member("native_ps", *winner.native_ps);
    json.member("simgrid_ps", *winner.reference_ps);
  }
  json.end_object();
}

void write_rejections(JsonWriter& json, const SearchResult& result) {
  json.key("rejected");
  json.begin_array();
  for (const SearchRejection& rejection : result.tree.rejections) {
    json.begin_object();
    json.member("limit", std::string_view(rejection.limit));
    json.member("configurations", rejection.configurations);
    if (!rejection.reason.empty()) json.member("reason", std::string_view(rejection.reason));
    if (rejection.nearest) {
      json.member("nearest_missed_by_pct", 100 * rejection.missed_by());
      json.member("need", rejection.nearest->need);
      json.member("have", rejection.nearest->have);
      json.member("unit", std::string_view(rejection.nearest->unit));
      json.member("device", std::string_view(rejection.nearest->device));
      write_settings(json, "settings", rejection.settings);
    }
    json.end_object();
  }
  json.end_array();
}

void write_scenarios(JsonWriter& json, const SearchResult& result) {
  json.key("scenarios");
  json.begin_array();
  for (const SearchScenario& scenario : result.scenarios) {
    json.begin_object();
    json.member("name", std::string_view(scenario.label));
    json.member("system", std::string_view(scenario.system));
    json.member("problem", std::string_view(scenario.problem));
    json.key("as_written");
    if (scenario.written) {
      write_point(json, result, *scenario.written);
    } else {
      json.null();
    }
    json.member("as_written_problem", std::string_view(scenario.written_problem));
    json.key("tried");
    json.begin_object();
    for (const SearchDimension& dimension : scenario.dimensions) {
      json.member(dimension.key, std::string_view(dimension.values.empty() ? "fixed" : dimension.values));
    }
    json.end_object();
    json.end_object();
  }
  json.end_array();
}

}  // namespace

std::string to_text(const SearchResult& result) {
  std::string text = head_of(result);
  if (result.winner) {
    text += winner_text(result);
    std::vector<SearchPoint> others(result.tree.best.begin() + 1, result.tree.best.end());
    if (!others.empty())
      text += points_text(result, fmt::format("Runners-up, but for those alike within {:g} %", 100 * k_alike), others,
                          "differs from the best in");
    if (result.tree.front.size() > 1) {
      text += points_text(result, "Throughput against devices", result.tree.front, "differs from the best in");
    }
  } else {
    text += none_text(result);
  }
  text += rejections_text(result);
  for (const SearchScenario& scenario : result.scenarios) {
    if (!scenario.problem.empty())
      text += fmt::format("\n{} cannot be searched: {}\n", scenario.label, scenario.problem);
  }
  text += space_text(result);
  if (!result.warnings.empty()) text += "\nWarnings\n";
  for (const std::string& warning : result.warnings) text += "  " + warning + "\n";
  return text;
}

std::string to_json(const SearchResult& result) {
  const SearchCounts& counts = result.tree.counts;
  JsonWriter json;
  json.begin_object();
  json.member("objective", name(result.objective));
  if (result.batch) {
    json.member("least_global_batch", result.batch->least);
    json.member("most_global_batch", result.batch->most);
  }
  json.member("currency", std::string_view(result.currency));
  json.key("counts");
  json.begin_object();
  json.member("configurations", counts.configurations);
  json.member("ruled_out", counts.ruled_out);
  json.member("judged", counts.judged);
  json.member("complete", !result.tree.stopped);
  json.end_object();
  write_winner(json, result);
  const auto first = result.tree.best.begin();
  write_points(json, result, "runners_up", {result.tree.best.empty() ? first : first + 1, result.tree.best.end()});
  write_points(json, result, "front", result.tree.front);
  write_rejections(json, result);
  write_scenarios(json, result);
  json.key("warnings");
  json.begin_array();
  for (const std::string& warning : result.warnings) json.value(std::string_view(warning));
  json.end_array();
  json.end_object();
  return json.text();
}

}  // namespace podsim
