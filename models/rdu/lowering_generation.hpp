#pragma once
// A request of generation as events. Prompts are prefilled one after another at the compiled length; then a token of
// every request at a time. With high-bandwidth memory a layer is one fused section: its weights and its part of the
// static cache stream from HBM while it computes, then the turn-around with the reduction among the RDUs. Without it,
// the sections of the compiled prefill and token graphs run as they do in training.

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/family.hpp"

namespace podsim::rdu {

inline constexpr const char* k_prefill = "prefill";
inline constexpr const char* k_tokens = "tokens";

Lowered lower_generation(const RduPlan& plan, const WorkloadSettings& settings, const LowerOptions& options);

// bf16 weights of one whole model, and how long its RDUs take to copy them from DDR to high-bandwidth memory.
Bytes expert_weights(const RduPlan& plan);
Duration expert_switch_time(const RduPlan& plan);

}  // namespace podsim::rdu
