#include "sim/study/sweep_page.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <set>
#include <utility>

#include "sim/report/human.hpp"
#include "sim/report/phrases.hpp"
#include "sim/report/result_columns.hpp"
#include "sim/study/sweep.hpp"

namespace podsim {
namespace {

constexpr std::int64_t k_most_points = 10'000;
constexpr std::int64_t k_most_on_front = 1000;
constexpr std::size_t k_most_reasons = 50;
constexpr std::size_t k_most_values = 12;  // of an input, in a table by values
constexpr std::size_t k_most_down = 60;    // values of an input in a heat map
constexpr std::size_t k_most_across = 24;

// Of the palette of a page.
constexpr int k_blue = 0;
constexpr int k_vermilion = 4;
constexpr int k_grey = 10;
constexpr int k_dark_grey = 11;

// What a reader of any metric wants beside it.
constexpr std::array<std::string_view, 4> k_beside{"samples_per_s", "mfu_pct", "fullest_memory_pct", "bottleneck"};

std::string sentence_case(std::string text) {
  if (!text.empty() && text.front() >= 'a' && text.front() <= 'z') text.front() = static_cast<char>(text.front() - 32);
  return text;
}

// Rates say their unit in their names.
Column page_column(const SweepStore& store, const std::string& name) {
  for (const Column& column : store.identity().columns) {
    if (column.name == name) return {name, column.unit == "1/s" ? "" : column.unit};
  }
  return {name, ""};
}

// "samples per s", "fullest memory".
std::string spoken(const SweepStore& store, const SweepMetric& metric) {
  return heading_text(page_column(store, metric.column));
}

std::string spoken(std::string status) {
  std::replace(status.begin(), status.end(), '_', ' ');
  return status;
}

std::vector<Cell> row_of(const Statement& statement) {
  std::vector<Cell> row;
  for (int c = 0; c < statement.columns(); ++c) row.push_back(statement.cell(c));
  return row;
}

std::string counted_points(std::int64_t number) {
  return grouped(number) + (number == 1 ? " point" : " points");
}

// The inputs of a point as options of a command.
std::string options_of(const SweepStore& store, const std::vector<Cell>& cells) {
  std::string text;
  for (std::size_t i = 0; i < store.identity().inputs.size(); ++i) {
    std::string key = store.identity().inputs[i];
    constexpr std::string_view k_prefix = "axis.";
    if (key.starts_with(k_prefix)) key.erase(0, k_prefix.size());
    std::string setting = key + "=" + csv_text(cells[i]);
    for (std::size_t at = setting.find('\''); at != std::string::npos; at = setting.find('\'', at + 4)) {
      setting.replace(at, 1, "'\\''");
    }
    const bool plain = setting.find_first_of(" \"'[]{}$`\\;&|<>()*?!#~\n") == std::string::npos;
    text += (text.empty() ? "--set " : " --set ") + (plain ? setting : "'" + setting + "'");
  }
  return text;
}

void add_best_facts(SweepStore& store, const SweepMetric& metric, std::vector<PageFact>& facts) {
  const Table best = best_points(store, metric, 1);
  if (best.rows.empty()) {
    facts.push_back({"Best by " + metric.column, "no point works", Tone::bad});
    return;
  }
  const std::vector<Cell>& row = best.rows.front();
  const std::size_t inputs = store.identity().inputs.size();
  const std::vector<Cell> values(row.begin() + 1, row.begin() + 1 + static_cast<std::ptrdiff_t>(inputs));
  // A metric that is an input stands among them.
  const auto column = std::ranges::find(best.columns, metric.column, &Column::name) - best.columns.begin();
  facts.push_back({"Best",
                   fmt::format("{} {}, point {}",
                               cell_text(row[static_cast<std::size_t>(column)], page_column(store, metric.column)),
                               spoken(store, metric), csv_text(row.front())),
                   Tone::good});
  facts.push_back({"To run it", options_of(store, values)});
}

std::vector<PageFact> facts_of(SweepStore& store, const SweepQuestions& questions) {
  std::vector<PageFact> facts;
  for (const SweepMetric& metric : questions.best) add_best_facts(store, metric, facts);
  const SweepIdentity& identity = store.identity();
  const Shard shard{identity.shard, identity.shards};
  std::string points = fmt::format("{} of {}", grouped(store.count()), grouped(shard.size(identity.points)));
  for (const std::vector<Cell>& row : status_table(store).rows) {
    points += fmt::format(", {} {}", grouped(std::get<std::int64_t>(row[1])), spoken(csv_text(row[0])));
  }
  if (identity.shards > 1) points += fmt::format("; shard {} of {}", identity.shard, identity.shards);
  facts.push_back({"Points", points + (identity.complete ? "" : "; not finished"),
                   identity.complete ? Tone::plain : Tone::caution});
  const std::vector<AuditRow> audit = store.audit();
  if (!audit.empty()) {
    const AuditVerdict verdict = judge_audit(audit);
    facts.push_back({"Checked",
                     fmt::format("{} run again on the reference engine, largest difference {:.2g}",
                                 counted_points(std::ssize(audit)), verdict.largest_difference),
                     verdict.beyond > 0 ? Tone::bad : Tone::plain});
  }
  return facts;
}

PageSection best_section(SweepStore& store, const SweepMetric& metric, std::int64_t limit) {
  PageSection section{"Best by " + spoken(store, metric), {}, {}, {}};
  Table table = best_points(store, metric, limit);
  for (Column& column : table.columns) column = page_column(store, column.name);
  section.table = std::move(table);
  return section;
}

// The points of a front, and of the others as many as fit.
class Points {
 public:
  Points(SweepStore& store, const SweepMetric& across, const SweepMetric& up, std::int64_t most)
      : store_(store), across_(across), up_(up), most_(most) {
    columns_ = {"point"};
    for (const std::string& input : store.identity().inputs) add(input);
    add(across.column);
    add(up.column);
    for (const std::string_view name : k_beside) add(std::string(name));
    table_.name = "points";
    for (const std::string& name : columns_) table_.columns.push_back(page_column(store, name));
    table_.columns.insert(table_.columns.begin() + k_is, {"is", ""});
    table_.columns.push_back({"reason", ""});
    read();
  }

