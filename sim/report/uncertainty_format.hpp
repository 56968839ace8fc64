#pragma once
// How far a result may be off and what would change it, in the report for people and in JSON.

#include <string>
#include <vector>

#include "sim/core/json_writer.hpp"
#include "sim/report/report.hpp"

namespace podsim {

// One line for the head: the interval of the rate that the head shows, and of the verdict.
std::string interval_headline(const Report& report);
// Where the interval comes from, a line each; empty without an interval.
std::vector<std::string> interval_lines(const IntervalReport& interval);
// The constants behind it.
Table interval_table(const IntervalReport& interval);
// The strongest levers, a line each: at most three that make the run faster.
std::vector<std::string> lever_lines(const std::vector<Lever>& levers);
// Where much of the step rests on assumed constants and no interval says what that means; else empty.
std::string assumed_line(const Report& report);

// The members "interval" (null without), "levers" and "assumed_constants_pct".
void write_uncertainty(JsonWriter& json, const Report& report);

}  // namespace podsim
