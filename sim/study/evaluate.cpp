#include "sim/study/evaluate.hpp"

#include <chrono>

#include "sim/program/builder.hpp"
#include "sim/report/make_report.hpp"

namespace podsim {

Report check_plan(const Plan& plan, bool remedies) {
  return make_report(plan, plan.family->verdict(plan, remedies), plan.family->memory_account(plan));
}

Report simulate_plan(const Plan& plan, Engine& engine, const EvaluateOptions& options,
                     std::span<Observer* const> observers) {
  const Verdict verdict = plan.family->verdict(plan, options.remedies);
  const MemoryAccount account = plan.family->memory_account(plan);
  Lowered lowered = plan.family->lower(plan, {options.fold});
  if (options.merge) lowered.program = merge(lowered.program);
  verify(lowered.program, lowered.platform);
  const auto begin = std::chrono::steady_clock::now();
  const RunResult result = engine.run(lowered.platform, lowered.program, observers, {options.exact});
  EngineFacts facts;
  facts.name = engine.name();
  facts.wall_s = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  return make_report(plan, verdict, account, {lowered, result, facts});
}

}  // namespace podsim
