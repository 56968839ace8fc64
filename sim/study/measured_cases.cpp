#include "sim/study/measured_cases.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>

#include "sim/config/csv.hpp"
#include "sim/study/evidence.hpp"

namespace podsim {
namespace {

class CaseCollector {
 public:
  CaseCollector(const Catalog& catalog, const ConfigFiles& configs, Diagnostics& diagnostics)
      : catalog_(catalog), configs_(configs), diagnostics_(diagnostics) {}

  void add(const ReferenceTable& reference) {
    const std::optional<CsvTable> table = parse_csv(reference.text, reference.name, diagnostics_);
    if (!table) return;
    const CaseReader* reader = nullptr;
    for (const auto& candidate : catalog_.case_readers) {
      if (reader == nullptr && candidate->accepts(table->columns)) reader = candidate.get();
    }
    if (reader == nullptr) {
      diagnostics_.error({reference.name, 1, 1}, "", "the header is of no known table of measurements",
                         "id, hardware, model_config, micro_batch and metric with value, or expected");
      return;
    }
    warn_of_misspelt_columns(reference.name, table->columns, shipped_columns(*reader));
    for (const CsvRow& row : table->rows) {
      CaseRow cells{reference.name, row.line, {}};
      for (std::size_t i = 0; i < row.cells.size(); ++i) cells.cells[table->columns[i]] = row.cells[i];
      for (const PublishedCase& published : reader->read(cells)) {
        cases_.push_back({unless_repeated(published, reference.name, row.line), reader});
      }
    }
  }

  std::vector<MeasuredCase> take() { return std::move(cases_); }

 private:
  // What the shipped tables of this kind have.
  std::vector<std::string> shipped_columns(const CaseReader& reader) const {
    std::vector<std::string> columns;
    Diagnostics ignored;  // of tables that are not asked for
    for (const ReferenceTable& shipped : shipped_references(configs_)) {
      const std::optional<CsvTable> table = parse_csv(shipped.text, shipped.name, ignored);
      if (!table || !reader.accepts(table->columns)) continue;
      columns.insert(columns.end(), table->columns.begin(), table->columns.end());
    }
    return columns;
  }

  // Columns of no known name are remarks, unless they look like a name that is absent.
  void warn_of_misspelt_columns(const std::string& file, const std::vector<std::string>& written,
                                const std::vector<std::string>& known) {
    for (const std::string& column : written) {
      if (std::ranges::count(known, column) > 0) continue;
      const std::string meant = nearest(column, known);
      if (meant.empty() || std::ranges::count(written, meant) > 0) continue;
      diagnostics_.warning({file, 1, 1}, column, "is no known column and is not read", "", meant);
    }
  }

  // A case that stands twice would count twice.
  PublishedCase unless_repeated(PublishedCase published, const std::string& file, int line) {
    const auto [first, is_new] = places_.emplace(published.id, fmt::format("{}:{}", file, line));
    if (!is_new) published.content = SkippedCase{fmt::format("its id stands in {} already", first->second)};
    return published;
  }

  const Catalog& catalog_;
  const ConfigFiles& configs_;
  Diagnostics& diagnostics_;
  std::map<std::string, std::string> places_;  // of ids
  std::vector<MeasuredCase> cases_;
};

}  // namespace

std::vector<ReferenceTable> shipped_references(const ConfigFiles& configs) {
  std::vector<ReferenceTable> tables;
  for (const std::string& path : configs.list("references/")) {
    if (path == k_evidence_table || !path.ends_with(".csv")) continue;
    tables.push_back({configs.display_name(path), configs.text(path).value_or("")});
  }
  return tables;
}

std::vector<MeasuredCase> read_measured_cases(const std::vector<ReferenceTable>& tables, const Catalog& catalog,
                                              const ConfigFiles& configs, Diagnostics& diagnostics) {
  CaseCollector collector(catalog, configs, diagnostics);
  for (const ReferenceTable& table : tables) collector.add(table);
  return collector.take();
}

std::optional<double> measured_value(const Report& report, const std::string& quantity) {
  if (quantity == "step_s") return report.step_time.duration().in_base();
  const auto own = std::ranges::find(report.values, quantity, &ReportedValue::name);
  if (own != report.values.end()) return own->value;
  if (!report.throughput) return std::nullopt;
  if (quantity == "sequences_per_s") return report.throughput->sequences_per_s;
  if (quantity == "packs_per_s") return report.throughput->samples_per_s;
  if (quantity == "samples_per_s") return report.throughput->samples_per_s;
  if (quantity == "images_per_s") return report.throughput->images_per_s;
  if (quantity == "tokens_per_s") return report.throughput->tokens_per_s;
  return std::nullopt;
}

}  // namespace podsim
