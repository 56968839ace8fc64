#pragma once
// From an [rdu] section, its commands and the model to a plan.

#include <memory>

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/family.hpp"

namespace podsim::rdu {

// All problems go to `diagnostics`; empty when there are errors.
std::unique_ptr<RduPlan> resolve_plan(FamilyContext& context, Diagnostics& diagnostics);

// The part of a model that one of `parts` RDUs holds when weights are cut: heads, feed-forward width and vocabulary
// over the parts. Key-value heads that are fewer than the parts are held several times. Empty when it does not divide;
// `problem` says what.
std::optional<TransformerDescription> cut_weights(const TransformerDescription& model, std::int64_t parts,
                                                  std::string& problem);

// Builds, cuts and costs the graphs of a plan whose setup, constants, models and rates are complete.
void compile_graphs(RduPlan& plan, const WorkloadSettings& settings);

}  // namespace podsim::rdu
