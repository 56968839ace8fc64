#pragma once
// Token generation on nodes with high-bandwidth memory: closed forms. Decoding moves weights and a key-value cache of
// static length; prompts are prefilled one request after another.

#include <cstdint>
#include <optional>

#include "models/rdu/constants.hpp"
#include "models/rdu/transformer_description.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"

namespace podsim::rdu {

enum class Orchestration : std::uint8_t { hardware, software };

struct ServingRequest {
  std::int64_t sockets = 1;        // RDUs that share the model
  std::int64_t batch = 1;          // requests decoded together
  std::int64_t input_tokens = 0;   // per request
  std::int64_t output_tokens = 0;  // per request
  std::int64_t static_length = 0;  // positions in the compiled key-value cache
  std::int64_t padded_prompt = 0;  // length the prompt is prefilled at; at least input_tokens
  bool legacy_endpoint = false;    // of the older deployment, which reached less of the memory's bandwidth
  Orchestration orchestration = Orchestration::hardware;
  bool fused = true;           // false: a launch per operator, with its intermediate traffic
  double accepted_tokens = 1;  // per pass, of speculative decoding
};

struct ServingTime {
  Bandwidth memory;                     // usable, all sockets
  Bytes weights;                        // read per token
  Bytes cache;                          // read per token, whole batch
  Duration token;                       // per output token
  Duration request_prefill;             // of one request, with its fixed cost
  Duration first_token;                 // of the last request of the batch
  Duration latency;                     // of the batch
  double tokens_per_second = 0;         // input and output tokens of all requests over the latency
  double output_tokens_per_second = 0;  // while decoding, whole batch
};

// The prompt and its start token fill whole buckets, at most the static length; in the older endpoint always that.
std::int64_t padded_prompt(std::int64_t input_tokens, std::int64_t static_length, bool legacy_endpoint,
                           const ServingConstants& constants);

// The chip must have high-bandwidth memory (PODSIM_CHECK).
ServingTime serving_time(const TransformerDescription& model, const ServingRequest& request,
                         const RduConstants& constants);

// Loading another model from DDR into high-bandwidth memory.
Duration model_switch_time(Bytes weights, std::int64_t sockets, const RduConstants& constants);

// How many models of a size the node holds.
struct ExpertCapacity {
  std::int64_t in_hbm = 0;
  std::int64_t in_ddr = 0;
};
ExpertCapacity expert_capacity(Bytes weights, std::int64_t sockets, const ChipConstants& chip);

// An operator compiled and run alone: argument load + max(products, operands and result once).
Duration isolated_operator_time(FlopCount flop, Bytes bytes, const RduConstants& constants);

}  // namespace podsim::rdu
