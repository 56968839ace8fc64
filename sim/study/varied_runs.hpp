#pragma once
// One experiment after another under other constants: what calibration, intervals and sensitivity ask for.

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/engine/engine.hpp"
#include "sim/plan/catalog.hpp"
#include "sim/plan/experiment.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/plan_cache.hpp"
#include "sim/report/report.hpp"
#include "sim/study/evaluate.hpp"

namespace podsim {

struct VariedRun {
  std::optional<Report> report;  // of values alone, see make_values; empty: the run is not possible
  std::string problem;           // why not
  bool fits = false;
};

// Runs on the native engine; keeps what runs have in common. For one thread.
class VariedRuns {
 public:
  // `unfit`: simulate also what does not fit, as of runs that are known to have happened.
  VariedRuns(const Catalog& catalog, const ConfigFiles& configs, bool unfit);

  PlanResult make(const Experiment& experiment);
  // Its constants and settings; empty, with a problem, when the experiment is not valid.
  std::optional<Plan> plan(const Experiment& experiment, std::string& problem);
  VariedRun run(const Experiment& experiment);

 private:
  void forget_sometimes();

  const Catalog& catalog_;
  const ConfigFiles& configs_;
  bool unfit_;
  Engine engine_;
  std::unique_ptr<PlanCache> cache_;
  int used_ = 0;
  PointStorage storage_;
};

}  // namespace podsim
