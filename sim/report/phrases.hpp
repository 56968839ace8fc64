#pragma once
// What every format for people says in the same words: the lines of a report's head, its batch, limits and engine.

#include <cstdint>
#include <string>
#include <vector>

#include "sim/report/report.hpp"
#include "sim/units/counts.hpp"

namespace podsim {

// "Throughput", "5,080 sequences/s, …".
struct HeadLine {
  std::string label;
  std::string content;
};

// What matters most: throughput, step, efficiency, verdict, bottleneck, evidence; those that the report has.
std::vector<HeadLine> head_lines(const Report& report);
// The nearest published measurement, its error, and in what the run lies outside of what was compared.
std::string evidence_text(const EvidenceReport& evidence);
// "system, software, model, mode".
std::string subtitle_text(const Report& report);
// "sram on device0 needs 1.2 GiB, has 624 MiB; try …": the remedy where there is one.
std::string broken_limit_text(const BrokenLimit& broken);
// The one change that mends every broken limit; empty: none does, they want different ones, or there is one limit
// alone.
std::string shared_remedy(const Verdict& verdict);
// A line for each kind of limit that is broken, with the cheapest remedy where several lines do not share it.
std::vector<std::string> broken_limit_lines(const Verdict& verdict);
std::vector<std::string> batch_lines(const Report& report);
std::string training_line(const TimeToTrain& training);
std::vector<std::string> latency_lines(const Report& report);
std::string engine_line(const EngineFacts& engine);

// "inter device".
std::string spoken(CostCategory category);
// 0 when `whole` is 0.
double percent_of(double part, double whole);
double percent_of(SimTime part, SimTime whole);
double percent_of(Bytes part, Bytes whole);

// That with the largest share of its limit in use; null when there is none with a limit.
const MemoryReport* fullest_memory(const Report& report);

}  // namespace podsim
