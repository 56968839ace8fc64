#include "models/ipu/resolve_inference.hpp"

#include <fmt/format.h>

#include "models/workloads/results.hpp"
#include "sim/plan/model_kind.hpp"

namespace podsim::ipu {
namespace {

OutputMode output_mode(const std::string& text) {
  if (text == "sum") return OutputMode::sum;
  if (text == "final") return OutputMode::final;
  return OutputMode::all;
}

// The library returns all results in inference; a key that says otherwise is followed, since PopTorch itself would.
void settle_output_mode(Setting<std::string>& mode, Diagnostics& diagnostics) {
  if (!mode.valid) return;
  if (!mode.given || mode.value == "default") {
    mode.value = "all";
    mode.origin = "default: inference returns all results";
  } else if (mode.value != "all") {
    diagnostics.warning(
        mode.place, "ipu.output_mode",
        fmt::format("\"{}\" is followed, but Optimum Graphcore returns all results in inference", mode.value));
  }
}

}  // namespace

void prepare_inference(const FamilyContext& context, IpuConfig& config, Diagnostics& diagnostics) {
  settle_output_mode(config.output_mode, diagnostics);
  diagnostics.warning(context.section.place(), "workload.mode",
                      "not validated: no public inference measurement exists for IPUs");
}

void fill_inference(const FamilyContext& context, const IpuConfig& config, IpuPlan& plan) {
  const ModelGraph graph = context.model_kind.build(context.shape, context.settings);
  InferenceSetup& inference = plan.setup.inference;
  inference.key_ignored = config.always_sharded_inference();
  inference.sharded = inference.key_ignored || config.sharded_execution_for_inference.value ||
                      make_pipeline(graph, plan.setup.placement).forward_stages() == 1;
  inference.output = output_mode(config.output_mode.value);
  inference.results = result_bytes(graph, context.shape, context.settings);
}

}  // namespace podsim::ipu
