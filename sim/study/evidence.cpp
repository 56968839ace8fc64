#include "sim/study/evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "sim/config/csv.hpp"
#include "sim/plan/plan.hpp"
#include "sim/units/text.hpp"

namespace podsim {
namespace {

constexpr std::size_t k_fixed_columns = 3;  // id, measured, predicted

// Numbers of the table; it is generated, so what does not read is a broken file.
std::optional<double> number_of(const std::string& text) {
  const auto read = parse_quantity_of(text, "number");
  if (const double* value = std::get_if<double>(&read)) return *value;
  return std::nullopt;
}

class Evidence {
 public:
  Evidence(const CsvTable& table, const std::string& file, const std::vector<CaseFeature>& features)
      : table_(table), file_(file), features_(features) {
    check_header();
    select_rows();
  }

  EvidenceReport report() const {
    EvidenceReport report;
    const CsvRow* nearest = nullptr;
    double least = 0;
    for (const CsvRow* row : rows_) {
      const double distance = distance_to(*row);
      if (nearest != nullptr && !(distance < least)) continue;
      nearest = row;
      least = distance;
    }
    if (nearest == nullptr) return report;
    report.nearest_case = nearest->cells[0];
    report.its_error_pct = 100 * (number(*nearest, 2) / number(*nearest, 1) - 1);
    for (std::size_t f = 0; f < features_.size(); ++f) add_outside(f, report);
    return report;
  }

 private:
  [[noreturn]] void broken(int line, const std::string& problem) const {
    Diagnostics diagnostics;
    diagnostics.error({file_, line, 0}, "", problem, "the table that `podsim validate --evidence FILE` writes");
    throw ConfigError(diagnostics);
  }

  void check_header() {
    const bool sound = table_.columns.size() > k_fixed_columns && table_.columns[0] == "id" &&
                       table_.columns[1] == "measured" && table_.columns[2] == "predicted";
    if (!sound) broken(1, "the columns are not those of the evidence");
  }

  // Cases of other families have other columns, and empty cells in these.
  void select_rows() {
    for (const CaseFeature& feature : features_) {
      const auto found = std::ranges::find(table_.columns, feature.name);
      if (found == table_.columns.end()) return;
      columns_.push_back(static_cast<std::size_t>(found - table_.columns.begin()));
    }
    for (const CsvRow& row : table_.rows) {
      const bool same = std::ranges::all_of(columns_, [&](std::size_t column) { return !row.cells[column].empty(); });
      if (same) rows_.push_back(&row);
    }
  }

  double number(const CsvRow& row, std::size_t column) const {
    const std::optional<double> value = number_of(row.cells[column]);
    if (!value || !(*value > 0 || column >= k_fixed_columns)) {
      broken(row.line, fmt::format("{} \"{}\" is no positive number", table_.columns[column], row.cells[column]));
    }
    return *value;
  }

  double distance_to(const CsvRow& row) const {
    double distance = 0;
    for (std::size_t f = 0; f < features_.size(); ++f) {
      const CaseFeature& feature = features_[f];
      if (feature.number) {
        const double theirs = std::max(1.0, number(row, columns_[f]));
        distance += feature.weight * std::abs(std::log2(std::max(1.0, *feature.number) / theirs));
      } else if (row.cells[columns_[f]] != feature.text) {
        distance += feature.weight;
      }
    }
    return distance;
  }

  // Ranges of numbers are those of the same kind of model, or of all cases when there is none. A word may have been
  // compared with other kinds of model alone.
  void add_outside(std::size_t f, EvidenceReport& report) const {
    const CaseFeature& feature = features_[f];
    const std::size_t column = columns_[f];
    const auto is_same_kind = [&](const CsvRow* row) { return row->cells[columns_[0]] == features_.front().text; };
    const bool same_kind = std::ranges::any_of(rows_, is_same_kind);
    if (!feature.number) {
      const auto has_it = [&](const CsvRow* row) { return row->cells[column] == feature.text; };
      const bool seen = std::ranges::any_of(rows_, has_it);
      if (!seen) report.outside.push_back(fmt::format("{} {}", feature.name, feature.text));
      const bool together =
          std::ranges::any_of(rows_, [&](const CsvRow* row) { return is_same_kind(row) && has_it(row); });
      if (seen && same_kind && !together) {
        report.outside.push_back(fmt::format("{} {} with {}", feature.name, feature.text, features_.front().text));
      }
      return;
    }
    std::optional<double> lowest;
    std::optional<double> highest;
    for (const CsvRow* row : rows_) {
      if (same_kind && !is_same_kind(row)) continue;
      const double value = number(*row, column);
      lowest = std::min(lowest.value_or(value), value);
      highest = std::max(highest.value_or(value), value);
    }
    if (*feature.number >= *lowest && *feature.number <= *highest) return;
    const std::string range = *lowest == *highest
                                  ? format_number(*lowest)
                                  : fmt::format("{} to {}", format_number(*lowest), format_number(*highest));
    report.outside.push_back(fmt::format("{} {} (compared: {})", feature.name, feature.text, range));
  }

  const CsvTable& table_;
  const std::string& file_;
  const std::vector<CaseFeature>& features_;
  std::vector<std::size_t> columns_;  // by feature
  std::vector<const CsvRow*> rows_;   // with all features
};

}  // namespace

EvidenceReport evidence_for(const Plan& plan, const Catalog& catalog, const ConfigFiles& configs) {
  const std::optional<std::string> text = configs.text(k_evidence_table);
  if (!text) return {};
  std::vector<CaseFeature> features;
  for (const auto& reader : catalog.case_readers) {
    if (features.empty()) features = reader->features(plan);
  }
  if (features.empty()) return {};
  const std::string file = configs.display_name(k_evidence_table);
  Diagnostics diagnostics;
  const std::optional<CsvTable> table = parse_csv(*text, file, diagnostics);
  if (!table) throw ConfigError(diagnostics);
  return Evidence(*table, file, features).report();
}

std::string evidence_table(const Validation& validation) {
  const auto belongs = [](const ValidatedCase& one) { return one.counts() && one.error_pct && one.is_rate(); };
  std::vector<std::string> header{"id", "measured", "predicted"};
  for (const ValidatedCase& one : validation.cases) {
    if (!belongs(one)) continue;
    for (const CaseFeature& feature : one.features) {
      if (std::ranges::count(header, feature.name) == 0) header.push_back(feature.name);
    }
  }
  std::string text;
  for (const ValidatedCase& one : validation.cases) {
    if (!belongs(one)) continue;
    if (text.empty()) text = csv_line(header);
    std::vector<std::string> cells{one.id, format_number(*one.measured), fmt::format("{:.6g}", *one.predicted)};
    cells.resize(header.size());
    for (const CaseFeature& feature : one.features) {
      cells[static_cast<std::size_t>(std::ranges::find(header, feature.name) - header.begin())] = feature.text;
    }
    text += csv_line(cells);
  }
  return text;
}

}  // namespace podsim
