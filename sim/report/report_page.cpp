#include "sim/report/report_page.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/human.hpp"
#include "sim/report/loss_scale_text.hpp"
#include "sim/report/phrases.hpp"
#include "sim/report/report_page_tables.hpp"
#include "sim/report/uncertainty_format.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_most_rows = 200;
constexpr std::size_t k_folded_rows = 24;  // tables of a family with more are closed at first

Tone tone_of(const HeadLine& line, const Report& report) {
  if (line.label == "Verdict") return report.verdict.fits() ? Tone::good : Tone::bad;
  if (line.label == "Evidence" && !report.evidence.outside.empty()) return Tone::caution;
  return Tone::plain;
}

std::vector<PageFact> facts_of(const Report& report) {
  std::vector<PageFact> facts;
  for (const HeadLine& line : head_lines(report)) {
    facts.push_back({line.label, line.content, tone_of(line, report)});
  }
  // Without a rate the verdict is what matters most.
  if (!report.throughput) {
    std::stable_partition(facts.begin(), facts.end(), [](const PageFact& fact) { return fact.label == "Verdict"; });
  }
  if (report.latency) facts.push_back({"Latency", fmt::format("{}", fmt::join(latency_lines(report), "; "))});
  if (report.training) facts.push_back({"Time to train", training_line(*report.training)});
  return facts;
}

std::optional<PageSection> limits_section(const Report& report) {
  if (report.verdict.fits()) return std::nullopt;
  PageSection section{"Why it does not fit", broken_limit_lines(report.verdict), {}, {}};
  // The table alone where each line would say what a row says.
  if (section.notes.size() == report.verdict.broken.size()) section.notes.clear();
  Table table{"limits", {{"limit", ""}, {"device", ""}, {"need", ""}, {"have", ""}, {"unit", ""}, {"remedy", ""}}, {}};
  for (const BrokenLimit& broken : report.verdict.broken) {
    const Column amount{"", broken.unit};
    table.rows.push_back({broken.limit, broken.device, cell_text(broken.need, amount), cell_text(broken.have, amount),
                          broken.unit == "byte" ? std::string() : broken.unit, broken.remedy});
  }
  section.table = shortened(std::move(table), k_most_rows, section.notes);
  return section;
}

std::optional<PageSection> values_section(const Report& report) {
  if (report.values.empty()) return std::nullopt;
  Table table{"values", {{"name", ""}, {"value", ""}}, {}};
  for (const ReportedValue& value : report.values) {
    table.rows.push_back({value.name, cell_text(value.value, {"", value.unit})});
  }
  return PageSection{"Further values", {}, {}, table};
}

// A chart only where a few rows are told apart by their first cell and some column has times.
std::vector<std::variant<Chart, TimelineChart>> charts_of(const Table& table) {
  if (table.rows.size() < 2 || table.columns.empty()) return {};
  Chart chart{.kind = ChartKind::stacked, .labels = 0, .values = {}};
  for (std::size_t c = 1; c < table.columns.size(); ++c) {
    if (table.columns[c].unit == "s" && is_numeric(table, c)) chart.values.push_back(c);
  }
  if (chart.values.empty()) return {};
  if (chart.values.size() == 1) chart.kind = ChartKind::bars;
  return {chart};
}

PageSection family_section(const Table& table) {
  PageSection section{table.name, {}, charts_of(table), {}};
  if (!section.title.empty() && section.title.front() >= 'a' && section.title.front() <= 'z') {
    section.title.front() = static_cast<char>(section.title.front() - 'a' + 'A');
  }
  section.folded = table.rows.size() > k_folded_rows;
  section.table = shortened(table, k_most_rows, section.notes);
  return section;
}

std::optional<PageSection> warnings_section(const Report& report) {
  if (report.warnings.empty()) return std::nullopt;
  Table table{"warnings", {{"warning", ""}}, {}};
  for (const std::string& warning : report.warnings) table.rows.push_back({warning});
  return PageSection{"Warnings", {}, {}, table};
}

PageSection plan_section(const Report& report) {
  Table table{"plan", {{"key", ""}, {"value", ""}, {"from", ""}}, {}};
  for (const ResolvedKey& key : report.plan) table.rows.push_back({key.path, key.toml_value, key.origin});
  return {"What was run", {"Every key as it was resolved, and where its value comes from."}, {}, table, true};
}

std::optional<PageSection> provenance_section(const Report& report) {
  if (report.provenance.empty()) return std::nullopt;
  Table table{"constants", {{"constant", ""}, {"value", ""}, {"confidence", ""}, {"spread", ""}, {"source", ""}}, {}};
  for (const Constant& constant : report.provenance) {
    table.rows.push_back({constant.name, constant.text, constant.confidence, constant.spread, constant.source});
  }
  return PageSection{"Constants behind it",
                     {fmt::format("The {} that this run has read.", counted(std::ssize(table.rows), "constant"))},
                     {},
                     table,
                     true};
}

std::optional<PageSection> levers_section(const Report& report) {
  const std::vector<std::string> lines = lever_lines(report.levers);
  if (lines.empty()) return std::nullopt;
  return PageSection{"What would make it faster", lines, {}, {}};
}

std::optional<PageSection> interval_section(const Report& report) {
  if (!report.interval) return std::nullopt;
  return PageSection{"Interval", interval_lines(*report.interval), {}, interval_table(*report.interval)};
}

void tell_origin(const Report& report, Page& page) {
  page.tool_version = report.tool_version;
  page.tool_commit = report.tool_commit;
  page.inputs_sha256 = report.inputs_sha256;
  if (report.engine) page.foot = engine_line(*report.engine);
}

}  // namespace

Page view_page(const Report& report, std::string_view view) {
  Page page;
  page.title = report.name.empty() ? "podsim" : report.name;
  page.subtitle = subtitle_text(report);
  page.facts = facts_of(report);
  for (const Table& table : report.tables) {
    if (table.name != view && table.view != view) continue;
    page.sections.push_back(family_section(table));
    page.sections.back().folded = false;
  }
  tell_origin(report, page);
  return page;
}

Page report_page(const Report& report, const Timeline* timeline) {
  Page page;
  page.title = report.name.empty() ? "podsim" : report.name;
  page.subtitle = subtitle_text(report);
  page.facts = facts_of(report);
  const auto add = [&](std::optional<PageSection> section) {
    if (section) page.sections.push_back(std::move(*section));
  };
  add(limits_section(report));
  add(warnings_section(report));
  add(breakdown_section(report));
  add(levers_section(report));
  add(interval_section(report));
  if (timeline != nullptr) add(timeline_section(report, *timeline));
  for (PageSection& section : memory_sections(report)) add(std::move(section));
  if (timeline != nullptr) add(levels_section(*timeline));
  add(devices_section(report));
  add(links_section(report));
  add(PageSection{"Batch and schedule", batch_lines(report), {}, {}});
  add(values_section(report));
  if (report.loss_scaling) add(PageSection{"Loss scale", loss_scale_paragraphs(report), {}, {}});
  for (const Table& table : report.tables) {
    if (table.view.empty()) add(family_section(table));
  }
  add(plan_section(report));
  add(provenance_section(report));
  tell_origin(report, page);
  return page;
}

}  // namespace podsim
