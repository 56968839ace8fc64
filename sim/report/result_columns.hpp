#pragma once
// A report as one row of a table: what CSV reports print and sweeps store.

#include <vector>

#include "sim/observe/table.hpp"
#include "sim/report/report.hpp"

namespace podsim {

// In the order of the cells; units stand in the names too.
const std::vector<Column>& result_columns();

// An empty cell means: not known or without meaning.
std::vector<Cell> result_cells(const Report& report);
// The same behind what `row` has.
void add_result_cells(const Report& report, std::vector<Cell>& row);

// As CSV prints it: numbers shortest, truth values as words.
std::string csv_text(const Cell& cell);

}  // namespace podsim
