#pragma once
// The result of a run as a value; every formatter is a pure function of it.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/config/constants.hpp"
#include "sim/observe/run_result.hpp"
#include "sim/observe/table.hpp"
#include "sim/plan/family.hpp"
#include "sim/plan/loss_scale_outlook.hpp"
#include "sim/plan/verdict.hpp"
#include "sim/report/uncertainty.hpp"

namespace podsim {

struct EngineFacts {
  std::string name;
  double wall_s = 0;  // the only value that differs between two identical runs
  std::int64_t events = 0;
  SimTime simulated;  // length of the simulated program run
  bool folded = false;
  bool repeats = false;
  std::vector<std::string> not_folded;
};

struct Throughput {
  double samples_per_s = 0;
  std::optional<double> sequences_per_s, packs_per_s, tokens_per_s, images_per_s;
  double samples_per_s_per_device = 0;
  double mfu_pct = 0;
  double hfu_pct = 0;
  std::optional<double> effective_samples_per_s = {};  // with a loss scale: of updates neither skipped nor clipped
};

// How long one request waits; of inference and generation.
struct Latency {
  std::optional<double> request_s, time_to_first_token_s, time_per_output_token_s;
};

struct MemoryReport {
  std::string name;
  Bytes capacity, limit, peak, always_live;
  SimTime peak_time;
  std::vector<std::pair<std::string, Bytes>> categories;  // at the peak
};

struct DeviceReport {
  std::string id;
  double utilisation_pct = 0;
  CostVector breakdown;  // for one step
  std::vector<MemoryReport> memories;
};

struct LinkReport {
  std::string name;
  Bytes bytes;
  double busy_pct = 0;
};

struct TimeToTrain {
  double target_samples = 0;  // sequences, where several are packed into one sample
  double updates = 0;
  double time_s = 0;
  std::vector<std::string> excluded;
};

struct EvidenceReport {
  std::string nearest_case;  // empty: nothing was compared
  std::optional<double> its_error_pct;
  std::vector<std::string> outside;  // in what this run lies outside of what was validated
};

// The memory with the largest share of its limit in use.
struct FullestMemory {
  std::string name;  // empty: none has a limit
  double fill_pct = -1;
};
double fill_pct(Bytes used, Bytes limit);

struct Report {
  std::string tool_version, tool_commit;
  std::string name, system, software, model;
  RunMode mode = RunMode::training;
  std::string inputs_sha256;
  std::vector<ResolvedKey> plan;
  std::optional<EngineFacts> engine;  // absent in a check
  Verdict verdict;
  EvidenceReport evidence;
  StepFacts batch;
  std::optional<Throughput> throughput;  // absent in a check
  std::optional<Latency> latency;
  std::vector<ReportedValue> values;  // of the family alone
  SimTime step_time;                  // one weight update, host call or request, see StepFacts
  std::string busiest_device;         // empty in a check
  CostVector breakdown;               // of the busiest device, for one step; sums to step_time
  ScheduleFacts schedule;
  std::optional<SimTime> cycle_time;
  std::optional<TimeToTrain> training;
  std::optional<CompileEstimate> compile;
  std::optional<LossScaleOutlook> loss_scaling;  // of a training whose gradients are modelled
  std::vector<DeviceReport> devices;             // in a check their memories alone, from the account
  std::optional<FullestMemory> fullest_memory;   // where devices are left out
  std::vector<LinkReport> links;                 // of one program run
  std::string bottleneck;                        // resource or category
  double bottleneck_pct = 0;
  std::vector<Constant> provenance;  // constants read by this run
  std::vector<Table> tables;
  std::vector<std::string> warnings;
  std::optional<IntervalReport> interval;  // where it was asked for
  std::vector<Lever> levers;               // the strongest first; empty: not looked for
  std::optional<double> assumed_pct;       // of the step that rests on assumed constants; empty: not looked for
  std::vector<std::pair<std::string, std::vector<MemoryAccountEntry>>> account;  // memory by device, from the plan
};

std::string to_text(const Report& report);
// Its heading and rows, as in a report; columns beyond `width` are left out and counted.
std::string to_text(const Table& table, std::size_t width = 100);
// The tables of that name and those that belong to it, whole; empty when there are none.
std::string view_text(const Report& report, std::string_view table);
std::string to_json(const Report& report);
std::string to_csv(const Report& report);  // a header line and a row

// The columns of to_csv, units in their names, and the cells of one report, unquoted: what sweeps put behind their
// axes.
std::vector<std::string> csv_header();
std::vector<std::string> csv_row(const Report& report);
// One line of comma-separated values with its line end. Cells are quoted where they need it, and an apostrophe stands
// before a text that a spreadsheet would run as a formula.
std::string csv_line(const std::vector<std::string>& cells);

std::string_view name(RunMode mode);

}  // namespace podsim
