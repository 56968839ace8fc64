#pragma once
// What a step takes outside of its events' order: its sections on one part, and the host around them.

#include "models/rdu/rdu_plan.hpp"

namespace podsim::rdu {

// Of one step, all accumulation steps of it included. The times of the sections are those of the memory tier that holds
// their tensors.
struct SectionSums {
  Duration total;  // with the waits for the host's launches
  Duration execute;
  Duration program_load;
  Duration argument_load;
};
// `slowdown` is a factor on a device's own work, as in the experiment.
SectionSums section_sums(const RduPlan& plan, double slowdown = 1);

// How often a step runs a section: once per accumulation step, sections of the update once.
std::int64_t calls_per_step(const RduSetup& setup, RduPhase phase);

// Host time of a training step. Profiled: base, more at o0, and growth with the time on the device and the parameters.
// In production: the gap between two steps.
Duration host_time(const RduPlan& plan);

// Gradients of one part that replicas reduce: bf16.
Bytes reduced_gradients(const RduPlan& plan);

}  // namespace podsim::rdu
