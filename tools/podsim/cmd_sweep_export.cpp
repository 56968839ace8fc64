// podsim sweep export: a database as text.

#include "sim/core/json_writer.hpp"
#include "sim/report/report.hpp"
#include "sim/report/result_columns.hpp"
#include "sim/store/sweep_store.hpp"
#include "tools/podsim/output.hpp"
#include "tools/podsim/verbs.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_piece = 1 << 16;  // bytes printed at once

// Calls `row` with the cells of each point, in the order of the points.
template <class Row>
void each_row(SweepStore& store, const Row& row) {
  Statement select = store.database().prepare("SELECT * FROM points ORDER BY point");
  while (select.step()) {
    std::vector<Cell> cells;
    for (int c = 0; c < select.columns(); ++c) cells.push_back(select.cell(c));
    row(cells);
  }
}

// Collects text and passes it on in pieces: a sweep may be larger than memory.
class Pieces {
 public:
  explicit Pieces(std::string file) : file_(std::move(file)) {}
  void add(const std::string& text) {
    text_ += text;
    if (file_.empty() && text_.size() >= k_piece) {
      print(text_);
      text_.clear();
    }
  }
  void finish() const {
    if (file_.empty())
      print(text_);
    else
      write_file(file_, text_);
  }

 private:
  std::string file_;
  std::string text_;
};

void write_csv(SweepStore& store, Pieces& pieces) {
  std::vector<std::string> names;
  for (const Column& column : store.identity().columns) names.push_back(column.name);
  pieces.add(csv_line(names));
  each_row(store, [&](const std::vector<Cell>& row) {
    std::vector<std::string> cells;
    for (const Cell& cell : row) cells.push_back(csv_text(cell));
    pieces.add(csv_line(cells));
  });
}

void write_cell(JsonWriter& json, const Cell& cell) {
  std::visit(
      [&](const auto& content) {
        if constexpr (std::is_same_v<std::decay_t<decltype(content)>, std::monostate>)
          json.null();
        else if constexpr (std::is_same_v<std::decay_t<decltype(content)>, std::string>)
          json.value(std::string_view(content));
        else
          json.value(content);
      },
      cell);
}

void write_json(SweepStore& store, Pieces& pieces) {
  const SweepIdentity& identity = store.identity();
  JsonWriter json;
  json.begin_object();
  json.key("sweep");
  json.begin_object();
  json.member("input_sha256", std::string_view(identity.input_sha256));
  json.member("tool", std::string_view(identity.tool));
  json.member("points", identity.points);
  json.member("definition", std::string_view(identity.definition));
  json.end_object();
  json.key("columns");
  json.begin_array();
  for (const Column& column : identity.columns) {
    json.begin_object();
    json.member("name", std::string_view(column.name));
    json.member("unit", std::string_view(column.unit));
    json.end_object();
  }
  json.end_array();
  json.key("rows");
  json.begin_array();
  each_row(store, [&](const std::vector<Cell>& row) {
    json.begin_object();
    for (std::size_t c = 0; c < row.size(); ++c) {
      json.key(identity.columns[c].name);
      write_cell(json, row[c]);
    }
    json.end_object();
  });
  json.end_array();
  json.end_object();
  pieces.add(json.text());
}

const OptionSpec& format_option() {
  static const OptionSpec k_option{"format", "NAME", "", false, {"csv", "json"}};
  return k_option;
}

}  // namespace

const VerbSpec& sweep_export_spec() {
  static const VerbSpec k_spec{
      "sweep export",
      "sweep export FILE.sqlite [options]",
      "Print a sweep's rows in the order of its points.",
      "An empty cell (CSV) or null (JSON) means: not known or without meaning.",
      {format_option(),
       {"out", "FILE", "write there and not to standard output"},
       {"force", "", "let --out replace a file"}},
      {"podsim sweep export sweep.sqlite --out sweep.csv", "podsim sweep export sweep.sqlite --format json"}};
  return k_spec;
}

ExitCode cmd_sweep_export(const Arguments& arguments) {
  if (arguments.words().empty()) throw UsageError("no database: give the file that `podsim sweep run` wrote");
  const std::string format = choice_option(arguments, format_option());
  const std::string file = arguments.value("out").value_or("");
  if (!file.empty()) {
    refuse_input(file, arguments.words());
    refuse_overwrite(file, arguments.has("force"));
  }
  SweepStore store = SweepStore::read(arguments.words().front());
  Pieces pieces(file);
  if (format == "csv")
    write_csv(store, pieces);
  else
    write_json(store, pieces);
  pieces.finish();
  return ExitCode::done;
}

}  // namespace podsim
