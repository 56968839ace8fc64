#pragma once
// What a sweep is: an experiment, the points at which it is varied, and the hash that tells one sweep from another.

#include <string>
#include <vector>

#include "sim/config/config_files.hpp"
#include "sim/plan/catalog.hpp"
#include "sim/plan/experiment.hpp"
#include "sim/study/sweep_condition.hpp"
#include "sim/study/sweep_space.hpp"

namespace podsim {

struct SweepDefinition {
  Experiment base;  // without its sweep section
  SweepSpace space;
  std::vector<SweepCondition> excluded;
  Diagnostics warnings;      // of its axes, at the first point; of its conditions and sampling
  std::string text;          // base and sweep, as inline tables, a line each
  std::string input_sha256;  // of `text`, the configs, the overlays and every file that a value names

  // What keys stand for at a point; `values` outlives it.
  KeyLookup lookup(const std::vector<Value>& values) const;
  bool leaves_out(const std::vector<Value>& values) const;
};

// `written`: with a [sweep] section, or `axes` of the command line, which then stand for those of the section. Throws
// ConfigError with every problem: no axis, an axis or condition that no document knows, a bad base.
SweepDefinition read_sweep(const Experiment& written, std::vector<SweepGroup> axes, const Catalog& catalog,
                           const ConfigFiles& configs);

}  // namespace podsim
