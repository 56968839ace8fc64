#include "tools/podsim/loss_scale_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace podsim {
namespace {

using namespace loss_scaling;

constexpr std::size_t k_most_intervals = 250;
constexpr std::size_t k_most_tensors = 200;

Cell log2_or_none(double value) {
  return value > 0 && std::isfinite(value) ? Cell(std::log2(value)) : Cell();
}

// The lowest and the highest scale within each of equal intervals of updates.
PageSection trajectory_section(const Analysis& analysis) {
  const std::vector<float>& scales = analysis.trajectory.scales;
  const std::size_t length = (scales.size() + k_most_intervals - 1) / k_most_intervals;
  PageSection section{"Scale over the updates", {}, {}, {}};
  Table table{"trajectory", {{"update", ""}, {"lowest scale, log2", ""}, {"highest scale, log2", ""}}, {}};
  const bool window = analysis.needs_scale() && analysis.window.feasible();
  if (window) {
    table.columns.push_back({"recommended from, log2", ""});
    table.columns.push_back({"recommended to, log2", ""});
    section.notes.push_back("The recommended scales are constant ones that keep both ends of the gradients.");
  }
  for (std::size_t first = 0; first < scales.size(); first += length) {
    const auto begin = scales.begin() + static_cast<std::ptrdiff_t>(first);
    const auto end = begin + static_cast<std::ptrdiff_t>(std::min(length, scales.size() - first));
    std::vector<Cell> row{static_cast<std::int64_t>(first) + 1,
                          log2_or_none(static_cast<double>(*std::min_element(begin, end))),
                          log2_or_none(static_cast<double>(*std::max_element(begin, end)))};
    if (window) {
      row.emplace_back(std::int64_t{analysis.window.low});
      row.emplace_back(std::int64_t{analysis.window.high});
    }
    table.rows.push_back(std::move(row));
  }
  if (length > 1) section.notes.push_back(fmt::format("Each row stands for {} updates.", length));
  Chart chart{.kind = ChartKind::steps, .labels = 0, .values = {1, 2}};
  chart.colours = {5, 0};
  if (window) {
    chart.values.insert(chart.values.end(), {3, 4});
    chart.colours.insert(chart.colours.end(), {6, 4});
  }
  if (table.rows.size() > 1) section.charts.push_back(chart);
  section.table = std::move(table);
  return section;
}

Table tensors_table(const std::vector<TensorHistory>& tensors) {
  Table table{"gradients",
              {{"gradient", ""},
               {"flushed", "%"},
               {"flushed, most", "%"},
               {"subnormal", "%"},
               {"at edge", "%"},
               {"overflowed, most", "%"},
               {"values", ""}},
              {}};
  const auto percent = [](double share) { return 100 * share; };
  for (const TensorHistory& t : tensors) {
    table.rows.push_back({t.name + (t.layer < 0 ? "" : fmt::format(" {}", t.layer)), percent(t.flushed.median),
                          percent(t.flushed.highest), percent(t.subnormal.median), percent(t.at_edge.median),
                          percent(t.overflowed.highest), t.values});
  }
  std::stable_sort(table.rows.begin(), table.rows.end(),
                   [](const auto& a, const auto& b) { return std::get<double>(a[1]) > std::get<double>(b[1]); });
  return table;
}

PageSection worst_section(const Analysis& analysis) {
  PageSection section{
      "What is lost of each gradient, worst layer",
      {"Shares of the non-zero values, the median over the updates unless a heading says most: flushed to "
       "zero, kept with fewer digits (subnormal), at or above the controller's edge, beyond the largest "
       "number."},
      {},
      tensors_table(worst_of_each(analysis.trajectory.tensors))};
  if (section.table->rows.size() > 1) {
    section.charts.push_back(Chart{.kind = ChartKind::bars, .labels = 0, .values = {1}});
  }
  return section;
}

PageSection all_section(const Analysis& analysis) {
  PageSection section{"All gradients", {}, {}, {}, true};
  section.table = shortened(tensors_table(analysis.trajectory.tensors), k_most_tensors, section.notes);
  return section;
}

PageSection settings_section(const Analysis& analysis) {
  Table table{"settings", {{"key", ""}, {"value", ""}, {"from", ""}}, {}};
  for (const ResolvedKey& key : analysis.resolved) table.rows.push_back({key.path, key.toml_value, key.origin});
  return {"Settings", {}, {}, table, true};
}

}  // namespace

std::vector<TensorHistory> worst_of_each(const std::vector<TensorHistory>& tensors) {
  std::vector<TensorHistory> worst;
  for (const TensorHistory& tensor : tensors) {
    auto same = std::find_if(worst.begin(), worst.end(), [&](const auto& known) { return known.name == tensor.name; });
    if (same == worst.end()) {
      worst.push_back(tensor);
    } else if (tensor.flushed.median + tensor.at_edge.median > same->flushed.median + same->at_edge.median) {
      *same = tensor;
    }
  }
  return worst;
}

Page loss_scale_page(const Plan& plan, const Analysis& analysis, std::vector<PageFact> facts) {
  Page page;
  page.title = plan.name;
  page.subtitle = "loss scale of " + plan.shape.name + " on " + plan.system;
  page.facts = std::move(facts);
  std::stable_partition(page.facts.begin(), page.facts.end(),
                        [](const PageFact& fact) { return fact.label == "recommended"; });
  page.sections = {trajectory_section(analysis), worst_section(analysis), all_section(analysis),
                   settings_section(analysis)};
  return page;
}

Page published_scales_page(const std::vector<PublishedScale>& scales) {
  Table table{"published",
              {{"published constant", ""},
               {"scale, log2", ""},
               {"recommended from, log2", ""},
               {"recommended to, log2", ""},
               {"verdict", ""},
               {"source", ""}},
              {}};
  for (const PublishedScale& scale : scales) {
    table.rows.push_back({scale.id, log2_or_none(scale.scale), std::int64_t{scale.window.low},
                          std::int64_t{scale.window.high}, std::string(scale.inside() ? "inside" : "outside"),
                          scale.source});
  }
  const PublishedSummary summary = summary_of(scales);
  Page page;
  page.title = "Published loss scales against recommended windows";
  page.facts = {{"Inside", fmt::format("{} of {}", summary.inside, summary.count)},
                {"Width", fmt::format("{:.1f} octaves, the median", summary.median_width)}};
  if (summary.rank_correlation) {
    page.facts.push_back({"Rank correlation", fmt::format("{:.2f}", *summary.rank_correlation)});
  }
  page.sections = {{"Constants", {}, {}, table}};
  return page;
}

}  // namespace podsim
