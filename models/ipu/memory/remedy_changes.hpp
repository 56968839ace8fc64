#pragma once
// Changes of a plan that are worth trying when it does not fit.

#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/remedy_search.hpp"
#include "sim/plan/workload_settings.hpp"

namespace podsim::ipu {

struct Candidate {
  RunSetup setup;
  WorkloadSettings settings;
};

using Change = PlanChange<Candidate>;

// Where optimizer state lives and over how many replicas it is split, checkpoints and recomputation, layers moved to
// emptier IPUs or split evenly, proportions, serial steps of embedding and projection, smaller micro-batches.
std::vector<Change> changes_of(const Plan& plan, const IpuPlan& ipu_plan);

// Fewer results where a host stream is too long: shorter sequences or fewer masked tokens. They change what is asked
// for, so they come behind all others. None where the results do not go with either.
std::vector<Change> output_changes_of(const Plan& plan, const IpuPlan& ipu_plan);

}  // namespace podsim::ipu
