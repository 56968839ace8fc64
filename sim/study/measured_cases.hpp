#pragma once
// Measurements as tables hold them, row by row, before anything is planned.

#include <optional>
#include <string>
#include <vector>

#include "sim/plan/catalog.hpp"
#include "sim/report/report.hpp"

namespace podsim {

struct ReferenceTable {
  std::string name;  // of the file, for places
  std::string text;  // CSV
};

struct MeasuredCase {
  PublishedCase published;
  const CaseReader* reader = nullptr;  // which read it
};

// The tables under references/, without the one that evidence is taken from.
std::vector<ReferenceTable> shipped_references(const ConfigFiles& configs);

// In the order of the tables. A text that is no table, or a table of no known kind, goes to `diagnostics`; a row that
// cannot be run, or whose id stands in an earlier one, is a case with a reason.
std::vector<MeasuredCase> read_measured_cases(const std::vector<ReferenceTable>& tables, const Catalog& catalog,
                                              const ConfigFiles& configs, Diagnostics& diagnostics);

// What a report says of a measured quantity (see PublishedCase); empty: nothing.
std::optional<double> measured_value(const Report& report, const std::string& quantity);

}  // namespace podsim
