#include "bench/experiments.hpp"

#include "models/catalog.hpp"

namespace podsim::bench {

const Catalog& catalog() {
  static const Catalog all = make_catalog();
  return all;
}

Plan plan_of(const std::string& experiment, const std::vector<std::string>& overrides) {
  Diagnostics diagnostics;
  const ConfigFiles configs = ConfigFiles::embedded();
  Experiment written = read_experiment(experiment, configs, diagnostics);
  for (const std::string& assignment : overrides) apply_override(written, assignment, diagnostics);
  if (diagnostics.has_errors()) throw ConfigError(diagnostics);
  PlanResult made = make_plan(written, catalog(), configs);
  if (!made.plan) throw ConfigError(made.diagnostics);
  return std::move(*made.plan);
}

}  // namespace podsim::bench
