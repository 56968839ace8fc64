#include "models/rdu/compile_estimate.hpp"

namespace podsim::rdu {

CompileEstimate estimate_compile(const RduPlan& plan) {
  const RduSetup& setup = plan.setup;
  const CompileConstants& constants = plan.constants.compile;
  CompileEstimate estimate;
  if (setup.fused_generation) {  // a layer and the head, of a prompt and of a token
    estimate.sections = 2 * (plan.model.layers + 1);
    estimate.unique_sections = 4;
  } else {
    for (const CompiledGraph* graph : {&plan.compiled, &plan.token}) {
      estimate.sections += static_cast<std::int64_t>(graph->partition.sections.size());
      estimate.unique_sections += graph->partition.unique_sections();
    }
  }
  const bool once = setup.fused_generation || setup.level == OptimizationLevel::o1 || setup.hypersections;
  const Duration each = setup.level == OptimizationLevel::o0 ? constants.single_operator : constants.section;
  const std::int64_t compiled = once ? estimate.unique_sections : estimate.sections;
  estimate.estimate = constants.base + each * static_cast<double>(compiled);
  estimate.cached = setup.placement_reused;
  if (estimate.cached) estimate.estimate = estimate.estimate * constants.reuse;
  estimate.low = estimate.estimate / constants.spread;
  estimate.high = estimate.estimate * constants.spread;
  return estimate;
}

}  // namespace podsim::rdu
