#include "sim/study/evaluate.hpp"

#include <fmt/format.h>

#include <chrono>
#include <utility>
#include <variant>

#include "sim/program/builder.hpp"
#include "sim/report/make_report.hpp"

namespace podsim {
namespace {

constexpr double k_most_exact_operations = 1e10;  // about an hour

double operations(const Program& program, const std::vector<ProgramBlock>& blocks) {
  double count = 0;
  for (const ProgramBlock& block : blocks) {
    if (const auto* segment = std::get_if<SegmentId>(&block)) {
      count += static_cast<double>(program[*segment].ops.size());
    } else {
      const Repeat& repeat = std::get<Repeat>(block);
      count += static_cast<double>(repeat.count) * operations(program, repeat.blocks);
    }
  }
  return count;
}

void refuse_endless(const Program& program) {
  const double count = operations(program, program.blocks);
  if (count <= k_most_exact_operations) return;
  Diagnostics diagnostics;
  diagnostics.error({"command line", 0, 0}, "--exact", fmt::format("would execute {:.2g} operations", count),
                    fmt::format("at most {:.0e}; without --exact one iteration stands for all and gives the same times",
                                k_most_exact_operations));
  throw ConfigError(diagnostics);
}

}  // namespace

Report check_plan(const Plan& plan, bool remedies) {
  return make_report(plan, plan.family->verdict(plan, remedies), plan.family->memory_account(plan));
}

Report simulate_plan(const Plan& plan, Engine& engine, const EvaluateOptions& options,
                     std::span<Observer* const> observers) {
  const Verdict verdict = plan.family->verdict(plan, options.remedies);
  const MemoryAccount account = plan.family->memory_account(plan);
  if (!verdict.fits() && !options.unfit) return make_report(plan, verdict, account);
  Lowered lowered = plan.family->lower(plan, {options.fold, options.merge});
  if (options.exact) refuse_endless(lowered.program);
  if (options.merge && !lowered.merged) lowered.program = merge(lowered.program);
  verify(lowered.program, lowered.platform);
  const auto begin = std::chrono::steady_clock::now();
  const RunResult result = engine.run(lowered.platform, lowered.program, observers, {options.exact});
  EngineFacts facts;
  facts.name = engine.name();
  facts.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  Report report = make_report(plan, verdict, account, {lowered, result, facts});
  if (options.details) {
    for (Table& table : plan.family->detail_tables(plan)) report.tables.push_back(std::move(table));
  }
  return report;
}

Report evaluate_point(const Plan& plan, Engine& engine, PointStorage& storage) {
  const Verdict verdict = plan.family->verdict(plan, false);
  if (!verdict.fits()) return make_values(plan, verdict, plan.family->memory_account(plan));
  Lowered lowered = plan.family->lower(plan, {.fold = true, .merge = true, .storage = &storage.program});
  Program unmerged;
  if (!lowered.merged) {
    unmerged = std::move(lowered.program);
    lowered.program = merge(unmerged);
  }
  const bool same_platform = lowered.platform.is_copy_of(storage.platform);
  const std::vector<SegmentChange>& changes = storage.program.changes();
  if (same_platform) {
    verify(lowered.program, lowered.platform, changes);
    storage.times.keep_unchanged(changes);
  } else {
    verify(lowered.program, lowered.platform);
    storage.times.forget(lowered.program.segments.size());
    storage.platform = lowered.platform;
  }
  engine.run_again(storage.result, lowered.platform, lowered.program, storage.times);
  EngineFacts facts;
  facts.name = engine.name();
  Report report = make_values(plan, {lowered, storage.result, facts});
  storage.program.give_back(std::move(lowered.merged ? lowered.program : unmerged));
  return report;
}

std::string beyond_simulated_time(const std::range_error& error) {
  return fmt::format(
      "one host call cannot be simulated: {}; expected fewer iterations or micro-batches, or constants nearer to the "
      "shipped ones",
      error.what());
}

}  // namespace podsim
