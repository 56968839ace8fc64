#include "models/ipu/memory/remedies.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/ipu/cost/estimate.hpp"
#include "models/ipu/cost/estimate_inference.hpp"
#include "models/ipu/memory/remedy_changes.hpp"
#include "models/ipu/memory/verdict.hpp"
#include "models/workloads/results.hpp"

namespace podsim::ipu {
namespace {

double time_of(const MemoryInputs& inputs, const OperatorCostModel& costs) {
  const SimTime time = inputs.setup.training() ? estimate_step(inputs, costs).total()
                                               : estimate_call(inputs, costs, inputs.setup.inference.sharded).call;
  return time.duration().in_base();
}

// Whether there are as many micro-batches as the pipeline has stages.
bool can_run(const IpuPlan& ipu_plan, const RunSetup& setup, const Pipeline& pipeline) {
  if (ipu_plan.written.io_tiles && pipeline.forward_stages() > 1) return false;
  if (setup.training()) return setup.gradient_accumulation_steps >= pipeline.training_stages();
  return setup.inference.sharded || setup.device_iterations >= pipeline.forward_stages();
}

// Whether the activations of one block alone are too many for an IPU, whatever its operators need beside them: planning
// those takes the longer, the larger they are.
bool holds_too_much(const ModelGraph& graph, const RunSetup& setup, const IpuConstants& constants) {
  const Bytes limit = usable_memory(constants);
  for (std::size_t block = 0; block < graph.blocks.size(); ++block) {
    if (live_activations(graph, setup, block) > limit) return true;
  }
  return false;
}

// Micro-batches per second of a replica; 0 when it does not fit or cannot run.
double rate_of(const Plan& plan, const IpuPlan& ipu_plan, const Candidate& candidate) {
  const bool rebuild = candidate.settings.micro_batch_size != plan.settings.micro_batch_size ||
                       candidate.settings.sequence_length != plan.settings.sequence_length ||
                       candidate.settings.masked_tokens != plan.settings.masked_tokens;
  const ModelGraph rebuilt = rebuild ? plan.model_kind->build(plan.shape, candidate.settings) : ModelGraph();
  const ModelGraph& graph = rebuild ? rebuilt : plan.graph;
  RunSetup setup = candidate.setup;
  setup.inference.results = result_bytes(graph, plan.shape, candidate.settings);
  if (holds_too_much(graph, setup, ipu_plan.constants)) return 0;
  const Pipeline pipeline = make_pipeline(graph, setup.placement);
  if (!can_run(ipu_plan, setup, pipeline)) return 0;
  const MemoryInputs inputs{graph, candidate.settings, setup, pipeline, ipu_plan.constants};
  if (!judge(inputs, *ipu_plan.costs).fits()) return 0;
  return static_cast<double>(candidate.settings.micro_batch_size) / time_of(inputs, *ipu_plan.costs);
}

// Pairs are tried only where no single change helps; big models have none that does, and each trial costs them most.
bool tries_pairs(const Plan& plan) {
  constexpr std::size_t k_blocks_of_big_models = 400;
  return plan.graph.blocks.size() <= k_blocks_of_big_models;
}

std::string find_remedy(const Plan& plan, const IpuPlan& ipu_plan) {
  const Candidate now{ipu_plan.setup, plan.settings};
  const auto rate = [&](const Candidate& candidate) { return rate_of(plan, ipu_plan, candidate); };
  const std::string best = best_change(now, changes_of(plan, ipu_plan), tries_pairs(plan), rate);
  return best.empty() ? best_change(now, output_changes_of(plan, ipu_plan), false, rate) : best;
}

// IPUs behind the number of layers stay empty.
bool has_room(const Plan& plan, const IpuPlan& ipu_plan) {
  const SystemConstants& system = ipu_plan.constants.system;
  const std::int64_t most = std::min(system.ipus * plan.nodes, system.ipus_per_pod);
  return ipu_plan.setup.ipus_per_replica < std::min<std::int64_t>(most, plan.graph.layers + 1);
}

// When nothing that was tried helps.
std::string advice_on(const BrokenLimit& broken, const Plan& plan, const IpuPlan& ipu_plan) {
  const bool stream = broken.limit == "host stream";
  const bool room = has_room(plan, ipu_plan);
  const char* what = stream ? "a model.head with smaller results"
                     : room ? "more IPUs per replica"
                            : "a smaller model or a system with more IPUs";
  return fmt::format("{}: none of the changes tried{} makes it fit", what,
                     tries_pairs(plan) ? ", alone or in pairs," : "");
}

}  // namespace

void add_remedies(const Plan& plan, const IpuPlan& ipu_plan, Verdict& verdict) {
  const std::string remedy = find_remedy(plan, ipu_plan);
  for (BrokenLimit& broken : verdict.broken)
    broken.remedy = remedy.empty() ? advice_on(broken, plan, ipu_plan) : remedy;
}

}  // namespace podsim::ipu
