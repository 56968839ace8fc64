#pragma once
// From a plan to events: the lock-step pipeline of PopART (graphcore/popart willow/src/popx/popprograms.cpp) and the
// update behind it. A cycle is three segments (compute with host input, forward copies, backward copies); every copy
// happens in every cycle. Fill and drain cycles are segments of their own; the full cycle is a repeat.

#include "models/ipu/ipu_plan.hpp"
#include "sim/plan/family.hpp"
#include "sim/plan/plan.hpp"

namespace podsim::ipu {

inline constexpr const char* k_full_cycle_mark = "full cycle";
inline constexpr const char* k_update_mark = "update";

Lowered lower_training(const Plan& plan, const IpuPlan& ipu_plan, const LowerOptions& options);

}  // namespace podsim::ipu
