#include "sim/study/validate_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/phrases.hpp"

namespace podsim {
namespace {

const std::vector<double> k_bands_pct = {0, 10, -10};
constexpr double k_most_error_pct = 40;
constexpr std::size_t k_most_rows = 500;

std::string standing(const ValidatedCase& one) {
  if (!one.lower_bound.empty()) return one.below_bound() ? "lower bound, prediction below it" : "lower bound";
  if (!one.excluded.empty()) return "excluded";
  return one.fitted ? "fitted" : "held out";
}

Cell number_or_none(const std::optional<double>& value) {
  return value ? Cell(*value) : Cell();
}

std::vector<std::string> quantities_in(const Validation& validation) {
  std::vector<std::string> quantities;
  for (const ValidatedCase& one : validation.cases) {
    if (!one.ran() || one.is_point() || !one.measured || !one.predicted) continue;
    if (std::ranges::find(quantities, one.quantity) == quantities.end()) quantities.push_back(one.quantity);
  }
  return quantities;
}

// Cases of one quantity; only they can share an axis.
PageSection quantity_section(const Validation& validation, const std::string& quantity) {
  Table table{quantity,
              {{"case", ""},
               {"measured", ""},
               {"predicted", ""},
               {"error_pct", "%"},
               {"is", ""},
               {"family", ""},
               {"source", ""}},
              {}};
  for (const ValidatedCase& one : validation.cases) {
    if (!one.ran() || one.quantity != quantity || !one.measured || !one.predicted) continue;
    table.rows.push_back(
        {one.id, *one.measured, *one.predicted, number_or_none(one.error_pct), standing(one), one.family, one.source});
  }
  PageSection section{quantity, {}, {}, {}};
  section.table = shortened(std::move(table), k_most_rows, section.notes);
  if (section.table->rows.size() < 2) return section;
  Chart against{.kind = ChartKind::points, .labels = 1, .values = {2}};
  against.groups = 4;
  against.names = 0;
  against.logarithmic_x = against.logarithmic = true;
  against.bands_pct = k_bands_pct;
  Chart errors = against;
  errors.values = {3};
  errors.logarithmic = false;
  errors.bands_pct = {};
  errors.levels = k_bands_pct;
  errors.most = k_most_error_pct;
  section.charts = {against, errors};
  section.notes.push_back("On the full lines measured and predicted are equal; the broken ones are 10 % away.");
  return section;
}

PageSection groups_section(const Validation& validation) {
  Table table{"groups",
              {{"group", ""},
               {"mean |error|", "%"},
               {"largest |error|", "%"},
               {"bias", "%"},
               {"cases", ""},
               {"rank correlation", ""},
               {"memory verdicts right", ""},
               {"wrong", ""}},
              {}};
  for (const ValidationGroup& group : validation.groups) {
    table.rows.push_back({group.name, number_or_none(group.mape_pct), number_or_none(group.maximum_pct),
                          number_or_none(group.bias_pct), group.cases, number_or_none(group.spearman),
                          group.right ? Cell(*group.right) : Cell(), group.wrong ? Cell(*group.wrong) : Cell()});
  }
  PageSection section{"Error by group", {"Lower bounds and excluded cases are in no figure."}, {}, table};
  const bool rates =
      std::ranges::any_of(validation.groups, [](const auto& group) { return group.mape_pct.has_value(); });
  if (rates) section.charts.push_back(Chart{.kind = ChartKind::bars, .labels = 0, .values = {1}});
  return section;
}

std::optional<PageSection> points_section(const Validation& validation) {
  Table table{"memory", {{"case", ""}, {"measured", ""}, {"predicted", ""}, {"judged", ""}, {"source", ""}}, {}};
  for (const ValidatedCase& one : validation.cases) {
    if (!one.ran() || !one.is_point()) continue;
    const auto word = [](const std::optional<bool>& fits) {
      return std::string(!fits ? "" : *fits ? "fits" : "does not fit");
    };
    table.rows.push_back({one.id, word(one.measured_fits), word(one.predicted_fits),
                          std::string(one.wrong() ? "WRONG" : "right"), one.source});
  }
  if (table.rows.empty()) return std::nullopt;
  return PageSection{"Whether it fits", {}, {}, table};
}

std::optional<PageSection> skipped_section(const Validation& validation) {
  Table table{"skipped", {{"case", ""}, {"reason", ""}}, {}};
  for (const ValidatedCase& one : validation.cases) {
    if (!one.ran()) table.rows.push_back({one.id, one.skipped_reason});
  }
  if (table.rows.empty()) return std::nullopt;
  return PageSection{"Skipped", {}, {}, table, true};
}

std::optional<PageSection> defaults_section(const Validation& validation) {
  Table table{"defaults", {{"case", ""}, {"taken for an empty cell", ""}}, {}};
  for (const ValidatedCase& one : validation.cases) {
    if (one.ran() && !one.defaults.empty()) {
      table.rows.push_back({one.id, fmt::format("{}", fmt::join(one.defaults, "; "))});
    }
  }
  if (table.rows.empty()) return std::nullopt;
  return PageSection{"Defaults", {}, {}, table, true};
}

std::vector<PageFact> facts_of(const Validation& validation) {
  const auto count = [&](auto what) { return std::ranges::count_if(validation.cases, what); };
  const auto ran = count([](const ValidatedCase& one) { return one.ran(); });
  const auto wrong = count([](const ValidatedCase& one) { return one.wrong(); });
  const auto points = count([](const ValidatedCase& one) { return one.ran() && one.is_point(); });
  std::vector<PageFact> facts{
      {"Cases", fmt::format("{} of {} ran", ran, std::ssize(validation.cases)), ran == 0 ? Tone::bad : Tone::plain}};
  if (points > 0) {
    facts.push_back(
        {"Memory", fmt::format("{} of {} verdicts right", points - wrong, points), wrong > 0 ? Tone::bad : Tone::good});
  }
  const auto fitted = count([](const ValidatedCase& one) { return one.counts() && one.fitted; });
  const auto held_out = count([](const ValidatedCase& one) { return one.counts() && !one.fitted; });
  facts.push_back({"Standing", fmt::format("{} fitted, {} held out: only the latter tell how a run elsewhere is met",
                                           fitted, held_out)});
  return facts;
}

}  // namespace

Page validation_page(const Validation& validation) {
  Page page;
  page.title = "Published measurements against predictions";
  page.facts = facts_of(validation);
  if (!validation.groups.empty()) page.sections.push_back(groups_section(validation));
  for (const std::string& quantity : quantities_in(validation)) {
    page.sections.push_back(quantity_section(validation, quantity));
  }
  for (std::optional<PageSection> section :
       {points_section(validation), defaults_section(validation), skipped_section(validation)}) {
    if (section) page.sections.push_back(std::move(*section));
  }
  return page;
}

}  // namespace podsim
