#include "models/rdu/remedies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "models/rdu/compile_graphs.hpp"
#include "models/rdu/lowering_generation.hpp"
#include "models/rdu/memory.hpp"
#include "models/rdu/serving.hpp"

namespace podsim::rdu {
namespace {

RduPlan changed(const RduPlan& plan, const RduSetup& setup, const TransformerDescription& share,
                const WorkloadSettings& settings) {
  RduPlan other;
  other.setup = setup;
  other.constants = plan.constants;
  other.model = plan.model;
  other.share = share;
  other.unet = plan.unet;
  other.isolated = plan.isolated;
  other.allotment = plan.allotment;
  other.rates = plan.rates;
  other.fusion_rules = plan.fusion_rules;
  compile_graphs(other, settings);
  return other;
}

bool fits(const RduPlan& plan, const WorkloadSettings& settings) {
  return judge(plan, account_memory(plan, settings)).fits();
}

std::optional<std::string> more_rdus(const RduPlan& plan, const WorkloadSettings& settings) {
  const std::int64_t most = plan.constants.system.rdus;
  if (plan.setup.tensor_parallel == TensorParallel::batch || plan.unet || plan.isolated) return std::nullopt;
  for (std::int64_t parts = plan.setup.parts * 2; parts <= most; parts *= 2) {
    std::string problem;
    const auto share = cut_weights(plan.model, parts, problem);
    if (!share) continue;
    RduSetup setup = plan.setup;
    setup.parts = parts;
    setup.tensor_parallel = TensorParallel::weight;
    if (fits(changed(plan, setup, *share, settings), settings)) {
      const std::int64_t copies = std::max<std::int64_t>(1, plan.setup.replicas * plan.setup.parts / parts);
      const std::string fewer =
          copies < plan.setup.replicas ? fmt::format(" and rdu.replicas = {}", copies) : std::string();
      return fmt::format("--tensor-parallel weight --n-chips {}{}", parts, fewer);
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
  if (!plan.setup.training() || plan.setup.recompute || plan.unet) return std::nullopt;
  RduSetup setup = plan.setup;
  setup.recompute = true;
  if (!fits(changed(plan, setup, plan.share, settings), settings)) return std::nullopt;
  return "workload.recompute = true";
}

// 0: not even one.
std::int64_t most_experts(const RduPlan& plan, const WorkloadSettings& settings) {
  RduSetup setup = plan.setup;
  setup.experts =
      std::min(plan.setup.experts, expert_capacity(expert_weights(plan), setup.parts, plan.constants.chip).in_ddr);
  if (setup.experts < 1) return 0;
  return fits(changed(plan, setup, plan.share, settings), settings) ? setup.experts : 0;
}

}  // namespace

// In the order of what they cost: a third more products, then parts of the machine, then samples per step.
void add_remedies(const RduPlan& plan, const WorkloadSettings& settings, Verdict& verdict) {
  if (plan.setup.experts > 1) {
    const std::int64_t most = most_experts(plan, settings);
    if (most >= 1) {
      for (BrokenLimit& broken : verdict.broken) broken.remedy = fmt::format("rdu.experts = {}", most);
      return;
    }
  }
  std::optional<std::string> remedy = recomputation(plan, settings);
  if (!remedy) remedy = smaller_batch(plan, settings);
  if (!remedy) remedy = more_rdus(plan, settings);
  if (!remedy) return;
  for (BrokenLimit& broken : verdict.broken) broken.remedy = *remedy;
}

}  // namespace podsim::rdu
