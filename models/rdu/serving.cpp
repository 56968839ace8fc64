#include "models/rdu/serving.hpp"

#include <algorithm>
#include <cmath>

#include "sim/core/check.hpp"

namespace podsim::rdu {

namespace {

constexpr double k_bf16 = 2;  // bytes

double number(std::int64_t value) {
  return static_cast<double>(value);
}

// Launches by host software, one section per layer and one for the head.
Duration software_launches(const TransformerDescription& model, const SectionConstants& section) {
  return (section.program_load + section.argument_load) * number(model.layers + 1);
}

// Without fusion each layer is many launches, and what lies between them goes through memory. `tokens` of the whole
// batch run through the layers, each against `context` positions.
Duration unfused_cost(const TransformerDescription& model, std::int64_t tokens, std::int64_t context, Bandwidth memory,
                      const RduConstants& constants) {
  const ServingConstants& serving = constants.serving;
  const double scores = number(serving.unfused_score_passes) * number(model.heads) * number(context);
  const double wide = number(serving.unfused_tensors) * number(model.hidden);
  const DataSize traffic = data_bytes(k_bf16 * number(tokens) * (scores + wide) * number(model.layers));
  const Duration launches = constants.section.argument_load * number(serving.unfused_kernels * model.layers);
  return launches + traffic / memory;
}

FlopCount prefill_flop(const TransformerDescription& model, std::int64_t tokens) {
  const double products = 2 * number(model.parameter_count()) * number(tokens);
  const double attention = 4 * number(tokens) * number(tokens) * number(model.query_width()) * number(model.layers);
  return flop(products + attention);
}

void check_request(const ServingRequest& request) {
  PODSIM_CHECK(request.sockets >= 1 && request.batch >= 1, "no sockets or an empty batch");
  PODSIM_CHECK(request.input_tokens >= 1 && request.output_tokens >= 1, "a request without tokens");
  PODSIM_CHECK(request.padded_prompt >= request.input_tokens, "a prompt longer than what it is padded to");
  PODSIM_CHECK(request.static_length >= 1, "no static length");
  PODSIM_CHECK(request.accepted_tokens >= 1, "fewer than one token per pass");
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

ServingTime serving_time(const TransformerDescription& model, const ServingRequest& request,
                         const RduConstants& constants) {
  PODSIM_CHECK(constants.chip.hbm.has_value(), "serving wants high-bandwidth memory");
  check_request(request);
  const double legacy = request.legacy_endpoint ? constants.serving.legacy_efficiency : 1.0;
  const double sockets = number(request.sockets);
  const double batch = number(request.batch);
  ServingTime time;
  time.memory = constants.chip.hbm->bandwidth * (constants.serving.hbm_efficiency * legacy * sockets);
  const double parameters = number(model.parameter_count());
  time.weights = round_up_bytes(data_bytes(k_bf16 * parameters));
  const double per_position = 2 * k_bf16 * number(model.layers) * number(model.kv_width());
  time.cache = round_up_bytes(data_bytes(per_position * number(request.static_length) * batch));

  time.token = (time.weights.size() + time.cache.size()) / time.memory;
  time.token += constants.serving.layer * number(model.layers);
  const FlopRate rate = constants.chip.peak_bf16 * (constants.section.efficiency * sockets);
  Duration prefill = prefill_flop(model, request.padded_prompt) / rate;
  if (request.orchestration == Orchestration::software) {
    time.token += software_launches(model, constants.section);
    prefill += software_launches(model, constants.section);
  }
  if (!request.fused) {
    time.token += unfused_cost(model, request.batch, request.static_length, time.memory, constants);
    prefill += unfused_cost(model, request.padded_prompt, request.padded_prompt, time.memory, constants);
  }
  time.token = time.token / request.accepted_tokens;
  time.request_prefill = constants.serving.request + prefill;
  time.first_token = time.request_prefill * batch;
  time.latency = time.first_token + time.token * number(request.output_tokens);
  const double tokens = batch * (number(request.input_tokens) + number(request.output_tokens));
  time.tokens_per_second = tokens / time.latency.in_base();
  time.output_tokens_per_second = batch / time.token.in_base();
  return time;
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

Duration isolated_operator_time(FlopCount flop, Bytes bytes, const RduConstants& constants) {
  const Duration products = flop / (constants.chip.peak_bf16 * constants.isolated.efficiency);
  return constants.section.argument_load + std::max(products, bytes.size() / constants.isolated.bandwidth);
}

}  // namespace podsim::rdu
