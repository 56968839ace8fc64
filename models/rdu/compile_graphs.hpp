#pragma once
// The graphs of a plan: built, cut into sections and costed, each tier of memory at its own speed.

#include <optional>
#include <string>

#include "models/rdu/rdu_plan.hpp"

namespace podsim::rdu {

// The part of a model that one of `parts` RDUs holds when weights are cut: heads, feed-forward width and vocabulary
// over the parts. Empty when it does not divide; `problem` says what.
std::optional<TransformerDescription> cut_weights(const TransformerDescription& model, std::int64_t parts,
                                                  std::string& problem);

// The tiles of a part and their rates, from setup and constants.
void fill_rates(RduPlan& plan);

// Fills the graphs and the tiers of a plan whose setup, constants, models and rates are complete. Throws
// std::range_error for sizes beyond 64 bits.
void compile_graphs(RduPlan& plan, const WorkloadSettings& settings);

}  // namespace podsim::rdu
