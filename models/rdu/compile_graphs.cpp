#include "models/rdu/compile_graphs.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/rdu/compiled_graphs.hpp"
#include "models/rdu/memory.hpp"
#include "models/rdu/section_rates.hpp"
#include "models/rdu/transformer_graph.hpp"

namespace podsim::rdu {
namespace {

OperatorGraph build_step(const RduPlan& plan, const StepRequest& request) {
  if (plan.isolated) return build_isolated(*plan.isolated);
  return plan.unet ? build_unet_step(*plan.unet, request) : build_transformer_step(plan.share, request);
}

// Not so in GPT-2.
bool has_separate_attention(const RduPlan& plan) {
  return plan.model.rotary || plan.model.post_norm;
}

// All but the times.
CompiledGraph cut(const RduPlan& plan, const StepRequest& request, const SectionCapacity& capacity) {
  CompiledGraph result;
  result.graph = build_step(plan, request);
  PartitionOptions options;
  options.level = plan.setup.level;
  options.factors = plan.setup.factors;
  if (options.level == OptimizationLevel::o1 && (!plan.fusion_rules.empty() || !plan.setup.built_in_rules)) {
    const bool separate = has_separate_attention(plan);
    Fusion fusion = apply_fusion_rules(result.graph, plan.fusion_rules, {separate, plan.setup.built_in_rules});
    options.patterns = std::move(fusion.patterns);
    result.rule_uses = std::move(fusion.uses);
  }
  result.partition = make_partition(result.graph, options, capacity);
  result.work = section_work(result.graph, result.partition);
  return result;
}

CompiledGraph cut_once(const RduPlan& plan, const StepRequest& request) {
  const SectionCapacity capacity = section_capacity(plan.constants.section, plan.allotment);
  const bool described = !plan.isolated && !plan.unet && plan.fusion_rules.empty();
  if (plan.known_graphs == nullptr || !described) return cut(plan, request, capacity);
  CompileKey key{plan.share,
                 request,
                 capacity,
                 plan.setup.level,
                 plan.setup.factors,
                 plan.setup.built_in_rules,
                 has_separate_attention(plan)};
  if (const std::shared_ptr<const CompiledGraph> known = plan.known_graphs->find(key)) return *known;
  CompiledGraph fresh = cut(plan, request, capacity);
  plan.known_graphs->keep(std::move(key), std::make_shared<const CompiledGraph>(fresh));
  return fresh;
}

CompiledGraph compiled(const RduPlan& plan, const StepRequest& request) {
  CompiledGraph result = cut_once(plan, request);
  result.times = section_times(result.partition, result.work, plan.rates);
  return result;
}

// With recomputation a mapping made by hand keeps the sections of the graph without it and hides all traffic behind
// products, those of the recomputed forward included: what two published runs of it show, see facts.md.
CompiledGraph compiled_by_hand(const RduPlan& plan, StepRequest request) {
  const bool keeps = plan.known_graphs != nullptr;
  const FlopCount all = keeps ? cut_once(plan, request).graph.flop() : build_step(plan, request).flop();
  request.recompute = false;
  CompiledGraph result = compiled(plan, request);
  result.traffic_hidden = true;
  const double more = all / result.graph.flop();
  for (SectionWork& work : result.work) work = {.flop = work.flop * more, .weights = {}, .read = {}, .written = {}};
  result.times = section_times(result.partition, result.work, plan.rates);
  return result;
}

// Sections move their weights and their tensors over the ports of the tiers that hold them.
void cost_by_tier(CompiledGraph& graph, const RduPlan& plan) {
  for (std::size_t i = 0; i < graph.times.size(); ++i) {
    const RduPhase phase = graph.partition.sections[i].phase;
    const TierBytes bytes = plan.tiers.traffic(graph.work[i], phase);
    const Duration memory = std::max(bytes.hbm.size() / plan.rates.memory, bytes.ddr.size() / plan.allotment.ddr);
    graph.times[i] = section_time(graph.work[i].flop, memory, graph.partition.factors.of(phase), plan.rates);
  }
}

void settle_tiers(RduPlan& plan, const WorkloadSettings& settings) {
  const ChipConstants& chip = plan.constants.chip;
  if (!chip.hbm) return;
  const Tiers tiers = spread(all_entries(plan, settings), chip.hbm->capacity_of(plan.allotment.chips));
  const auto in_hbm = [&](const char* category) {
    return std::ranges::none_of(tiers.slow, [&](const auto& entry) { return entry.category == category; });
  };
  plan.tiers = {in_hbm(k_tensors), in_hbm(k_optimizer_state), in_hbm(k_weights), in_hbm(k_key_value_cache)};
  cost_by_tier(plan.compiled, plan);
  cost_by_tier(plan.token, plan);
}

}  // namespace

std::optional<TransformerDescription> cut_weights(const TransformerDescription& model, std::int64_t parts,
                                                  std::string& problem) {
  const auto divides = [&](std::int64_t dimension, const char* what) {
    if (dimension % parts != 0) problem = fmt::format("{} {} do not divide among {} RDUs", dimension, what, parts);
    return dimension % parts == 0;
  };
  if (!divides(model.heads, "attention heads") || !divides(model.ffn, "feed-forward columns")) return std::nullopt;
  return weight_shard(model, parts);
}

namespace {

// Of an operator alone; its program is loaded once, before what is measured.
void take_isolated_rates(RduPlan& plan) {
  plan.rates.efficiency = plan.constants.isolated.efficiency;
  plan.rates.memory = plan.rates.memory * plan.constants.isolated.memory_efficiency;
  plan.rates.program_load = Duration();
  plan.rates.issue_interval = Duration();
}

}  // namespace

void fill_rates(RduPlan& plan) {
  const RduSetup& setup = plan.setup;
  const ChipConstants& chip = plan.constants.chip;
  plan.allotment = allot(chip, setup.tiles_per_part);
  plan.rates = section_rates(plan.constants.section, plan.allotment, setup.human_decision);
  plan.rates.efficiency *= setup.rate_factor;
  if (chip.hbm) plan.rates.memory = chip.hbm->bandwidth * plan.allotment.chips;
  // A training loop prepares launches ahead; the hardware of a chip with HBM launches by itself.
  const bool ahead = setup.training() && setup.host == HostModel::production;
  if (ahead || chip.hbm) plan.rates.issue_interval = Duration();
  if (plan.isolated) take_isolated_rates(plan);
}

void compile_graphs(RduPlan& plan, const WorkloadSettings& settings) {
  const RduSetup& setup = plan.setup;
  if (setup.fused_generation) {
    settle_tiers(plan, settings);
    return;
  }
  StepRequest request;
  request.training = setup.training();
  request.batch = setup.tensor_parallel == TensorParallel::batch ? setup.batch / setup.parts : setup.batch;
  request.sequence = settings.sequence_length;
  request.recompute = setup.recompute;
  request.optimizer = settings.optimizer == "adamw" ? "adam" : settings.optimizer;
  request.update_bytes = update_bytes(settings);
  if (setup.run == RunMode::generation) {
    request.sequence = setup.static_length;
    request.keeps_cache = true;
  }
  plan.compiled = setup.human_decision && setup.recompute ? compiled_by_hand(plan, request) : compiled(plan, request);
  if (setup.run != RunMode::generation) {
    settle_tiers(plan, settings);
    return;
  }
  request.context = setup.static_length;
  request.sequence = 1;
  plan.token = compiled(plan, request);
  settle_tiers(plan, settings);
}

}  // namespace podsim::rdu
