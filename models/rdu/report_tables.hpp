#pragma once
// The family's own tables and values, in the words of SambaTune: host against RDU latency, shares of program load,
// argument load, execution and idling, sections with their stages.

#include <vector>

#include "models/rdu/rdu_plan.hpp"
#include "sim/observe/run_result.hpp"
#include "sim/observe/table.hpp"
#include "sim/plan/family.hpp"

namespace podsim::rdu {

std::vector<Table> report_tables(const RduPlan& plan, const Lowered& lowered, const RunResult& result);
std::vector<ReportedValue> report_values(const RduPlan& plan, const Lowered& lowered, const RunResult& result);

}  // namespace podsim::rdu
