// A page as one HTML file. Everything it needs stands in it, and its policy forbids the browser to fetch anything.

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/config/embedded_files.hpp"
#include "sim/core/check.hpp"
#include "sim/core/json_writer.hpp"
#include "sim/report/html_table.hpp"
#include "sim/report/page.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr double k_least_share_pct = 4;    // of a slice of a timeline, to be drawn
constexpr std::size_t k_most_beside = 64;  // characters across a table that stands beside its chart
constexpr std::size_t k_long_table = 30;   // rows; in print a longer one may break over pages

std::string_view embedded(std::string_view name) {
  for (const EmbeddedFile& file : embedded_page_files()) {
    if (file.path == name) return file.text;
  }
  PODSIM_CHECK(false, "a page file is not embedded: " + std::string(name));
  return {};
}

std::string script(std::string_view name) {
  const std::string_view text = embedded(name);
  PODSIM_CHECK(text.find("</script") == std::string_view::npos, "a script that would end its own element");
  return "<script>\n" + std::string(text) + "</script>\n";
}

std::string_view name(ChartKind kind) {
  switch (kind) {
    case ChartKind::bars:
      return "bars";
    case ChartKind::stacked:
      return "stacked";
    case ChartKind::lines:
      return "lines";
    case ChartKind::steps:
      return "steps";
    case ChartKind::points:
      return "points";
  }
  return "";
}

std::string_view tone_class(Tone tone) {
  switch (tone) {
    case Tone::plain:
      return "";
    case Tone::good:
      return " class=\"good\"";
    case Tone::caution:
      return " class=\"caution\"";
    case Tone::bad:
      return " class=\"bad\"";
  }
  return "";
}

std::string facts_html(const std::vector<PageFact>& facts) {
  if (facts.empty()) return "";
  std::string text = "<dl class=\"facts\">\n";
  for (const PageFact& fact : facts) {
    text += fmt::format("<dt>{}</dt><dd{}>{}</dd>\n", html_escaped(fact.label), tone_class(fact.tone),
                        html_escaped(fact.value));
  }
  return text + "</dl>\n";
}

template <class Items, class Write>
void array(JsonWriter& json, std::string_view key, const Items& items, Write write) {
  json.key(key);
  json.begin_array();
  for (const auto& item : items) write(item);
  json.end_array();
}

std::string chart_json(const Chart& chart, const std::string& table_id) {
  JsonWriter json(JsonLayout::compact);
  json.begin_object();
  json.member("kind", name(chart.kind));
  json.member("table", table_id);
  json.member("labels", chart.labels);
  array(json, "values", chart.values, [&](std::size_t column) { json.value(column); });
  json.key("colours");
  json.begin_array();
  for (std::size_t i = 0; i < chart.values.size(); ++i) {
    json.value(i < chart.colours.size() ? chart.colours[i] : static_cast<int>(i));
  }
  json.end_array();
  if (!chart.row_colours.empty()) {
    array(json, "rowColours", chart.row_colours, [&](int colour) { json.value(colour); });
  }
  if (chart.limit) json.member("limit", *chart.limit);
  if (chart.groups) json.member("groups", *chart.groups);
  if (chart.names) json.member("names", *chart.names);
  if (!chart.joined.empty()) json.member("joined", std::string_view(chart.joined));
  if (chart.at_edge) json.member("atEdge", true);
  if (chart.most) json.member("most", *chart.most);
  json.member("logarithmic", chart.logarithmic);
  json.member("logarithmicX", chart.logarithmic_x);
  array(json, "bands", chart.bands_pct, [&](double band) { json.value(band); });
  array(json, "levels", chart.levels, [&](double level) { json.value(level); });
  json.end_object();
  return json.text();
}

// How many kinds follow, then each with its share in percent; what takes less than a line's height is left out.
void write_shares(JsonWriter& json, const CostVector& cost) {
  std::vector<std::pair<std::size_t, std::int64_t>> shares;
  const double whole = static_cast<double>(cost.total().picoseconds());
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    const double share = whole > 0 ? 100.0 * static_cast<double>(cost.part[c].picoseconds()) / whole : 0.0;
    if (share >= k_least_share_pct) shares.emplace_back(c, std::llround(share));
  }
  json.value(shares.size());
  for (const auto& [kind, share] : shares) {
    json.value(kind);
    json.value(share);
  }
}

void write_slices(JsonWriter& json, const Timeline& timeline) {
  json.key("slices");
  json.begin_array();
  for (const TimelineSlice& slice : timeline.slices) {
    json.value(slice.lane);
    json.value(slice.transfer ? 1 : 0);
    json.value(slice.begin.picoseconds());
    json.value(slice.duration.picoseconds());
    json.value(slice.label);
    json.value(slice.operations);
    write_shares(json, slice.cost);
  }
  json.end_array();
}

