#include "models/ipu/resolve/resolve_inference.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/ipu/cost/estimate_inference.hpp"
#include "models/workloads/results.hpp"
#include "sim/plan/model_kind.hpp"
#include "sim/plan/plan_cache.hpp"

namespace podsim::ipu {
namespace {

OutputMode output_mode(const std::string& text) {
  if (text == "sum") return OutputMode::sum;
  if (text == "final") return OutputMode::final;
  return OutputMode::all;
}

// The library returns all results in inference; a key that says otherwise is followed, since PopTorch itself would,
// and the report says so beside its rate.
void settle_output_mode(Setting<std::string>& mode, Diagnostics& diagnostics) {
  if (!mode.valid) return;
  if (!mode.given || mode.value == "default") {
    mode.value = "all";
    mode.origin = "default: inference returns all results";
  } else if (mode.value != "all") {
    diagnostics.warning(
        mode.place, "ipu.output_mode",
        fmt::format("\"{}\" is followed, but Optimum Graphcore returns all results in inference: the rate is that of "
                    "PopTorch by itself",
                    mode.value),
        "\"all\", or no such key, for the rate in Optimum Graphcore");
  }
}

// One token a call, without a cache: each recomputes the static length, one IPU after the other.
void settle_generation(const FamilyContext& context, IpuConfig& config, Diagnostics& diagnostics) {
  Setting<std::int64_t>& iterations = config.inference.device_iterations;
  if (iterations.valid && iterations.value != 1) {
    diagnostics.warning(iterations.place, "ipu.inference_device_iterations",
                        fmt::format("{} is taken as 1 in generation: each token is a host call", iterations.value));
    iterations.value = 1;
  }
  if (context.settings.head == "seq2seq") {
    diagnostics.error(context.section.place(), "workload.mode",
                      "generation with an encoder and a decoder is not modelled", "workload.mode = \"inference\"");
  } else if (context.settings.head != "causal-lm") {
    diagnostics.error(context.section.place(), "workload.mode",
                      fmt::format("a \"{}\" head generates no tokens", context.settings.head),
                      std::ranges::count(context.model_kind.heads(), "causal-lm") > 0
                          ? "model.head = \"causal-lm\", or workload.mode = \"inference\""
                          : "workload.mode = \"inference\"");
  }
  diagnostics.warning(context.section.place(), "workload.mode",
                      "generation is assumed and uncalibrated: no key-value cache, each token recomputes all positions "
                      "in one host call");
}

// Only where the key pipelines and the version could say that it shards all the same.
void warn_of_unknown_version(const FamilyContext& context, const IpuConfig& config, const ModelGraph& graph,
                             const IpuPlan& plan, Diagnostics& diagnostics) {
  if (config.version.known() || plan.setup.inference.sharded) return;
  const Pipeline pipeline = make_pipeline(graph, plan.setup.placement);
  const MemoryInputs inputs{graph, context.settings, plan.setup, pipeline, plan.constants};
  const auto samples = static_cast<double>(context.settings.micro_batch_size * plan.setup.replication_factor *
                                           plan.setup.device_iterations);
  const auto rate = [&](bool sharded) {
    return samples / estimate_call(inputs, *plan.costs, sharded).call.duration().in_base();
  };
  const Setting<bool>& key = config.sharded_execution_for_inference;
  diagnostics.warning(key.place, "ipu.sharded_execution_for_inference",
                      fmt::format("false{} is followed, which makes about {:.4g} samples/s; from 0.4.0 inference is "
                                  "sharded all the same, which makes about {:.4g}, and the version is not known",
                                  key.given ? "" : " by default", rate(false), rate(true)),
                      "ipu.version to say which it is");
}

}  // namespace

void prepare_inference(const FamilyContext& context, IpuConfig& config, Diagnostics& diagnostics) {
  settle_output_mode(config.output_mode, diagnostics);
  if (context.settings.mode == RunMode::generation) settle_generation(context, config, diagnostics);
  diagnostics.warning(context.section.place(), "workload.mode",
                      "not validated: no public inference measurement exists for IPUs");
}

void fill_inference(const FamilyContext& context, const IpuConfig& config, IpuPlan& plan, Diagnostics& diagnostics) {
  const ModelGraph graph = graph_of(context);
  InferenceSetup& inference = plan.setup.inference;
  inference.key_ignored = config.always_sharded_inference();
  inference.output_tokens = context.settings.output_tokens;
  inference.sharded = inference.output_tokens > 0 || inference.key_ignored ||
                      config.sharded_execution_for_inference.value ||
                      make_pipeline(graph, plan.setup.placement).forward_stages() == 1;
  inference.output = output_mode(config.output_mode.value);
  inference.results = result_bytes(graph, context.shape, context.settings);
  if (inference.output != OutputMode::all) plan.followed_output_mode = name(inference.output);
  warn_of_unknown_version(context, config, graph, plan, diagnostics);
}

}  // namespace podsim::ipu
