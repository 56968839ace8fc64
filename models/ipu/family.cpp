#include "models/ipu/family.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/ipu/config/ipu_config_keys.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/lowering.hpp"
#include "models/ipu/lowering/lowering_inference.hpp"
#include "models/ipu/lowering/shared_parts.hpp"
#include "models/ipu/lowering/stage_work.hpp"
#include "models/ipu/memory/memory.hpp"
#include "models/ipu/memory/remedies.hpp"
#include "models/ipu/memory/verdict.hpp"
#include "models/ipu/operators/operator_query.hpp"
#include "models/ipu/report/inference_report.hpp"
#include "models/ipu/report/report_meanings.hpp"
#include "models/ipu/report/report_tables.hpp"
#include "models/ipu/resolve/resolve.hpp"
#include "models/ipu/search/deployment.hpp"
#include "models/ipu/search/inference_space.hpp"
#include "models/ipu/search/search_settings.hpp"
#include "models/ipu/search/training_space.hpp"
#include "models/workloads/unet.hpp"
#include "sim/core/check.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::ipu {
namespace {

const IpuPlan& own(const Plan& plan) {
  const auto* ipu_plan = dynamic_cast<const IpuPlan*>(plan.family_plan.get());
  PODSIM_CHECK(ipu_plan != nullptr, "a plan of another family");
  return *ipu_plan;
}

}  // namespace

const std::vector<KeySpec>& IpuFamily::keys() const {
  return ipu_config_keys();
}

std::vector<std::pair<std::string, std::string>> IpuFamily::keys_without_effect() const {
  return ipu::keys_without_effect();
}

std::shared_ptr<FamilyCache> IpuFamily::make_cache() const {
  return std::make_shared<SharedParts>();
}

std::unique_ptr<FamilyPlan> IpuFamily::resolve(FamilyContext& context, Diagnostics& diagnostics) const {
  const std::string_view type = context.model_kind.type();
  if (type == "unet" && unet_sides(context.shape, context.settings.image_size).empty()) {
    diagnostics.error(context.section.place(), "workload.image_size",
                      fmt::format("{} pixels cannot be halved {} times, once per level", context.settings.image_size,
                                  context.shape["depth"]),
                      unet_sizes_in_words(context.shape));
    return nullptr;
  }
  if (type == "matmul" || type == "relu") {
    diagnostics.error(context.section.place(), "model.config", "a single operator is not placed on IPUs",
                      "a whole model, or an RDU system");
    return nullptr;
  }
  std::shared_ptr<SharedParts> parts;
  if (context.cache != nullptr) parts = std::dynamic_pointer_cast<SharedParts>(context.cache->of_family(*this));
  return resolve_plan(context, diagnostics, std::move(parts));
}

StepFacts IpuFamily::step_facts(const Plan& plan) const {
  const IpuPlan& ipu_plan = own(plan);
  const RunSetup& setup = ipu_plan.setup;
  if (!setup.training()) return inference_step_facts(plan, ipu_plan);
  const std::int64_t micro_batches = setup.replication_factor * setup.gradient_accumulation_steps;
  const StagedWork& staged = *ipu_plan.parts->prepared(plan, ipu_plan).staged;
  StepFacts facts;
  facts.micro_batch = plan.settings.micro_batch_size;
  facts.global_batch = facts.micro_batch * micro_batches;
  facts.samples_per_call = facts.global_batch * setup.device_iterations;
  facts.call_factors = call_factors(facts.micro_batch, setup.replication_factor, setup.gradient_accumulation_steps,
                                    setup.device_iterations) +
                       (ipu_plan.accumulation_by_default ? " (accumulation: default)" : "");
  facts.assumption = ipu_plan.version_note;
  facts.steps_per_run = setup.device_iterations;
  facts.sequences_per_sample = plan.settings.packing_factor;
  facts.images = plan.graph.images;
  facts.tokens_per_sample = plan.graph.images ? 0 : plan.graph.sequence_length;
  const auto repetitions = static_cast<double>(micro_batches);
  facts.model_flop = (staged.forward_flop + staged.backward_flop) * repetitions;
  facts.hardware_flop = facts.model_flop + staged.recompute_flop * repetitions;
  facts.device_peak = ipu_plan.constants.chip.peak[static_cast<std::size_t>(setup.mode)];
  facts.devices = ipu_plan.pod.ipus;
  return facts;
}

