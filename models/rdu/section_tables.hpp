#pragma once
// Sections as a profiler of the machine lists them: time, what bounds it, shares of the chip, traffic by tier, and the
// stages inside.

#include "models/rdu/rdu_plan.hpp"
#include "sim/observe/table.hpp"

namespace podsim::rdu {

inline constexpr const char* k_sections_table = "sections";

// All sections; where there are many, the longest.
Table section_table(const RduPlan& plan);

// All sections where `section_table` has not all of them, and the operators of each as the stages of its pipeline: in
// proportion to their products they share the section's compute units, and a piece of a tensor takes per_piece_s in
// each. Stages describe a section, its time does not follow from them.
std::vector<Table> section_details(const RduPlan& plan);

}  // namespace podsim::rdu
