#include "sim/study/measurements.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <string_view>

#include "sim/config/csv.hpp"

namespace podsim {
namespace {

constexpr std::array<std::string_view, 4> k_own_columns = {"id", "series", "metric", "value"};

std::optional<double> positive_number(std::string_view text) {
  double number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const bool whole_cell = error == std::errc() && end == text.data() + text.size();
  if (!whole_cell || !std::isfinite(number) || !(number > 0)) return std::nullopt;
  return number;
}

bool is_small_table(const std::vector<std::string>& columns, const Catalog& catalog) {
  const auto known = [&](const auto& reader) { return reader->accepts(columns); };
  return std::ranges::none_of(catalog.case_readers, known);
}

class SmallTable {
 public:
  SmallTable(const std::string& file, const CsvTable& table, const Experiment& base, Diagnostics& diagnostics)
      : file_(file), table_(table), base_(base), diagnostics_(diagnostics) {}

  void read(std::vector<Measurement>& rows) {
    for (const std::string_view needed : {"metric", "value"}) {
      if (column(needed)) continue;
      diagnostics_.error({file_, 1, 1}, std::string(needed), "there is no such column",
                         "metric, value and keys of the experiment", nearest(needed, table_.columns));
    }
    if (!column("metric") || !column("value")) return;
    for (const CsvRow& row : table_.rows) {
      if (auto measurement = read_row(row)) rows.push_back(std::move(*measurement));
    }
  }

 private:
  std::optional<std::size_t> column(std::string_view name) const {
    const auto at = std::ranges::find(table_.columns, name);
    if (at == table_.columns.end()) return std::nullopt;
    return static_cast<std::size_t>(at - table_.columns.begin());
  }

  std::string cell(const CsvRow& row, std::string_view name, const std::string& fallback) const {
    const auto at = column(name);
    return at && !row.cells[*at].empty() ? row.cells[*at] : fallback;
  }

  std::optional<Measurement> read_row(const CsvRow& row) {
    Measurement one;
    one.id = cell(row, "id", fmt::format("{}:{}", file_, row.line));
    one.series = cell(row, "series", "");
    one.quantity = cell(row, "metric", "");
    const std::size_t at = *column("value");
    one.place = {file_, row.line, row.at[at]};
    const std::optional<double> measured = positive_number(row.cells[at]);
    if (!measured) {
      diagnostics_.error(one.place, "value", fmt::format("\"{}\" is no measurement", row.cells[at]),
                         "a positive number in the unit of the metric");
    }
    one.experiment = base_;
    for (std::size_t c = 0; c < row.cells.size(); ++c) set_key(row, c, one.experiment);
    if (!measured) return std::nullopt;
    one.measured = *measured;
    return one;
  }

  void set_key(const CsvRow& row, std::size_t c, Experiment& experiment) {
    const std::string& key = table_.columns[c];
    if (std::ranges::find(k_own_columns, key) != k_own_columns.end() || row.cells[c].empty()) return;
    const Place place{file_, row.line, row.at[c]};
    if (!is_dotted_path(key)) {
      diagnostics_.error(place, key, "is not a key", "a key such as workload.micro_batch_size");
      return;
    }
    apply_value(experiment, key, parse_override_value(row.cells[c], place), diagnostics_);
  }

  const std::string& file_;
  const CsvTable& table_;
  const Experiment& base_;
  Diagnostics& diagnostics_;
};

// Why a published case cannot be fitted to; empty: it can.
std::string unusable(const PublishedCase& published) {
  if (const auto* skipped = std::get_if<SkippedCase>(&published.content)) return skipped->reason;
  if (std::holds_alternative<OperatorCase>(published.content)) return "a single operator: no run of a model";
  if (published.quantity == k_fits) return "a memory point: it has no rate";
  if (!published.lower_bound.empty()) return "a lower bound: " + published.lower_bound;
  if (!published.excluded.empty()) return "excluded: " + published.excluded;
  if (!published.measured || !(*published.measured > 0)) return "nothing was measured";
  return "";
}

void add_published(const MeasuredCase& one, const std::vector<std::string>& overlays, Measurements& measurements) {
  const PublishedCase& published = one.published;
  if (std::string reason = unusable(published); !reason.empty()) {
    measurements.skipped.emplace_back(published.id, std::move(reason));
    return;
  }
  Measurement row{published.id,
                  published.source,
                  published.quantity,
                  *published.measured,
                  std::get<Experiment>(published.content),
                  {}};
  row.experiment.overlays = overlays;
  measurements.rows.push_back(std::move(row));
}

}  // namespace

Measurements read_measurements(const std::vector<ReferenceTable>& tables, const std::optional<Experiment>& base,
                               const std::vector<std::string>& overlays, const Catalog& catalog,
                               const ConfigFiles& configs, Diagnostics& diagnostics) {
  Measurements measurements;
  bool base_used = false;
  for (const ReferenceTable& reference : tables) {
    Diagnostics unread;
    const std::optional<CsvTable> table = parse_csv(reference.text, reference.name, unread);
    if (table && is_small_table(table->columns, catalog) && base) {
      base_used = true;
      SmallTable(reference.name, *table, *base, diagnostics).read(measurements.rows);
      continue;
    }
    if (table && is_small_table(table->columns, catalog)) {
      diagnostics.error({reference.name, 1, 1}, "", "the header is of no known table of measurements",
                        "the columns that `podsim validate` reads; or metric, value and keys, with --experiment");
      continue;
    }
    for (const MeasuredCase& one : read_measured_cases({reference}, catalog, configs, diagnostics)) {
      add_published(one, overlays, measurements);
    }
  }
  if (base && !base_used && !diagnostics.has_errors()) {
    diagnostics.warning({"command line", 0, 0}, "--experiment", "has no effect: the rows say themselves what ran");
  }
  return measurements;
}

}  // namespace podsim