std::string timeline_json(const TimelineChart& chart) {
  const Timeline& timeline = chart.timeline;
  JsonWriter json(JsonLayout::compact);
  json.begin_object();
  json.member("length", timeline.length.picoseconds());
  array(json, "parts", timeline.parts, [&](const TimelinePart& part) {
    json.begin_array();
    json.value(part.name);
    json.value(part.begin.picoseconds());
    json.value(part.duration.picoseconds());
    json.value(part.iterations);
    json.end_array();
  });
  array(json, "windows", timeline.windows, [&](const TimelineWindow& window) {
    json.begin_array();
    json.value(window.name);
    json.value(window.begin.picoseconds());
    json.value(window.end.picoseconds());
    json.end_array();
  });
  const auto first = std::ranges::find(timeline.windows, chart.window, &TimelineWindow::name);
  json.member("first", first == timeline.windows.end() ? -1 : first - timeline.windows.begin());
  array(json, "lanes", timeline.lanes, [&](const std::string& lane) { json.value(lane); });
  array(json, "labels", timeline.labels, [&](const std::string& label) { json.value(label); });
  json.key("kinds");
  json.begin_array();
  for (std::size_t c = 0; c < k_cost_categories; ++c) {
    std::string kind(podsim::name(static_cast<CostCategory>(c)));
    std::replace(kind.begin(), kind.end(), '_', ' ');
    json.value(kind);
  }
  json.end_array();
  write_slices(json, timeline);
  json.end_object();
  return json.text();
}

std::string canvas_html(const std::string& title, std::string_view data_class, const std::string& json) {
  return fmt::format(
      "<div class=\"chart\"><canvas role=\"img\" aria-label=\"Chart: {}; the numbers stand in the table\"></canvas>"
      "<script type=\"application/json\" class=\"{}\">{}</script></div>\n",
      html_escaped(title), data_class, json_inside_script(json));
}

std::string section_html(const PageSection& section, std::size_t number) {
  const std::string table_id = fmt::format("t{}", number);
  const bool is_long = section.table && section.table->rows.size() > k_long_table;
  std::string text = fmt::format("<section id=\"s{}\"{}>\n<h2>{}</h2>\n", number, is_long ? " class=\"long\"" : "",
                                 html_escaped(section.title));
  for (const std::string& note : section.notes) text += "<p>" + html_escaped(note) + "</p>\n";
  std::string charts;
  bool beside = section.table && !section.folded && least_table_width(*section.table) <= k_most_beside;
  for (const auto& chart : section.charts) {
    if (const auto* columns = std::get_if<Chart>(&chart)) {
      PODSIM_CHECK(section.table.has_value(), "a chart draws the columns of a table");
      charts += canvas_html(section.title, "chart-data", chart_json(*columns, table_id));
    } else {
      charts += canvas_html(section.title, "timeline-data", timeline_json(std::get<TimelineChart>(chart)));
      beside = false;
    }
  }
  std::string table;
  if (section.table) {
    table = html_table(section, table_id);
    if (section.folded) table = "<details><summary>Show the table</summary>" + table + "</details>\n";
  }
  if (!charts.empty()) charts = "<div class=\"charts\">\n" + charts + "</div>\n";
  if (!charts.empty() || !table.empty()) {
    beside = beside && !charts.empty();
    text += fmt::format("<div class=\"pair{}\">\n", beside ? " beside" : "") + charts + table + "</div>\n";
  }
  return text + "</section>\n";
}

std::string contents_html(const std::vector<PageSection>& sections) {
  if (sections.size() < 3) return "";
  std::string text = "<nav aria-label=\"Sections\"><ul>\n";
  for (std::size_t s = 0; s < sections.size(); ++s) {
    text += fmt::format("<li><a href=\"#s{}\">{}</a></li>\n", s + 1, html_escaped(sections[s].title));
  }
  return text + "</ul></nav>\n";
}

std::string scripts_html(const Page& page) {
  const auto any = [&](auto held) {
    return std::ranges::any_of(page.sections,
                               [&](const PageSection& section) { return std::ranges::any_of(section.charts, held); });
  };
  std::string text = script("page.js");
  if (any([](const auto& chart) { return std::holds_alternative<Chart>(chart); })) {
    text += script("chart.min.js") + script("charts.js");
  }
  if (any([](const auto& chart) { return std::holds_alternative<TimelineChart>(chart); }))
    text += script("timeline.js");
  return text;
}

}  // namespace

std::string to_html(const Page& page) {
  std::string text =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'; "
      "script-src 'unsafe-inline'; img-src data:; base-uri 'none'; form-action 'none'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  text += fmt::format("<meta name=\"generator\" content=\"{}\">\n<title>{}</title>\n<style>\n{}</style>\n</head>\n",
                      html_escaped("podsim " + page.tool_version), html_escaped(page.title), embedded("page.css"));
  text += fmt::format("<body>\n<header>\n<h1>{}</h1>\n<p class=\"subtitle\">{}</p>\n</header>\n<main>\n",
                      html_escaped(page.title), html_escaped(page.subtitle));
  text += facts_html(page.facts) + contents_html(page.sections);
  for (std::size_t s = 0; s < page.sections.size(); ++s) text += section_html(page.sections[s], s + 1);
  text += "</main>\n<footer>\n";
  if (!page.foot.empty()) text += "<p>" + html_escaped(page.foot) + "</p>\n";
  text += "<p>" + html_escaped(origin_text(page)) + "</p>\n</footer>\n";
  return text + scripts_html(page) + "</body>\n</html>\n";
}

}  // namespace podsim
