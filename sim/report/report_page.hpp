#pragma once
// The report of a run or a check as a page.

#include <string_view>

#include "sim/report/page.hpp"
#include "sim/report/report.hpp"

namespace podsim {

// `timeline`: of the run's own observer; null: none was kept. Equal devices, memories and links share a row, at most
// 200 rows stand in a table, and what is left out is said.
Page report_page(const Report& report, const Timeline* timeline);

// The head of the report and the tables called `view`, or that belong to it, with at most 200 rows each.
Page view_page(const Report& report, std::string_view view);

}  // namespace podsim
