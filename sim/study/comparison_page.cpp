#include "sim/study/comparison_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

#include "sim/report/human.hpp"
#include "sim/report/phrases.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_most_rows = 500;
constexpr std::size_t k_most_facts = 6;  // metrics in the head of the page

// Of the palette of a page. Better and worse are blue and vermilion, which differ to all kinds of eyes.
constexpr int k_blue = 0;
constexpr int k_orange = 2;
constexpr int k_vermilion = 4;
constexpr int k_purple = 5;
constexpr int k_grey = 10;

int colour_of(ChangeVerdict verdict) {
  switch (verdict) {
    case ChangeVerdict::same:
      return k_grey;
    case ChangeVerdict::better:
      return k_blue;
    case ChangeVerdict::worse:
      return k_vermilion;
    case ChangeVerdict::changed:
    case ChangeVerdict::missing:
    case ChangeVerdict::added:
      return k_purple;
  }
  return k_grey;
}

// As people read it: "512" of a batch, "380 us" of a time, "fits".
std::string shown(const MetricChange& metric, const std::string& text) {
  if (metric.name == "verdict.fits") return text == "1" ? "fits" : text.empty() ? "" : "does not fit";
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool is_number = error == std::errc() && end == text.data() + text.size();
  return is_number ? cell_text(Cell(number), {"", metric.unit}) : text;
}

Cell change_cell(const MetricChange& metric) {
  return metric.change && std::isfinite(*metric.change) ? Cell(100 * *metric.change) : Cell();
}

std::string signed_share(double fraction) {
  return (fraction > 0 ? "+" : fraction < 0 ? "-" : "") + human_share(std::fabs(fraction));
}

// Errors of cases are compared by percentage points.
std::string change_heading(const Comparison& comparison) {
  return comparison.kind == "validations" ? "change, percentage points" : "change";
}

std::string change_unit(const Comparison& comparison) {
  return comparison.kind == "validations" ? "" : "%";
}

Table metrics_table(const Comparison& comparison) {
  return {
      "metrics",
      {{"metric", ""}, {"A", ""}, {"B", ""}, {change_heading(comparison), change_unit(comparison)}, {"verdict", ""}},
      {}};
}

void add_row(const MetricChange& metric, Table& table) {
  table.rows.push_back({metric.name, shown(metric, metric.before), shown(metric, metric.after), change_cell(metric),
                        std::string(name(metric.verdict))});
}

// Worse, better, otherwise changed, the same.
int rank_of(ChangeVerdict verdict) {
  return verdict == ChangeVerdict::worse    ? 0
         : verdict == ChangeVerdict::better ? 1
         : verdict != ChangeVerdict::same   ? 2
                                            : 3;
}

// Those of the whole that are judged or differ. A validation has a hundred alike: what is worse comes first there.
std::vector<const MetricChange*> metrics_of_whole(const Comparison& comparison) {
  std::vector<const MetricChange*> metrics;
  for (const MetricChange& metric : comparison.metrics) {
    if (!metric.headline || (!metric.judged && metric.verdict == ChangeVerdict::same)) continue;
    if (!comparison.parts.empty() && metric.name.starts_with("step.breakdown_s.")) continue;  // they have a section
    metrics.push_back(&metric);
  }
  if (comparison.kind == "validations") {
    std::ranges::stable_sort(metrics, {}, [](const MetricChange* metric) {
      return std::pair(rank_of(metric->verdict), -std::fabs(metric->change.value_or(0)));
    });
  }
  return metrics;
}

PageSection metrics_section(const Comparison& comparison) {
  PageSection section{"Before and after", {}, {}, {}};
  Table table = metrics_table(comparison);
  Chart chart{.kind = ChartKind::bars, .labels = 0, .values = {3}};
  chart.groups = 4;
  for (const MetricChange* metric : metrics_of_whole(comparison)) {
    add_row(*metric, table);
    chart.row_colours.push_back(colour_of(metric->verdict));
  }
  if (table.rows.empty()) section.notes.push_back("Nothing of the whole is judged or differs.");
  const bool any = std::ranges::any_of(table.rows, [](const auto& row) { return row[3] != Cell(); });
  if (any) section.charts.push_back(chart);
  section.table = shortened(std::move(table), k_most_rows, section.notes);
  return section;
}