  PageSection section() {
    PageSection section{sentence_case(spoken(store_, up_) + " against " + spoken(store_, across_)), notes_, {}, {}};
    Chart chart{.kind = ChartKind::points, .labels = place(across_.column), .values = {place(up_.column)}};
    chart.groups = k_is;
    chart.names = 0;
    chart.row_colours = colours_;
    chart.joined = k_front;
    chart.at_edge = true;
    if (!table_.rows.empty()) section.charts.push_back(chart);
    section.table = std::move(table_);
    return section;
  }

 private:
  static constexpr const char* k_front = "not surpassed";
  static constexpr int k_is = 1;  // where its column stands

  void add(const std::string& name) {
    if (std::ranges::find(columns_, name) == columns_.end()) columns_.push_back(name);
  }
  std::size_t place(const std::string& name) const {
    return static_cast<std::size_t>(std::ranges::find(columns_, name) - columns_.begin()) + 1;
  }
  Statement select(const std::string& rest) {
    std::string names = "point, status";
    for (std::size_t c = 1; c < columns_.size(); ++c) names += ", " + sql_name(columns_[c]);
    return store_.database().prepare("SELECT " + names + ", reason FROM points WHERE " + rest);
  }
  void add_row(std::vector<Cell> row, const std::string& is, int colour) {
    row[k_is] = is;
    table_.rows.push_back(std::move(row));
    colours_.push_back(colour);
  }
  // Of `all` points of a kind, those to be shown when not all of the sweep are.
  std::int64_t share(std::int64_t all) const {
    const std::int64_t total = std::max<std::int64_t>(store_.count(), 1);
    return total <= most_ ? all : std::max<std::int64_t>(1, all * most_ / total);
  }

