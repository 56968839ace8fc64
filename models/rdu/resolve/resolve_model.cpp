// What is run: the model's dimensions, the mode, the optimizer, the precision.

#include <fmt/format.h>

#include "models/rdu/resolve/resolution.hpp"

namespace podsim::rdu {
namespace {

// Times the bytes of a parameter and the models of a node they fit 64 bits.
constexpr double k_most_weights = 1e13;

// Without overflow, for dimensions of any size.
double approximate_weights(const TransformerDescription& model) {
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  const double query = number(model.heads) * number(model.head_dim);
  const double keys = number(model.kv_heads) * number(model.head_dim);
  const double layer = number(model.hidden) * (2 * query + 2 * keys + (model.gated ? 3 : 2) * number(model.ffn));
  return number(model.layers) * layer + number(model.vocabulary) * number(model.hidden);
}

// An image must be halved once per level; recomputation has no effect and is turned off.
void check_image(const UnetDescription& model, Resolution& resolution) {
  FamilyContext& context = resolution.context;
  if (context.shape["unpadded"] == 1 || context.shape["batch_norm"] == 0 || context.shape["bottom_dropout"] == 1) {
    resolution.diagnostics.error(context.section.place(), "model.config",
                                 "a unet of this kind is not known on RDUs: the published one pads its convolutions, "
                                 "normalises behind each and drops nothing",
                                 "padding same, batch_norm true, bottom_dropout false");
  }
  const UnetSizes& sizes = model.sizes;
  const std::int64_t multiple = std::int64_t{1} << sizes.depth;
  if (sizes.image_size % multiple != 0) {
    resolution.diagnostics.error(
        context.section.place(), "workload.image_size",
        fmt::format("{} pixels cannot be halved {} times, once per level", sizes.image_size, sizes.depth),
        fmt::format("a multiple of {}", multiple));
  }
  if (!resolution.training() || !context.settings.recompute) return;
  resolution.diagnostics.warning(context.section.place(), "workload.recompute",
                                 "has no effect: no recomputation is known of image networks on RDUs");
  context.settings.recompute = false;
}

// It is run once, forward.
void check_isolated(Resolution& resolution) {
  const FamilyContext& context = resolution.context;
  if (context.settings.mode != RunMode::inference) {
    resolution.diagnostics.error(context.section.place(), "workload.mode",
                                 "is not \"inference\": a single operator is run, not trained",
                                 "\"inference\", or a compile command with --inference");
  }
  if (context.settings.micro_batch_size != 1) {
    resolution.diagnostics.error(context.section.place(), "workload.micro_batch_size",
                                 "a single operator has no samples: its size is its own", "1");
  }
}

bool describe_model(Resolution& resolution) {
  const FamilyContext& context = resolution.context;
  RduPlan& plan = *resolution.plan;
  plan.unet = describe_unet(context.shape, context.settings);
  if (plan.unet) {
    check_image(*plan.unet, resolution);
    return true;
  }
  plan.isolated = describe_isolated(context.shape);
  if (plan.isolated) {
    check_isolated(resolution);
    return true;
  }
  const auto model = describe_transformer(context.shape, context.settings);
  if (!model) {
    resolution.diagnostics.error(context.section.place(), "model.config",
                                 fmt::format("the operators of a {} are not known for RDUs", context.shape.type),
                                 "a model of type gpt2, llama, mistral, bert, roberta or unet");
    return false;
  }
  plan.model = *model;
  const double weights = approximate_weights(*model);
  if (weights > k_most_weights) {
    resolution.too_large(
        fmt::format("about {:.1e} weights are more than the {:.0e} that are simulated", weights, k_most_weights));
  }
  return true;
}

void read_mode(Resolution& resolution) {
  const FamilyContext& context = resolution.context;
  RduSetup& setup = resolution.setup();
  setup.run = context.settings.mode;
  setup.fused_generation = setup.run == RunMode::generation && resolution.chip().hbm.has_value();
  const RduPlan& plan = *resolution.plan;
  const bool generates = !plan.unet && !plan.isolated && plan.model.head == RduHead::causal_lm;
  if (setup.run != RunMode::generation || generates) return;
  resolution.diagnostics.error(
      context.section.place(), "workload.mode",
      fmt::format("a {} with head {} generates no tokens", context.shape.type, context.settings.head),
      "a model with head causal-lm, or mode inference");
}

void check_optimizer(Resolution& resolution) {
  const std::string& optimizer = resolution.context.settings.optimizer;
  if (!resolution.training() || (optimizer != "lamb" && optimizer != "lars")) return;
  resolution.diagnostics.warning(
      resolution.context.section.place(), "workload.optimizer",
      fmt::format("the update of {} is given the traffic of its state alone, without that of its norms", optimizer));
}

void read_precision(Resolution& resolution) {
  WorkloadSettings& settings = resolution.context.settings;
  const Place& place = resolution.context.section.place();
  const std::string origin = settings.precision.empty() ? "default of the compiler" : "experiment";
  if (settings.precision.empty()) settings.precision = "bf16";
  if (settings.precision != "bf16") {
    resolution.diagnostics.error(place, "workload.precision",
                                 fmt::format("\"{}\" is not calibrated for RDUs", settings.precision), "bf16");
  }
  resolution.plan->resolved_keys.push_back({"workload.precision", "\"bf16\"", origin});
  if (settings.packing_factor != 1.0) {
    resolution.diagnostics.error(place, "workload.packing_factor", "is not modelled for RDUs", "1");
  }
}

}  // namespace

void read_model(Resolution& resolution) {
  if (!describe_model(resolution)) return;
  read_mode(resolution);
  check_optimizer(resolution);
  read_precision(resolution);
}

}  // namespace podsim::rdu
