#include "models/rdu/remedies.hpp"

#include <fmt/format.h>

#include <optional>

#include "models/rdu/memory.hpp"
#include "models/rdu/resolve.hpp"

namespace podsim::rdu {
namespace {

RduPlan changed(const RduPlan& plan, const RduSetup& setup, const TransformerDescription& share,
                const WorkloadSettings& settings) {
  RduPlan other;
  other.setup = setup;
  other.constants = plan.constants;
  other.model = plan.model;
  other.share = share;
  other.allotment = plan.allotment;
  other.rates = plan.rates;
  compile_graphs(other, settings);
  return other;
}

bool fits(const RduPlan& plan, const WorkloadSettings& settings) {
  return judge(plan, account_memory(plan, settings)).fits();
}

std::optional<std::string> more_rdus(const RduPlan& plan, const WorkloadSettings& settings) {
  const std::int64_t most = plan.constants.system.rdus;
  if (plan.setup.tensor_parallel == TensorParallel::batch) return std::nullopt;
  for (std::int64_t parts = plan.setup.parts * 2; parts <= most; parts *= 2) {
    std::string problem;
    const auto share = cut_weights(plan.model, parts, problem);
    if (!share) continue;
    RduSetup setup = plan.setup;
    setup.parts = parts;
    setup.tensor_parallel = TensorParallel::weight;
    if (fits(changed(plan, setup, *share, settings), settings)) {
      return fmt::format("--tensor-parallel weight --n-chips {}", parts);
    }
  }
  return std::nullopt;
}

std::optional<std::string> smaller_batch(const RduPlan& plan, const WorkloadSettings& settings) {
  for (std::int64_t batch = plan.setup.batch / 2; batch >= 1; batch /= 2) {
    if (plan.setup.tensor_parallel == TensorParallel::batch && batch % plan.setup.parts != 0) return std::nullopt;
    RduSetup setup = plan.setup;
    setup.batch = batch;
    if (fits(changed(plan, setup, plan.share, settings), settings)) return fmt::format("a batch of {}", batch);
  }
  return std::nullopt;
}

std::optional<std::string> recomputation(const RduPlan& plan, const WorkloadSettings& settings) {
  if (!plan.setup.training() || plan.setup.recompute) return std::nullopt;
  RduSetup setup = plan.setup;
  setup.recompute = true;
  if (!fits(changed(plan, setup, plan.share, settings), settings)) return std::nullopt;
  return "workload.recompute = true";
}

}  // namespace

// In the order of what they cost: a third more products, then parts of the machine, then samples per step.
void add_remedies(const RduPlan& plan, const WorkloadSettings& settings, Verdict& verdict) {
  if (plan.compiled.partition.failure) return;
  std::optional<std::string> remedy = recomputation(plan, settings);
  if (!remedy) remedy = smaller_batch(plan, settings);
  if (!remedy) remedy = more_rdus(plan, settings);
  if (!remedy) return;
  for (BrokenLimit& broken : verdict.broken) broken.remedy = *remedy;
}

}  // namespace podsim::rdu
