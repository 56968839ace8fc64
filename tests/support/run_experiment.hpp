#pragma once
// A whole run inside a test: an experiment's text or file, changes to it, and what came out.

#include <string>
#include <vector>

#include "sim/engine/engine.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/report.hpp"

namespace podsim::test {

struct Ran {
  Plan plan;
  Lowered lowered;
  RunResult result;
  double step_s() const;  // one weight update
  // Of the device that is busiest, per step, in seconds.
  double part_s(CostCategory category) const;
};

struct RunOptions {
  std::string engine = "native";
  bool exact = false;
  bool fold = true;
  bool merged = false;
};

// Plans that every test may use; the catalog lives as long as the program of tests.
Plan plan_of(const std::string& toml, const std::vector<std::string>& overrides = {});
// All diagnostics as text, for experiments that are wrong (or warn).
std::string problems_of(const std::string& toml, const std::vector<std::string>& overrides = {});
Ran run_of(const std::string& toml, const std::vector<std::string>& overrides = {}, const RunOptions& options = {});
// A shipped experiment's text, by name.
std::string experiment(const std::string& name);

}  // namespace podsim::test
