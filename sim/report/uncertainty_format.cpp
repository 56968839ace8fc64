#include "sim/report/uncertainty_format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include "sim/report/human.hpp"
#include "sim/report/phrases.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_shown_levers = 3;
constexpr std::array<const char*, 3> k_kinds = {"resource", "constant", "setting"};

struct ShownRate {
  const char* unit;
  double per_sample;
};

// The first rate that the head shows.
ShownRate shown_rate(const Report& report) {
  if (!report.throughput) return {report.batch.images ? "images" : "samples", 1};
  const Throughput& t = *report.throughput;
  const std::array<std::pair<const char*, std::optional<double>>, 4> rates = {{{"sequences", t.sequences_per_s},
                                                                               {"packs", t.packs_per_s},
                                                                               {"images", t.images_per_s},
                                                                               {"tokens", t.tokens_per_s}}};
  for (const auto& [unit, rate] : rates) {
    if (rate && t.samples_per_s > 0) return {unit, *rate / t.samples_per_s};
  }
  return {"samples", 1};
}

void write_quantiles(JsonWriter& json, std::string_view key, const std::optional<Quantiles>& quantiles) {
  json.key(key);
  if (!quantiles) return json.null();
  json.begin_object();
  json.member("p10", quantiles->p10);
  json.member("p50", quantiles->p50);
  json.member("p90", quantiles->p90);
  json.end_object();
}

void write_interval(JsonWriter& json, const IntervalReport& interval) {
  json.begin_object();
  json.member("seed", interval.seed);
  json.member("draws", interval.draws);
  json.member("varied_constants", interval.varied);
  json.member("fits_pct", interval.fits_pct);
  write_quantiles(json, "samples_per_s", interval.samples_per_s);
  write_quantiles(json, "step_s", interval.step_s);
  json.member("model_factor", interval.model_factor);
  json.key("parts");
  json.begin_array();
  for (const IntervalPart& part : interval.parts) {
    json.begin_object();
    json.member("constant", part.constant);
    json.member("confidence", part.confidence);
    json.member("p10", part.low);
    json.member("p90", part.high);
    json.member("share_pct", part.share_pct);
    json.end_object();
  }
  json.end_array();
  json.end_object();
}

}  // namespace

std::string interval_headline(const Report& report) {
  const IntervalReport& interval = *report.interval;
  const std::string fits = fmt::format("fits in {} of {} draws", human_percent(interval.fits_pct), interval.draws);
  if (!interval.samples_per_s) return fits + ", too few for a rate";
  const ShownRate shown = shown_rate(report);
  const Quantiles& rate = *interval.samples_per_s;
  return fmt::format("{} to {} {}/s in eight cases of ten (P10 to P90, P50 {}); {}",
                     human_number(rate.p10 * shown.per_sample), human_number(rate.p90 * shown.per_sample), shown.unit,
                     human_number(rate.p50 * shown.per_sample), fits);
}

std::vector<std::string> interval_lines(const IntervalReport& interval) {
  std::vector<std::string> lines{fmt::format("{} runs, each under {} constants drawn from their spreads, seed {}",
                                             interval.draws, interval.varied, interval.seed)};
  if (interval.model_factor > 1) {
    lines.push_back(fmt::format("and what the model leaves out, by a factor of {:.3g} up or down in eight cases of ten",
                                interval.model_factor));
  }
  lines.emplace_back("constants are drawn independently: those that were fitted together may be off together");
  return lines;
}

Table interval_table(const IntervalReport& interval) {
  Table table{"interval", {{"constant", ""}, {"confidence", ""}, {"P10", ""}, {"P90", ""}, {"share_pct", "%"}}, {}};
  for (const IntervalPart& part : interval.parts) {
    table.rows.push_back({part.constant, part.confidence, part.low, part.high, part.share_pct});
  }
  return table;
}

std::vector<std::string> lever_lines(const std::vector<Lever>& levers) {
  std::vector<std::string> lines;
  for (const Lever& lever : levers) {
    constexpr double k_least_pct = 0.05;
    if (lines.size() == k_shown_levers) break;
    if (!lever.throughput_pct || *lever.throughput_pct < k_least_pct) continue;
    lines.push_back(fmt::format("{:+.1f} %  {} {}", *lever.throughput_pct, lever.name, lever.change));
  }
  return lines;
}

std::string assumed_line(const Report& report) {
  constexpr double k_much_pct = 10;
  if (!report.assumed_pct || *report.assumed_pct <= k_much_pct || report.interval) return "";
  return fmt::format("{} of the step rest on assumed constants: --interval tells how far it may be off",
                     human_percent(*report.assumed_pct));
}

void write_uncertainty(JsonWriter& json, const Report& report) {
  json.key("interval");
  report.interval ? write_interval(json, *report.interval) : json.null();
  json.key("levers");
  json.begin_array();
  for (const Lever& lever : report.levers) {
    json.begin_object();
    json.member("name", lever.name);
    json.member("kind", k_kinds[static_cast<std::size_t>(lever.kind)]);
    json.member("change", lever.change);
    json.key("throughput_pct");
    lever.throughput_pct ? json.value(*lever.throughput_pct) : json.null();
    json.member("verdict", lever.verdict);
    json.end_object();
  }
  json.end_array();
  json.key("assumed_constants_pct");
  report.assumed_pct ? json.value(*report.assumed_pct) : json.null();
}

}  // namespace podsim