std::optional<PageSection> parts_section(const Comparison& comparison) {
  Table table{"parts", {{"category", ""}, {"A_s", "s"}, {"B_s", "s"}, {"change_s", "s"}, {"of all of A_pct", "%"}}, {}};
  Duration whole;
  for (const PartChange& part : comparison.parts) whole += part.before;
  for (const PartChange& part : comparison.parts) {
    if (part.before == Duration() && part.after == Duration()) continue;
    std::string category = part.name;
    std::ranges::replace(category, '_', ' ');
    const Duration change = part.after - part.before;
    table.rows.push_back({category, part.before.in_base(), part.after.in_base(), change.in_base(),
                          percent_of(change.in_base(), whole.in_base())});
  }
  if (table.rows.empty()) return std::nullopt;
  PageSection section{comparison.parts_of_sample ? "Time per sample" : "Step", {}, {}, {}};
  section.notes.push_back(comparison.parts_of_sample
                              ? "Of the busiest device; divided by the samples of a step, since the batches differ."
                              : "Of the busiest device; the parts add up to the step.");
  Chart chart{.kind = ChartKind::bars, .labels = 0, .values = {1, 2}};
  chart.colours = {k_blue, k_orange};
  section.charts.push_back(chart);
  section.table = std::move(table);
  return section;
}

std::optional<PageSection> effects_section(const Comparison& comparison) {
  if (comparison.effects.empty()) return std::nullopt;
  Table table{
      "effects", {{"input", ""}, {"samples per second", "%"}, {"cycle", "%"}, {"seen as", ""}, {"what it is", ""}}, {}};
  const auto percent = [](const std::optional<double>& change) { return change ? Cell(100 * *change) : Cell(); };
  bool any = false;
  for (const InputEffect& effect : comparison.effects) {
    const char* const seen = !effect.rate_change ? "cannot be had without the others"
                             : effect.alone      ? "the only change from A"
                                                 : "the last change before B";
    any = any || effect.rate_change;
    table.rows.push_back(
        {effect.inputs, percent(effect.rate_change), percent(effect.cycle_change), std::string(seen), effect.meaning});
  }
  PageSection section{
      "Which input makes the difference", {"A was simulated again with one input at a time taken from B."}, {}, {}};
  for (const std::string& sentence : comparison.beyond) section.notes.push_back(sentence + ".");
  if (any) section.charts.push_back(Chart{.kind = ChartKind::bars, .labels = 0, .values = {1}});
  section.table = shortened(std::move(table), k_most_rows, section.notes);
  return section;
}

std::optional<PageSection> reasons_section(const Comparison& comparison) {
  Table table{"reasons", {{"what differs", ""}}, {}};
  for (const std::string& reason : comparison.reasons) table.rows.push_back({reason});
  if (comparison.effects.empty()) {
    for (const std::string& sentence : comparison.beyond) table.rows.push_back({sentence});
  }
  if (table.rows.empty()) return std::nullopt;
  PageSection section{"Why", {}, {}, {}};
  section.table = shortened(std::move(table), k_most_rows, section.notes);
  return section;
}

double moved(const PairedValues::Pair& pair) {
  return std::fabs(pair.after - pair.before);
}

// A point for each, on the full line where nothing changed.
PageSection pairs_section(const Comparison& comparison, const PairedValues& paired, double tolerance) {
  const bool errors = comparison.kind == "validations";
  const bool positive =
      std::ranges::all_of(paired.pairs, [](const auto& pair) { return pair.before > 0 && pair.after > 0; });
  Table table{paired.what,
              {{errors ? "case" : "point", ""},
               {paired.what + " in A", paired.unit},
               {paired.what + " in B", paired.unit},
               {change_heading(comparison), change_unit(comparison)}},
              {}};
  std::vector<PairedValues::Pair> pairs = paired.pairs;
  std::ranges::stable_sort(pairs, std::ranges::greater(), moved);
  for (const PairedValues::Pair& pair : pairs) {
    const double change = pair.after - pair.before;
    table.rows.push_back({pair.name, pair.before, pair.after,
                          errors             ? Cell(change)
                          : pair.before != 0 ? Cell(100 * change / std::fabs(pair.before))
                                             : Cell()});
  }
  PageSection section{(errors ? "Error, case by case" : paired.what + ", point by point"), {}, {}, {}};
  section.notes.push_back(
      errors ? "Below the full line a case is closer in B."
             : fmt::format("On the full line both are equal; the broken ones are {} away.", human_share(tolerance)));
  Chart chart{.kind = ChartKind::points, .labels = 1, .values = {2}};
  chart.names = 0;
  chart.logarithmic = chart.logarithmic_x = positive || errors;
  chart.bands_pct = {0};
  if (!errors && tolerance > 0) chart.bands_pct = {0, 100 * tolerance, -100 * tolerance};
  if (table.rows.size() > 1) section.charts.push_back(chart);
  section.table =
      shortened(std::move(table), k_most_rows, section.notes, errors ? "--format json" : "podsim sweep export of each");
  return section;
}

