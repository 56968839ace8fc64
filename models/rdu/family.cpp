#include "models/rdu/family.hpp"

#include <algorithm>
#include <cmath>

#include "models/rdu/command/flags.hpp"
#include "models/rdu/commands.hpp"
#include "models/rdu/compile_estimate.hpp"
#include "models/rdu/compiled_graphs.hpp"
#include "models/rdu/lowering.hpp"
#include "models/rdu/lowering_generation.hpp"
#include "models/rdu/memory.hpp"
#include "models/rdu/plan_notes.hpp"
#include "models/rdu/rdu_keys.hpp"
#include "models/rdu/rdu_plan.hpp"
#include "models/rdu/remedies.hpp"
#include "models/rdu/report_meanings.hpp"
#include "models/rdu/report_tables.hpp"
#include "models/rdu/resolve.hpp"
#include "models/rdu/search/rdu_space.hpp"
#include "models/rdu/section_tables.hpp"
#include "sim/core/check.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/plan_cache.hpp"

namespace podsim::rdu {
namespace {

const RduPlan& own(const Plan& plan) {
  const auto* rdu_plan = dynamic_cast<const RduPlan*>(plan.family_plan.get());
  PODSIM_CHECK(rdu_plan != nullptr, "a plan of another family");
  return *rdu_plan;
}

// Products of a step of one part: of the model, and with what is run again.
struct StepFlop {
  FlopCount model;
  FlopCount hardware;
};

StepFlop compiled_flop(const OperatorGraph& graph) {
  StepFlop sum;
  for (const RduOperator& op : graph.operators) {
    sum.hardware += op.flop;
    if (!op.recomputed) sum.model += op.flop;
  }
  return sum;
}

// 2 FLOP per weight and token; attention over the static length.
FlopCount request_flop(const RduPlan& plan) {
  const RduSetup& setup = plan.setup;
  const auto tokens = static_cast<double>(setup.input_tokens + setup.output_tokens);
  const auto batch = static_cast<double>(setup.batch);
  const double attention = 4.0 * tokens * static_cast<double>(setup.static_length) *
                           static_cast<double>(plan.model.query_width() * plan.model.layers);
  return flop(batch * (2.0 * static_cast<double>(plan.model.parameter_count()) * tokens + attention));
}

// Empty: there is no such key.
std::string origin_of_key(const Plan& plan, const char* path) {
  const auto key = std::ranges::find(plan.resolved, path, &ResolvedKey::path);
  return key == plan.resolved.end() ? "" : key->origin;
}

RemedyWording wording_of(const Plan& plan) {
  RemedyWording wording;
  wording.length_is_default = origin_of_key(plan, "workload.sequence_length").starts_with("default");
  const std::string requests = origin_of_key(plan, "workload.batch_size");
  const std::string samples = origin_of_key(plan, "workload.micro_batch_size");
  const std::string& command = own(plan).written.batch.origin;
  if (!requests.empty() && requests != "as workload.micro_batch_size") {
    wording.batch_key = "workload.batch_size";
    wording.key_decides = true;
  } else if (!command.empty() && samples != command) {
    wording.batch_key = "workload.micro_batch_size";
  }
  return wording;
}

}  // namespace

const std::vector<KeySpec>& RduFamily::keys() const {
  return rdu_keys();
}

std::vector<std::pair<std::string, std::string>> RduFamily::keys_without_effect() const {
  return inputs_without_effect();
}

void RduFamily::fill_shared(Value& document, Diagnostics& diagnostics) const {
  fill_workload(document, diagnostics);
}

std::shared_ptr<FamilyCache> RduFamily::make_cache() const {
  return std::make_shared<CompiledGraphs>();
}

std::unique_ptr<FamilyPlan> RduFamily::resolve(FamilyContext& context, Diagnostics& diagnostics) const {
  std::shared_ptr<CompiledGraphs> known;
  if (context.cache != nullptr) known = std::dynamic_pointer_cast<CompiledGraphs>(context.cache->of_family(*this));
  return resolve_plan(context, diagnostics, std::move(known));
}

StepFacts RduFamily::step_facts(const Plan& plan) const {
  const RduPlan& rdu_plan = own(plan);
  const RduSetup& setup = rdu_plan.setup;
  StepFacts facts;
  facts.micro_batch = setup.batch;
  facts.global_batch = setup.batch * setup.replicas * setup.gradient_accumulation_steps;
  facts.samples_per_call = facts.global_batch;
  facts.device_peak = rdu_plan.allotment.peak;
  facts.devices = setup.replicas * setup.parts;
  if (setup.run == RunMode::generation) {
    facts.tokens_per_sample = setup.input_tokens + setup.output_tokens;
    facts.output_tokens = setup.output_tokens;
    facts.model_flop = request_flop(rdu_plan) * static_cast<double>(setup.replicas);
    facts.hardware_flop = facts.model_flop;
    return facts;
  }
  facts.images = rdu_plan.unet.has_value();
  if (!facts.images && !rdu_plan.isolated) facts.tokens_per_sample = plan.settings.sequence_length;
  StepFlop one = compiled_flop(rdu_plan.compiled.graph);
  if (setup.human_decision) {  // its sections hold the recomputed products too
    one.hardware = FlopCount();
    for (const SectionWork& work : rdu_plan.compiled.work) one.hardware += work.flop;
  }
  const auto times = static_cast<double>(facts.devices * setup.gradient_accumulation_steps);
  facts.model_flop = one.model * times;
  facts.hardware_flop = one.hardware * times;
  return facts;
}

ScheduleFacts RduFamily::schedule_facts(const Plan& plan) const {
  const RduPlan& rdu_plan = own(plan);
  ScheduleFacts facts;
  if (rdu_plan.setup.fused_generation) {
    facts.kind = "fused sections, one per layer";
    facts.sections = rdu_plan.model.layers + 1;
    return facts;
  }
  facts.kind = "sections, " + std::string(to_text(rdu_plan.setup.level));
  facts.sections = static_cast<std::int64_t>(rdu_plan.compiled.partition.sections.size());
  return facts;
}

MachineFacts RduFamily::machine_facts(const Plan& plan) const {
  const double nodes = static_cast<double>(plan.nodes);
  MachineFacts facts;
  facts.devices = std::llround(nodes * constant_value(plan, "system.rdus").value_or(0));
  facts.hosts = std::llround(nodes * constant_value(plan, "system.hosts").value_or(0));
  return facts;
}

MemoryAccount RduFamily::memory_account(const Plan& plan) const {
  return account_memory(own(plan), plan.settings);
}

std::optional<CompileEstimate> RduFamily::compile_estimate(const Plan& plan) const {
  return estimate_compile(own(plan));
}

Verdict RduFamily::verdict(const Plan& plan, bool remedies) const {
  const RduPlan& rdu_plan = own(plan);
  Verdict verdict = judge(rdu_plan, account_memory(rdu_plan, plan.settings));
  if (!remedies || verdict.fits()) return verdict;
  add_remedies(rdu_plan, plan.settings, wording_of(plan), verdict);
  return verdict;
}

Lowered RduFamily::lower(const Plan& plan, const LowerOptions& options) const {
  const RduPlan& rdu_plan = own(plan);
  if (rdu_plan.setup.run == RunMode::generation) return lower_generation(rdu_plan, plan.settings, options);
  return lower_step(rdu_plan, plan.settings, options);
}

std::vector<Table> RduFamily::tables(const Plan& plan, const Lowered& lowered, const RunResult& result) const {
  return report_tables(own(plan), lowered, result);
}

std::vector<Table> RduFamily::detail_tables(const Plan& plan) const {
  return section_details(own(plan));
}

std::vector<ReportedMeaning> RduFamily::meanings() const {
  return report_meanings();
}

std::vector<CommandFlag> RduFamily::command_flags() const {
  std::vector<CommandFlag> flags;
  for (const FlagSpec& spec : flag_table()) {
    CommandFlag flag{spec.names, spec.key, spec.without_effect};
    flag.names.insert(flag.names.end(), spec.zoo_keys.begin(), spec.zoo_keys.end());
    if (spec.owner == FlagOwner::sambaflow && spec.zoo_keys.empty() && spec.used_by(FlagUse::compile)) {
      std::string key = spec.key.path;
      std::ranges::replace(key, '-', '_');
      flag.names.push_back("samba_compile." + key);
    }
    flags.push_back(std::move(flag));
  }
  return flags;
}

std::optional<SearchSpace> RduFamily::search_space(const std::shared_ptr<const Plan>& plan,
                                                   const SearchRequest& request) const {
  return rdu_space(plan, own(*plan), request);
}

std::vector<Deployment> RduFamily::deployment(const Plan& plan) const {
  return commands_of(own(plan));
}

std::vector<std::string> RduFamily::notes(const Plan& plan) const {
  return plan_notes(own(plan), plan.settings);
}

std::vector<ReportedValue> RduFamily::values(const Plan& plan, const Lowered& lowered, const RunResult& result) const {
  return report_values(own(plan), lowered, result);
}

}  // namespace podsim::rdu
