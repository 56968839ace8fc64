#pragma once
// SambaNova RDU nodes as a machine family.

#include "sim/plan/family.hpp"

namespace podsim::rdu {

class RduFamily final : public Family {
 public:
  std::string_view name() const override { return "rdu"; }
  const std::vector<KeySpec>& keys() const override;
  std::vector<std::pair<std::string, std::string>> keys_without_effect() const override;
  bool costs_model_graph() const override { return false; }
  std::shared_ptr<FamilyCache> make_cache() const override;
  void fill_shared(Value& document, Diagnostics& diagnostics) const override;
  std::unique_ptr<FamilyPlan> resolve(FamilyContext& context, Diagnostics& diagnostics) const override;
  StepFacts step_facts(const Plan& plan) const override;
  ScheduleFacts schedule_facts(const Plan& plan) const override;
  MachineFacts machine_facts(const Plan& plan) const override;
  MemoryAccount memory_account(const Plan& plan) const override;
  std::optional<CompileEstimate> compile_estimate(const Plan& plan) const override;
  Verdict verdict(const Plan& plan, bool remedies) const override;
  Lowered lower(const Plan& plan, const LowerOptions& options) const override;
  std::vector<Table> tables(const Plan& plan, const Lowered& lowered, const RunResult& result) const override;
  std::vector<Table> detail_tables(const Plan& plan) const override;
  std::vector<ReportedMeaning> meanings() const override;
  std::optional<SearchSpace> search_space(const std::shared_ptr<const Plan>& plan,
                                          const SearchRequest& request) const override;
  std::vector<Deployment> deployment(const Plan& plan) const override;
  std::vector<CommandFlag> command_flags() const override;
  std::vector<std::string> notes(const Plan& plan) const override;
  std::vector<ReportedValue> values(const Plan& plan, const Lowered& lowered, const RunResult& result) const override;
};

}  // namespace podsim::rdu
