#include "models/rdu/lowering_generation.hpp"

#include "models/rdu/section_lowering.hpp"
#include "models/rdu/serving.hpp"

namespace podsim::rdu {
namespace {

class GenerationLowering : private SectionLowering {
 public:
  GenerationLowering(const RduPlan& plan, const WorkloadSettings& settings, const LowerOptions& options)
      : SectionLowering(plan, settings, options) {}

  Lowered lower() {
    std::vector<ProgramBlock> prefill;
    std::vector<ProgramBlock> token;
    if (setup_.fused_generation) {
      add_fused_prefill(prefill);
      add_fused_token(token);
    } else {
      add_sections(plan_.compiled, RduPhase::forward, RduPhase::forward, prefill);
      add_sections(plan_.token, RduPhase::forward, RduPhase::forward, token);
    }
    // Without HBM the whole batch is one static graph.
    const std::int64_t prompts = setup_.fused_generation ? setup_.batch : 1;
    std::vector<ProgramBlock> request;
    if (setup_.switch_every_request) {
      request.emplace_back(fixed_time("model switch", expert_switch_time(plan_), CostCategory::off_chip_memory));
    }
    request.emplace_back(Repeat{prompts, k_prefill, std::move(prefill)});
    request.emplace_back(Repeat{setup_.output_tokens, k_tokens, std::move(token)});
    return finish(std::move(request));
  }

 private:
  double share(std::int64_t of_layers) const {
    return static_cast<double>(of_layers) / static_cast<double>(plan_.model.layers);
  }

  Duration loads() const {
    const bool software = setup_.orchestration == Orchestration::software;
    return software ? plan_.rates.program_load + plan_.rates.argument_load : Duration();
  }

  // One prompt. FLOP of a part: 2 N S + 4 S² h L over the parts.
  void add_fused_prefill(std::vector<ProgramBlock>& blocks) {
    const auto length = static_cast<double>(setup_.padded_prompt);
    const auto parts = static_cast<double>(setup_.parts);
    const TransformerDescription& model = plan_.model;
    const double products = 2.0 * static_cast<double>(model.parameter_count()) * length +
                            4.0 * length * length * static_cast<double>(model.query_width() * model.layers);
    const FlopCount layer_flop = flop(products * share(1) / parts);
    const Bytes weights(2 * model.parameter_count() / setup_.parts);
    const std::int64_t layers = model.layers;
    blocks.emplace_back(
        Repeat{layers,
               "prefill layers",
               {fused_section("prefill layer", layer_flop, {Bytes(weights.count() / layers), Bytes()}, Duration())}});
  }

  // One token of every request: all weights, and the whole static cache.
  void add_fused_token(std::vector<ProgramBlock>& blocks) {
    const TransformerDescription& model = plan_.model;
    const std::int64_t layers = model.layers;
    const std::int64_t layer_weights = 2 * model.layer_parameters();
    const std::int64_t outside = 2 * model.parameter_count() - layer_weights * layers;
    // Heads are not cut: of fewer than there are parts each part has one.
    const std::int64_t layer_cache = 2 * 2 * plan_.share.kv_width() * setup_.static_length * setup_.batch;
    const std::int64_t parts = setup_.parts;
    const auto products = [&](std::int64_t weight_bytes) {
      return flop(static_cast<double>(weight_bytes) * static_cast<double>(setup_.batch) / static_cast<double>(parts));
    };
    const ServingConstants& serving = plan_.constants.serving;
    const Duration behind = serving.layer + serving.layer_request * static_cast<double>(setup_.batch);
    blocks.emplace_back(Repeat{layers,
                               "token layers",
                               {fused_section("token layer", products(layer_weights),
                                              {Bytes(layer_weights / parts), Bytes(layer_cache)}, behind)}});
    blocks.emplace_back(fused_section("token head", products(outside), {Bytes(outside / parts), Bytes()}, Duration()));
  }

  struct Streams {
    Bytes weights;
    Bytes cache;
  };

  // Over the port of the tier that holds each.
  std::vector<OpId> stream(SegmentBuilder& segment, const PartResources& part, const Streams& streams, OpId loaded) {
    Bytes from_hbm;
    Bytes from_ddr;
    (plan_.tiers.weights_in_hbm ? from_hbm : from_ddr) += streams.weights;
    (plan_.tiers.cache_in_hbm ? from_hbm : from_ddr) += streams.cache;
    std::vector<OpId> moved;
    const auto move = [&](RouteId port, Bytes bytes) {
      if (bytes == Bytes()) return;
      moved.push_back(segment.transfer(part.device, DeviceId::none(), port, bytes, CostCategory::off_chip_memory,
                                       "weights and cache"));
      if (loaded.valid()) segment.depend(loaded, moved.back());
    };
    move(part.port, from_hbm);
    move(part.ddr_port, from_ddr);
    return moved;
  }

  SegmentId fused_section(const std::string& name, FlopCount work, const Streams& streams, Duration behind) {
    SegmentBuilder segment = folded_segment(name);
    const Duration compute = work / (plan_.rates.peak * plan_.rates.efficiency);
    for (const std::size_t replica : fold_.simulated) {
      for (const PartResources& part : node_.replicas[replica]) {
        const auto local = [&](Duration time, CostCategory category, const char* label) {
          CostVector cost;
          cost[category] = slowed(time, part.device);
          return segment.local(part.device, cost, label);
        };
        OpId loaded = OpId::none();
        if (loads() > Duration()) loaded = local(loads(), CostCategory::launch, "program and argument load");
        const std::vector<OpId> moved = stream(segment, part, streams, loaded);
        local(compute, CostCategory::compute, "products");
        if (behind == Duration()) continue;
        const OpId turned = local(behind, CostCategory::sync, "turn-around and attention of each request");
        for (const OpId transfer : moved) segment.depend(transfer, turned);
      }
    }
    return builder_.add(std::move(segment));
  }
};

}  // namespace

Lowered lower_generation(const RduPlan& plan, const WorkloadSettings& settings, const LowerOptions& options) {
  return GenerationLowering(plan, settings, options).lower();
}

Bytes expert_weights(const RduPlan& plan) {
  constexpr std::int64_t k_bf16 = 2;
  return Bytes(k_bf16) * plan.model.parameter_count();
}

Duration expert_switch_time(const RduPlan& plan) {
  return model_switch_time(expert_weights(plan), plan.setup.parts, plan.constants);
}

}  // namespace podsim::rdu
