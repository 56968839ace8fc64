#include "models/rdu/serving.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/check.hpp"

namespace podsim::rdu {

namespace {

double number(std::int64_t value) {
  return static_cast<double>(value);
}

}  // namespace

std::int64_t padded_prompt(std::int64_t input_tokens, std::int64_t static_length, bool legacy_endpoint,
                           const ServingConstants& constants) {
  if (legacy_endpoint) return std::max(input_tokens, static_length);
  const std::int64_t tokens = input_tokens + constants.start_tokens;
  const std::int64_t buckets = (tokens + constants.prompt_bucket - 1) / constants.prompt_bucket;
  // The last bucket ends with the static length.
  return std::max(input_tokens, std::min(buckets * constants.prompt_bucket, static_length));
}

std::int64_t deployed_context(std::int64_t tokens, std::int64_t longest, const ServingConstants& constants) {
  PODSIM_CHECK(constants.shortest_context >= 1, "no shortest context");
  std::int64_t context = constants.shortest_context;
  while (context < tokens + constants.start_tokens && context < longest) context *= 2;
  return std::min(context, longest);
}

Duration model_switch_time(Bytes weights, std::int64_t sockets, const RduConstants& constants) {
  PODSIM_CHECK(sockets >= 1, "no sockets");
  return weights.size() / (constants.chip.ddr.bandwidth * (constants.serving.switch_efficiency * number(sockets)));
}

ExpertCapacity expert_capacity(Bytes weights, std::int64_t sockets, const ChipConstants& chip) {
  PODSIM_CHECK(weights.count() >= 1 && sockets >= 1, "experts without weights, or no sockets");
  ExpertCapacity capacity;
  const auto whole = [&](Bytes per_socket) {
    return static_cast<std::int64_t>(std::floor(per_socket.size() * number(sockets) / weights.size()));
  };
  if (chip.hbm) capacity.in_hbm = whole(chip.hbm->capacity);
  capacity.in_ddr = whole(chip.ddr.capacity);
  return capacity;
}

}  // namespace podsim::rdu
