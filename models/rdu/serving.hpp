#pragma once
// What a deployment on nodes with high-bandwidth memory decides: the length a prompt is padded to, the compiled context
// a request is served from, how models are exchanged.

#include <cstdint>

#include "models/rdu/constants.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"

namespace podsim::rdu {

enum class Orchestration : std::uint8_t { hardware, software };

// The prompt and its start token fill whole buckets, at most the static length; in the older endpoint always that.
std::int64_t padded_prompt(std::int64_t input_tokens, std::int64_t static_length, bool legacy_endpoint,
                           const ServingConstants& constants);

// The shortest compiled context that holds so many tokens of a request and its start token; each is twice the one
// before, none longer than `longest`.
std::int64_t deployed_context(std::int64_t tokens, std::int64_t longest, const ServingConstants& constants);

// Loading another model from DDR into high-bandwidth memory.
Duration model_switch_time(Bytes weights, std::int64_t sockets, const RduConstants& constants);

// How many models of a size the node holds.
struct ExpertCapacity {
  std::int64_t in_hbm = 0;
  std::int64_t in_ddr = 0;
};
ExpertCapacity expert_capacity(Bytes weights, std::int64_t sockets, const ChipConstants& chip);

}  // namespace podsim::rdu