  void read() {
    std::set<std::int64_t> front;
    for (const std::vector<Cell>& row : pareto_front(store_, across_, up_).rows) {
      if (std::ssize(front) < k_most_on_front) front.insert(std::get<std::int64_t>(row.front()));
    }
    const std::string order = sql_name(up_.column) + (up_.better == Better::higher ? " DESC" : " ASC");
    const std::int64_t working = store_.database().integer("SELECT count(*) FROM points WHERE status = 'ok'");
    std::string on_front;
    for (const std::int64_t point : front) on_front += (on_front.empty() ? "" : ",") + std::to_string(point);
    Statement first = select(fmt::format("point IN ({}) ORDER BY {}, point", on_front, order));
    while (first.step()) add_row(row_of(first), k_front, k_blue);
    const std::int64_t others = std::max<std::int64_t>(share(working) - std::ssize(front), 0);
    Statement rest = select(fmt::format("status = 'ok' AND point NOT IN ({}) ORDER BY {} NULLS LAST, point LIMIT {}",
                                        on_front, order, others));
    while (rest.step()) add_row(row_of(rest), "surpassed", k_grey);
    tell_left_out(working - std::ssize(table_.rows), "that work, those with the worst " + spoken(store_, up_));
    const std::int64_t failed = store_.count() - working;
    const auto shown = std::ssize(table_.rows);
    Statement failures =
        select(fmt::format("status != 'ok' ORDER BY status = 'invalid', point LIMIT {}", share(failed)));
    while (failures.step()) {
      const std::string status = spoken(failures.text(k_is));
      add_row(row_of(failures), status, status == "does not fit" ? k_vermilion : k_dark_grey);
    }
    tell_left_out(failed - (std::ssize(table_.rows) - shown), "that do not work");
    notes_.push_back("The line joins the points that none surpasses in both. Points that do not work have no " +
                     spoken(store_, up_) + ": they stand at the lower edge.");
  }
  void tell_left_out(std::int64_t number, const std::string& which) {
    if (number > 0) {
      notes_.push_back(
          fmt::format("Left out here: {} {}; podsim sweep export has them.", counted_points(number), which));
    }
  }

