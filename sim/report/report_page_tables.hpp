#pragma once
// The sections of a report's page that have a table and a chart of it; empty where the report has nothing to show.

#include <optional>
#include <vector>

#include "sim/report/page.hpp"
#include "sim/report/report.hpp"

namespace podsim {

std::optional<PageSection> breakdown_section(const Report& report);
// One for each kind of memory.
std::vector<PageSection> memory_sections(const Report& report);
std::optional<PageSection> devices_section(const Report& report);
std::optional<PageSection> links_section(const Report& report);

// How full the memories are over the timeline's axis.
std::optional<PageSection> levels_section(const Timeline& timeline);
// The picture, with how long each part takes and how often it runs.
std::optional<PageSection> timeline_section(const Report& report, const Timeline& timeline);

}  // namespace podsim
