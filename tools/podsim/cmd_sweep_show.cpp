// podsim sweep show: what a sweep found.

#include <fmt/format.h>

#include <algorithm>

#include "sim/report/human.hpp"
#include "sim/report/result_columns.hpp"
#include "sim/report/text_table.hpp"
#include "sim/study/sweep.hpp"
#include "sim/study/sweep_page.hpp"
#include "sim/study/sweep_tables.hpp"
#include "sim/units/text.hpp"
#include "tools/podsim/experiment_input.hpp"
#include "tools/podsim/page_output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

std::string shown(const Cell& cell) {
  if (const double* number = std::get_if<double>(&cell)) return format_significant(*number);
  return csv_text(cell);
}

std::string text_of(const Table& table) {
  TextTable text;
  for (std::size_t c = 0; c < table.columns.size(); ++c) {
    const bool words =
        std::ranges::any_of(table.rows, [&](const auto& row) { return std::holds_alternative<std::string>(row[c]); });
    text.column(table.columns[c].name, words ? Align::left : Align::right, Overflow::wrap);
  }
  for (const std::vector<Cell>& row : table.rows) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) cells.push_back(shown(cell));
    text.row(std::move(cells));
  }
  return fmt::format("\n{}\n{}", table.name, table.rows.empty() ? "  none\n" : text.blocks());
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

SweepQuestions::Pivot pivot_from(const SweepStore& store, const std::string& text) {
  const std::vector<std::string> parts = split(text);
  if (parts.size() < 2 || parts.size() > 3) {
    throw UsageError(fmt::format("option --table: \"{}\" is not like ROWS,COLUMNS or ROWS,COLUMNS,METRIC", text));
  }
  return {parts[0], parts[1], sweep_metric(store, parts.size() > 2 ? parts[2] : "samples_per_s")};
}

std::pair<SweepMetric, SweepMetric> front_from(const SweepStore& store, const std::string& text) {
  const std::vector<std::string> parts = split(text);
  if (parts.size() != 2) throw UsageError(fmt::format("option --pareto: \"{}\" is not like METRIC,METRIC", text));
  return {sweep_metric(store, parts[0]), sweep_metric(store, parts[1])};
}

SweepQuestions questions_from(const Arguments& arguments, const SweepStore& store) {
  SweepQuestions questions;
  for (const std::string& metric : arguments.values("best")) questions.best.push_back(sweep_metric(store, metric));
  for (const std::string& metrics : arguments.values("pareto")) questions.fronts.push_back(front_from(store, metrics));
  for (const std::string& axes : arguments.values("table")) questions.pivots.push_back(pivot_from(store, axes));
  return questions;
}

std::string text_of(SweepStore& store, const SweepQuestions& questions) {
  std::string text = head_of(store);
  for (const SweepMetric& metric : questions.best) text += text_of(best_points(store, metric, questions.limit));
  for (const auto& [first, second] : questions.fronts) text += text_of(pareto_front(store, first, second));
  for (const auto& [rows, columns, metric] : questions.pivots)
    text += text_of(pivot_table(store, rows, columns, metric));
  return text;
}

const OptionSpec& format_option() {
  static const OptionSpec k_option{"format", "NAME", "", false, {"text", "html", "markdown"}};
  return k_option;
}

}  // namespace

const VerbSpec& sweep_show_spec() {
  static const VerbSpec k_spec{
      "sweep show",
      "sweep show FILE.sqlite [options]",
      "Show what a sweep found; it may still be running.",
      "METRIC is a column of the database; COLUMN:min or COLUMN:max says which end is better where it is not obvious.\n"
      "A page shows, where nothing is asked for, the best points, rate against devices or memory, and heat maps of "
      "the\n"
      "axes that move the rate most.",
      joined({{"best", "METRIC", "the best points by it (default: samples_per_s)", true},
              {"pareto", "METRIC,METRIC", "the points that none surpasses in both", true},
              {"table", "AXIS,AXIS[,METRIC]", "the best value by two axes", true},
              {"limit", "N", "how many best points (default 10)"},
              format_option()},
             page_output_options()),
      {"podsim sweep show sweep.sqlite --best tokens_per_s --limit 3",
       "podsim sweep show sweep.sqlite --pareto sequences_per_s,devices --table "
       "workload.micro_batch_size,system"}};
  return k_spec;
}

ExitCode cmd_sweep_show(const Arguments& arguments) {
  if (arguments.words().empty()) throw UsageError("no database: give the file that `podsim sweep run` wrote");
  const std::int64_t limit = integer_option(arguments, "limit").value_or(10);
  if (limit < 1) throw UsageError(fmt::format("option --limit: {} is not above 0", limit));
  const PageOutput output(arguments, format_option(), "sweep");
  SweepStore store = SweepStore::read(arguments.words().front());
  SweepQuestions questions = questions_from(arguments, store);
  const bool asked = arguments.has("best") || arguments.has("pareto") || arguments.has("table");
  if (!asked && output.is_page()) questions = usual_questions(store);
  if (!asked && !output.is_page()) questions.best = {sweep_metric(store, "samples_per_s")};
  questions.limit = limit;
  if (output.is_page()) {
    output.show(sweep_page(store, questions), store.identity().input_sha256);
  } else {
    output.show(text_of(store, questions));
  }
  return ExitCode::done;
}

}  // namespace podsim