  SweepStore& store_;
  SweepMetric across_, up_;
  std::int64_t most_;
  std::vector<std::string> columns_;
  std::vector<std::string> notes_;
  std::vector<int> colours_;
  Table table_;
};

// `most` of `count` places at equal distances, and `always`.
std::vector<std::size_t> kept(std::size_t count, std::size_t most, std::size_t always) {
  std::set<std::size_t> places{always};
  if (count <= most) most = count;
  for (std::size_t i = 0; i < most; ++i) places.insert(most > 1 ? i * (count - 1) / (most - 1) : 0);
  return {places.begin(), places.end()};
}

// Where the best number of a heat map stands.
std::pair<std::size_t, std::size_t> best_place(const Table& table, Better better) {
  std::pair<std::size_t, std::size_t> place{0, 1};
  double best = -std::numeric_limits<double>::infinity();
  for (std::size_t r = 0; r < table.rows.size(); ++r) {
    for (std::size_t c = 1; c < table.columns.size(); ++c) {
      const Cell& cell = table.rows[r][c];
      const auto* integer = std::get_if<std::int64_t>(&cell);
      const auto* number = std::get_if<double>(&cell);
      if (integer == nullptr && number == nullptr) continue;
      double value = number != nullptr ? *number : static_cast<double>(*integer);
      if (better != Better::higher) value = -value;
      if (value <= best) continue;
      best = value;
      place = {r, c};
    }
  }
  return place;
}

PageSection pivot_section(SweepStore& store, const SweepQuestions::Pivot& pivot) {
  const Table whole = pivot_table(store, pivot.rows, pivot.columns, pivot.metric, true);
  PageSection section{
      sentence_case(fmt::format("{} by {} and {}", spoken(store, pivot.metric), pivot.rows, pivot.columns)),
      {},
      {},
      {}};
  section.notes.push_back(
      fmt::format("Down: {}; across: {}. Each cell is the best of its points; the best of all is "
                  "framed, hatched cells have no point that works.",
                  pivot.rows, pivot.columns));
  const auto [best_row, best_column] = best_place(whole, pivot.metric.better);
  const std::vector<std::size_t> rows = kept(whole.rows.size(), k_most_down, best_row);
  std::vector<std::size_t> columns = kept(whole.columns.size() - 1, k_most_across, best_column - 1);
  if (rows.size() < whole.rows.size() || columns.size() < whole.columns.size() - 1) {
    section.notes.push_back(fmt::format("Shown are {} of {} by {} of {} values, at equal distances in their order.",
                                        rows.size(), whole.rows.size(), columns.size(), whole.columns.size() - 1));
  }
  Table table{whole.name, {{pivot.rows.substr(pivot.rows.rfind('.') + 1), ""}}, {}};
  const std::string unit = page_column(store, pivot.metric.column).unit;
  for (const std::size_t c : columns) table.columns.push_back({whole.columns[c + 1].name, unit});
  for (const std::size_t r : rows) {
    table.rows.push_back({csv_text(whole.rows[r].front())});
    for (const std::size_t c : columns) table.rows.back().push_back(whole.rows[r][c + 1]);
  }
  section.table = std::move(table);
  section.heat = pivot.metric.better == Better::higher ? HeatMap::higher_is_better : HeatMap::lower_is_better;
  return section;
}

PageSection values_section(SweepStore& store, const SweepMetric& metric) {
  PageSection section{"Value by value", {"The best that each value of an input can reach."}, {}, {}};
  Table table{
      "values", {{"setting", ""}, {"points", ""}, {"work", ""}, page_column(store, metric.column), {"input", ""}}, {}};
  Chart chart{.kind = ChartKind::bars, .labels = 0, .values = {3}};
  chart.groups = 4;
  constexpr std::array<int, 5> k_colours{0, 2, 6, 5, 7};
  std::size_t colour = 0;
  for (const std::string& input : store.identity().inputs) {
    const std::int64_t values = values_in(store, input);
    if (values < 2) continue;
    if (values > std::ssize(store.identity().columns) * 100) {
      section.notes.push_back(fmt::format("{} takes {} values and is left out.", input, grouped(values)));
      continue;
    }
    const Table all = value_table(store, input, metric);
    const std::vector<std::size_t> shown = kept(all.rows.size(), k_most_values, 0);
    if (shown.size() < all.rows.size()) {
      section.notes.push_back(
          fmt::format("Of {} {} of {} values are shown, at equal distances.", input, shown.size(), all.rows.size()));
    }
    for (const std::size_t r : shown) {
      const std::vector<Cell>& row = all.rows[r];
      table.rows.push_back({input + " = " + csv_text(row[0]), row[1], row[2], row[3], input});
      chart.row_colours.push_back(k_colours[colour % k_colours.size()]);
    }
    ++colour;
  }
  if (table.rows.size() > 1) section.charts.push_back(chart);
  section.table = std::move(table);
  return section;
}

std::optional<PageSection> failures_section(SweepStore& store) {
  Table table{"failures", {{"status", ""}, {"reason", ""}, {"points", ""}, {"first point", ""}}, {}};
  Statement select = store.database().prepare(
      "SELECT status, reason, count(*), min(point) FROM points WHERE status != 'ok' GROUP BY status, reason "
      "ORDER BY count(*) DESC, min(point)");
  while (select.step()) {
    table.rows.push_back({spoken(select.text(0)), select.text(1), select.cell(2), select.cell(3)});
  }
  if (table.rows.empty()) return std::nullopt;
  PageSection section{"Why points do not work", {}, {}, {}};
  section.table = shortened(std::move(table), k_most_reasons, section.notes, "podsim sweep export");
  return section;
}

PageSection definition_section(const SweepStore& store) {
  Table table{"definition", {{"line", ""}}, {}};
  std::string_view rest = store.identity().definition;
  while (!rest.empty()) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    table.rows.push_back({std::string(rest.substr(0, end))});
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return {"What was swept", {"The experiment and its axes, as the database holds them."}, {}, table, true};
}

// The name that the experiment has; that of the file where it has none.
std::string title_of(SweepStore& store) {
  Statement select = store.database().prepare("SELECT name FROM points WHERE name != '' ORDER BY point LIMIT 1");
  const std::string name = select.step() ? select.text(0) : "";
  return name.empty() ? store.path() : name;
}

}  // namespace

Page sweep_page(SweepStore& store, const SweepQuestions& questions) {
  Page page;
  page.title = title_of(store);
  page.subtitle = fmt::format("sweep over {} in {}", fmt::join(store.identity().inputs, ", "), store.path());
  page.facts = facts_of(store, questions);
  for (const SweepMetric& metric : questions.best) {
    page.sections.push_back(best_section(store, metric, questions.limit));
  }
  const auto most = k_most_points / std::max<std::int64_t>(std::ssize(questions.fronts), 1);
  for (const auto& [across, up] : questions.fronts) page.sections.push_back(Points(store, across, up, most).section());
  for (const SweepQuestions::Pivot& pivot : questions.pivots) page.sections.push_back(pivot_section(store, pivot));
  if (!questions.best.empty()) page.sections.push_back(values_section(store, questions.best.front()));
  if (std::optional<PageSection> failures = failures_section(store)) page.sections.push_back(std::move(*failures));
  page.sections.push_back(definition_section(store));
  page.foot = "written by " + store.identity().tool;
  return page;
}

}  // namespace podsim
