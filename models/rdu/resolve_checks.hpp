#pragma once
// What an image network and a deployment of generation ask of an experiment, beside the commands.

#include <cstdint>
#include <string>
#include <vector>

#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/family.hpp"

namespace podsim::rdu {

// Why a model is too large to be counted in 64 bits; empty when it is not.
std::string too_many_weights(const TransformerDescription& model);

// How many RDUs of a node share the weights for generation when the command does not say: all, or the largest part of
// them that divides the model, which is told.
std::int64_t default_parts(const TransformerDescription& model, std::int64_t rdus, const Place& place,
                           Diagnostics& diagnostics);

// A key-value head is not cut: with fewer of them than RDUs some hold the same.
void tell_of_copied_heads(const TransformerDescription& model, std::int64_t parts, const Place& place,
                          Diagnostics& diagnostics);

// An image must be halved once per level; recomputation has no effect and is turned off.
void check_image(const UnetDescription& model, FamilyContext& context, Diagnostics& diagnostics);

// A single operator is run once, forward.
void check_isolated(const FamilyContext& context, Diagnostics& diagnostics);
// Its program is loaded once, before what is measured. Rates are those of operators alone.
void take_isolated_rates(RduPlan& plan);

// The longest context among which a request finds its own: what is written, else the model's `positions`. `why_idle`
// says why none is looked for; empty when one is.
std::int64_t read_longest_context(const FamilyContext& context, std::int64_t positions, const std::string& why_idle,
                                  std::vector<ResolvedKey>& resolved, Diagnostics& diagnostics);

}  // namespace podsim::rdu