PageSection all_section(const Comparison& comparison) {
  Table table = metrics_table(comparison);
  std::vector<const MetricChange*> order;
  for (const MetricChange& metric : comparison.metrics) order.push_back(&metric);
  // What is the same goes first where not all have room.
  if (order.size() > k_most_rows) {
    std::ranges::stable_partition(order, [](const auto* metric) { return metric->verdict != ChangeVerdict::same; });
  }
  for (const MetricChange* metric : order) add_row(*metric, table);
  PageSection section{"All metrics", {}, {}, {}, true};
  section.table = shortened(std::move(table), k_most_rows, section.notes);
  return section;
}

PageFact result_fact(const Comparison& comparison) {
  const std::size_t worse = comparison.count(ChangeVerdict::worse);
  const std::size_t better = comparison.count(ChangeVerdict::better);
  const auto metrics = [](std::size_t number) { return counted(static_cast<std::int64_t>(number), "metric"); };
  if (worse > 0) {
    return {"Result", metrics(worse) + " worse" + (better > 0 ? fmt::format(", {} better", better) : ""), Tone::bad};
  }
  if (better > 0) return {"Result", metrics(better) + " better, none worse", Tone::good};
  if (comparison.differs()) return {"Result", "nothing better or worse, but not the same", Tone::caution};
  return {"Result", "all within the tolerance", Tone::good};
}

// Whether it says no more than others of a run.
bool is_told_twice(const std::string& name) {
  constexpr std::array<std::string_view, 4> k_twice{"throughput.packs_per_s", "throughput.effective_samples_per_s",
                                                    "throughput.samples_per_s_per_device", "verdict.fits"};
  return std::ranges::find(k_twice, name) != k_twice.end();
}

// The first of the judged metrics of the whole that both have.
void add_metric_facts(const Comparison& comparison, std::vector<PageFact>& facts) {
  std::size_t added = 0;
  for (const MetricChange* one : metrics_of_whole(comparison)) {
    const MetricChange& metric = *one;
    const bool numbers = metric.judged && metric.change && std::isfinite(*metric.change);
    if (!numbers || is_told_twice(metric.name) || added++ >= k_most_facts) continue;
    const Tone tone = metric.verdict == ChangeVerdict::worse    ? Tone::bad
                      : metric.verdict == ChangeVerdict::better ? Tone::good
                                                                : Tone::plain;
    const std::string change = comparison.kind == "validations"
                                   ? fmt::format("{:+.2f} percentage points", 100 * *metric.change)
                                   : signed_share(*metric.change);
    facts.push_back({metric.name,
                     fmt::format("{} → {} ({})", shown(metric, metric.before), shown(metric, metric.after), change),
                     tone});
  }
}

}  // namespace

Page comparison_page(const Comparison& comparison, const std::string& before, const std::string& after,
                     double tolerance) {
  Page page;
  page.title = before + " → " + after;
  page.subtitle = "comparison of two " + comparison.kind;
  page.facts.push_back(result_fact(comparison));
  add_metric_facts(comparison, page.facts);
  const auto named = [](const std::string& file, const std::string& is) {
    return is.empty() ? file : file + ": " + is;
  };
  page.facts.push_back({"A", named(before, comparison.before_is)});
  page.facts.push_back({"B", named(after, comparison.after_is)});
  page.facts.push_back({"Tolerance", comparison.kind == "validations"
                                         ? human_share(tolerance) + ", in percentage points"
                                         : human_share(tolerance)});
  if (!comparison.coverage.empty()) page.facts.push_back({"Points", comparison.coverage});
  page.sections.push_back(metrics_section(comparison));
  const auto add = [&](std::optional<PageSection> section) {
    if (section) page.sections.push_back(std::move(*section));
  };
  add(parts_section(comparison));
  add(effects_section(comparison));
  add(reasons_section(comparison));
  for (const PairedValues& paired : comparison.pairs) {
    page.sections.push_back(pairs_section(comparison, paired, tolerance));
  }
  page.sections.push_back(all_section(comparison));
  return page;
}

}  // namespace podsim
