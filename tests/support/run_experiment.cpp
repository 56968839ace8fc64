#include "tests/support/run_experiment.hpp"

#include <stdexcept>

#include "models/catalog.hpp"
#include "sim/config/config_files.hpp"
#include "sim/program/builder.hpp"
#include "tests/support/paths.hpp"

namespace podsim::test {
namespace {

const Catalog& catalog() {
  static const Catalog all = make_catalog();
  return all;
}

PlanResult make(const std::string& toml, const std::vector<std::string>& overrides) {
  PlanResult failed;
  Experiment experiment;
  const std::optional<Value> document = parse_toml(toml, "experiment.toml", failed.diagnostics);
  if (!document) return failed;
  experiment.document = *document;
  for (const std::string& assignment : overrides) apply_override(experiment, assignment, failed.diagnostics);
  if (failed.diagnostics.has_errors()) return failed;
  return make_plan(experiment, catalog(), ConfigFiles::embedded());
}

}  // namespace

double Ran::step_s() const {
  return result.total.duration().in_base() / static_cast<double>(plan.family->step_facts(plan).steps_per_run);
}

double Ran::part_s(CostCategory category) const {
  const DeviceUse* busiest = &result.devices.front();
  for (const DeviceUse& device : result.devices) {
    if (device.busy > busiest->busy) busiest = &device;
  }
  const auto steps = static_cast<double>(plan.family->step_facts(plan).steps_per_run);
  return busiest->breakdown[category].duration().in_base() / steps;
}

Plan plan_of(const std::string& toml, const std::vector<std::string>& overrides) {
  PlanResult made = make(toml, overrides);
  if (!made.plan) throw std::runtime_error(made.diagnostics.to_text());
  return std::move(*made.plan);
}

std::string problems_of(const std::string& toml, const std::vector<std::string>& overrides) {
  return make(toml, overrides).diagnostics.to_text();
}

Ran run_of(const std::string& toml, const std::vector<std::string>& overrides, const RunOptions& options) {
  Plan plan = plan_of(toml, overrides);
  Lowered lowered = plan.family->lower(plan, {options.fold});
  verify(lowered.program, lowered.platform);
  if (options.merged) lowered.program = merge(lowered.program);
  Engine engine = make_engine(options.engine, build_dir());
  RunResult result = engine.run(lowered.platform, lowered.program, {}, {options.exact});
  return {std::move(plan), std::move(lowered), std::move(result)};
}

std::string experiment(const std::string& name) {
  const std::optional<std::string> text = ConfigFiles::embedded().text("experiments/" + name + ".toml");
  if (!text) throw std::runtime_error("no experiment is called " + name);
  return *text;
}

}  // namespace podsim::test
