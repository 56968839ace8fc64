#pragma once
// From a plan to the events of one host call without training.
//   sharded:   per device iteration the host's input, stage 0, its copy, stage 1, … and the results; one IPU at a time.
//              Each is a segment, so replicas go step by step together.
//   pipelined: lock-step cycles as in training (graphcore/popart, willow/src/popx/popprograms.cpp) with forward stages
//              only: compute with host input, results of the last stage, all copies. device iterations + F - 1 cycles.
// Results that are returned once per call (their sum, or the last ones) follow after the last iteration.
// Generation repeats the call for each token, since without a cache every token recomputes the whole static length.

#include "models/ipu/ipu_plan.hpp"
#include "sim/plan/family.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::ipu {

// The segments that every micro-batch passes in a full cycle, or in an iteration of sharded execution.
inline constexpr const char* k_iteration_mark = "iteration";

Lowered lower_inference(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options);

}  // namespace podsim::ipu
