#pragma once
// How long the compiler takes, on the host: base + sections to compile x time of each, a wide interval around it. Equal
// sections are compiled once at o1, and at o3 with hypersections; else each counts. Public points are few, see the
// constants cost.compile.*.

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/family.hpp"

namespace podsim::rdu {

CompileEstimate estimate_compile(const RduPlan& plan);

}  // namespace podsim::rdu
