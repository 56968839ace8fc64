// podsim sweep show: what a sweep found.

#include <fmt/format.h>

#include "sim/report/human.hpp"
#include "sim/report/result_columns.hpp"
#include "sim/report/text_table.hpp"
#include "sim/study/sweep.hpp"
#include "sim/study/sweep_tables.hpp"
#include "sim/units/text.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

std::string shown(const Cell& cell) {
  if (const double* number = std::get_if<double>(&cell)) return format_significant(*number);
  return csv_text(cell);
}

std::string text_of(const Table& table) {
  TextTable text;
  for (const Column& column : table.columns) text.column(column.name, Align::right);
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) cells.push_back(shown(cell));
    text.row(std::move(cells));
  }
  return fmt::format("\n{}\n{}", table.name, table.rows.empty() ? "  none\n" : text.text(SIZE_MAX));
}

std::vector<std::string> split(const std::string& text) {
  std::vector<std::string> parts{""};
  for (const char c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::string head_of(SweepStore& store) {
  const SweepIdentity& identity = store.identity();
  const Shard shard{identity.shard, identity.shards};
  const std::int64_t total = shard.size(identity.points);
  std::string text = fmt::format("{}: {} rows of {} points", store.path(), grouped(store.count()), grouped(total));
  if (identity.shards > 1) text += fmt::format(", shard {}/{}", identity.shard, identity.shards);
  text += identity.complete ? "\n" : ", not finished\n";
  for (const std::vector<Cell>& row : status_table(store).rows) {
    text += fmt::format("  {:<14} {}\n", csv_text(row[0]), grouped(std::get<std::int64_t>(row[1])));
  }
  const std::vector<AuditRow> audit = store.audit();
  if (!audit.empty()) {
    text += fmt::format("  {} points run again on simgrid, largest difference {:.2g}\n", audit.size(),
                        judge_audit(audit).largest_difference);
  }
  return text + fmt::format("  inputs {:.12}…, written by {}\n", identity.input_sha256, identity.tool);
}

Table pivot_of(SweepStore& store, const std::string& text) {
  const std::vector<std::string> parts = split(text);
  if (parts.size() < 2 || parts.size() > 3) {
    throw UsageError(fmt::format("option --table: \"{}\" is not like ROWS,COLUMNS or ROWS,COLUMNS,METRIC", text));
  }
  const SweepMetric metric = sweep_metric(store, parts.size() > 2 ? parts[2] : "samples_per_s");
  return pivot_table(store, parts[0], parts[1], metric);
}

Table front_of(SweepStore& store, const std::string& text) {
  const std::vector<std::string> parts = split(text);
  if (parts.size() != 2) throw UsageError(fmt::format("option --pareto: \"{}\" is not like METRIC,METRIC", text));
  return pareto_front(store, sweep_metric(store, parts[0]), sweep_metric(store, parts[1]));
}

}  // namespace

const VerbSpec& sweep_show_spec() {
  static const VerbSpec k_spec{
      "sweep show",
      "sweep show FILE.sqlite [options]",
      "Show what a sweep found; it may still be running.",
      "METRIC is a column of the database; COLUMN:min or COLUMN:max says which end is better where it is not obvious.",
      {{"best", "METRIC", "the best points by it (default: samples_per_s)", true},
       {"pareto", "METRIC,METRIC", "the points that none surpasses in both", true},
       {"table", "AXIS,AXIS[,METRIC]", "the best value by two axes", true},
       {"limit", "N", "how many best points (default 10)"}},
      {"podsim sweep show sweep.sqlite --best tokens_per_s --limit 3",
       "podsim sweep show sweep.sqlite --pareto sequences_per_s,devices --table "
       "workload.micro_batch_size,system"}};
  return k_spec;
}

ExitCode cmd_sweep_show(const Arguments& arguments) {
  if (arguments.words().empty()) throw UsageError("no database: give the file that `podsim sweep run` wrote");
  const std::int64_t limit = integer_option(arguments, "limit").value_or(10);
  if (limit < 1) throw UsageError(fmt::format("option --limit: {} is not above 0", limit));
  SweepStore store = SweepStore::read(arguments.words().front());
  std::vector<std::string> best = arguments.values("best");
  if (best.empty() && !arguments.has("pareto") && !arguments.has("table")) best = {"samples_per_s"};
  std::string text = head_of(store);
  for (const std::string& metric : best) text += text_of(best_points(store, sweep_metric(store, metric), limit));
  for (const std::string& metrics : arguments.values("pareto")) text += text_of(front_of(store, metrics));
  for (const std::string& axes : arguments.values("table")) text += text_of(pivot_of(store, axes));
  print(text);
  return ExitCode::done;
}

}  // namespace podsim
