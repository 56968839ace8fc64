#pragma once
// What will run: everything resolved and checked. A Plan that exists is valid (though it may not fit: see verdict).

#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/config/constants.hpp"
#include "sim/plan/catalog.hpp"
#include "sim/plan/experiment.hpp"
#include "sim/plan/family.hpp"
#include "sim/plan/model_kind.hpp"
#include "sim/plan/workload_settings.hpp"

namespace podsim {

struct Plan {
  std::string name;
  std::string system;
  std::string chip;  // as the system's file names it
  std::string software;
  std::int64_t nodes = 1;
  const Family* family = nullptr;
  const ModelKind* model_kind = nullptr;
  ModelShape shape;
  WorkloadSettings settings;
  ModelGraph graph;
  ConstantSet constants;
  std::unique_ptr<FamilyPlan> family_plan;
  std::vector<ResolvedKey> resolved;  // of the shared sections; the family's own come from family_plan
  Diagnostics warnings;
  std::string inputs_sha256;  // of all input bytes, hexadecimal; empty when made with a cache
};

// The number behind a constant's name; empty: the plan's files do not have it.
std::optional<double> constant_value(const Plan& plan, std::string_view name);

struct PlanResult {
  std::optional<Plan> plan;  // empty when there are errors
  Diagnostics diagnostics;   // all of them, warnings too
};

PlanResult make_plan(const Experiment& experiment, const Catalog& catalog, const ConfigFiles& configs);
// The same with what earlier plans of the same catalog and files left in `cache`.
PlanResult make_plan(const Experiment& experiment, const Catalog& catalog, const ConfigFiles& configs,
                     PlanCache& cache);

// The plan as an experiment file that reproduces the run, each line with its origin as a comment. `folder` is where
// the file will stand: paths are written relative to it.
std::string to_toml(const Plan& plan, const std::string& folder = ".");

}  // namespace podsim