ScheduleFacts IpuFamily::schedule_facts(const Plan& plan) const {
  const RunSetup& setup = own(plan).setup;
  if (!setup.training()) return inference_schedule(plan, own(plan));
  const Pipeline& pipeline = own(plan).parts->prepared(plan, own(plan)).staged->pipeline;
  ScheduleFacts facts;
  facts.kind = pipeline.forward_stages() > 1 ? "pipelined, lock step" : "one IPU";
  if (setup.recomputes_in_segments()) {
    const auto segments = recompute_segments(plan.graph, setup, pipeline.forward().front());
    facts.kind = fmt::format("one IPU, recomputed in {} segments", segments.size());
  }
  facts.forward_stages = pipeline.forward_stages();
  facts.stages = pipeline.training_stages();
  facts.cycles_per_update = pipeline.cycles(setup.gradient_accumulation_steps);
  facts.cycle_mark = k_full_cycle_mark;
  return facts;
}

MachineFacts IpuFamily::machine_facts(const Plan& plan) const {
  const double nodes = static_cast<double>(plan.nodes);
  MachineFacts facts;
  facts.devices = std::llround(nodes * constant_value(plan, "system.ipus").value_or(0));
  facts.hosts = std::llround(nodes * constant_value(plan, "system.hosts").value_or(0));
  const std::optional<ConstantId> power = plan.constants.find("system.machine_power");
  if (!power) return facts;
  const Constant& machine = plan.constants[*power];
  facts.power = watts(machine.base_value * nodes * constant_value(plan, "system.machines").value_or(1));
  facts.power_source = fmt::format("{} per machine ({}; {})", machine.text, machine.source, machine.confidence);
  return facts;
}

std::optional<CopyFacts> IpuFamily::copy_facts(const Plan& plan) const {
  const IpuPlan& ipu_plan = own(plan);
  if (ipu_plan.written.n_ipu || !ipu_plan.setup.training()) return std::nullopt;
  return CopyFacts{"ipu.replication_factor", "ipu.gradient_accumulation_steps", ipu_plan.setup.replication_factor,
                   ipu_plan.setup.gradient_accumulation_steps};
}

MemoryAccount IpuFamily::memory_account(const Plan& plan) const {
  return account_plan(plan, own(plan));
}

Verdict IpuFamily::verdict(const Plan& plan, bool remedies) const {
  Verdict verdict = judge_plan(plan, own(plan));
  if (remedies && !verdict.fits()) add_remedies(plan, own(plan), verdict);
  return verdict;
}

std::vector<std::string> IpuFamily::notes(const Plan& plan) const {
  return notes_on(plan, own(plan));
}

Lowered IpuFamily::lower(const Plan& plan, const LowerOptions& options) const {
  const IpuPlan& ipu_plan = own(plan);
  return ipu_plan.setup.training() ? lower_training(plan, ipu_plan, options) : lower_inference(plan, ipu_plan, options);
}

std::vector<Table> IpuFamily::tables(const Plan& plan, const Lowered& lowered, const RunResult& result) const {
  if (!own(plan).setup.training()) return inference_tables(plan, own(plan), lowered, result);
  return {stage_table(plan, own(plan)), step_table(lowered, result), ipus_table(plan, own(plan))};
}

std::vector<ReportedMeaning> IpuFamily::meanings() const {
  return report_meanings();
}

std::vector<SearchSetting> IpuFamily::search_start() const {
  return {{"ipu.ipus_per_replica", search_value(std::int64_t{1})},
          {"ipu.layers_per_ipu", search_value(std::vector<std::int64_t>{-1})},
          {"ipu.attention_layers_per_ipu", no_value()},
          {"ipu.ffn_layers_per_ipu", no_value()},
          {"ipu.matmul_proportion", search_value(std::vector<double>{0.6})},
          {"ipu.replication_factor", search_value(std::int64_t{1})},
          {"ipu.n_ipu", no_value()},
          {"ipu.gradient_accumulation_steps", search_value(std::int64_t{1})},
          {"ipu.optimizer_state_offchip", search_value(false)},
          {"ipu.replicated_tensor_sharding", search_value(false)},
          {"ipu.serialized_embedding_splits_per_ipu", no_value()},
          {"ipu.serialized_projection_splits_per_ipu", no_value()}};
}

std::optional<SearchSpace> IpuFamily::search_space(const std::shared_ptr<const Plan>& plan,
                                                   const SearchRequest& request) const {
  return own(*plan).setup.training() ? training_space(plan, request) : inference_space(plan, request);
}

std::vector<Deployment> IpuFamily::deployment(const Plan& plan) const {
  return {ipu_config_of(plan, own(plan))};
}

std::optional<OperatorEstimate> IpuFamily::estimate_operator(const OperatorQuery& query,
                                                             Diagnostics& diagnostics) const {
  return answer(query, diagnostics);
}

}  // namespace podsim::ipu
