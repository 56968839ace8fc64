#pragma once
// From a plan and what its simulation measured to the report.

#include "sim/plan/plan.hpp"
#include "sim/report/report.hpp"

namespace podsim {

// Of a check: no simulation; devices show their memories from the account.
Report make_report(const Plan& plan, const Verdict& verdict, const MemoryAccount& account);

// What a simulation adds.
struct SimulatedRun {
  const Lowered& lowered;
  const RunResult& result;
  EngineFacts engine;  // `name` and `wall_s` given; the rest is taken from the run
};
Report make_report(const Plan& plan, const Verdict& verdict, const MemoryAccount& account, const SimulatedRun& run);

// Puts the outlook into a report of the same plan; effective rate = rate × (1 - skipped - clipped share of updates).
void add_loss_scale(LossScaleOutlook outlook, Report& report);

// The values that result_cells holds, and nothing else: neither devices and links one by one, nor tables, constants and
// warnings. Of a plan that fits, and of one that is only checked.
Report make_values(const Plan& plan, const SimulatedRun& run);
Report make_values(const Plan& plan, const Verdict& verdict, const MemoryAccount& account);

// One of n equal steps of a run: each boundary between parts is rounded, so the parts sum to `step_time_of` exactly.
CostVector breakdown_of_step(const CostVector& whole, std::int64_t steps);
// total / steps, rounded to the nearest picosecond, halves up.
SimTime step_time_of(SimTime total, std::int64_t steps);

// FLOP utilisation = FLOP of a step / (devices × peak of the multiply mode × step time).
Throughput throughput_of(const StepFacts& facts, SimTime step_time);

// updates = ceil(target samples / global batch); time = updates × step time. Empty when no target is set. Targets are
// target_samples, else target_tokens / tokens of a sample, else dataset_samples × epochs (1 when not given).
std::optional<TimeToTrain> time_to_train(const WorkloadSettings& settings, const StepFacts& facts, SimTime step_time);

}  // namespace podsim
