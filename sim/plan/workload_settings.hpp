#pragma once
// The resolved [workload] and [model] tables: what is to be run, whatever the machine.

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/key_spec.hpp"

namespace podsim {

enum class RunMode { training, inference, generation };

struct WorkloadSettings {
  RunMode mode = RunMode::training;
  std::string precision;  // "fp16.16", "fp16.32", "fp32", "fp8", "bf16"; empty: left to the family
  std::string head;       // "pretraining", "causal-lm", … "none"
  std::int64_t sequence_length = 0;
  std::int64_t image_size = 0;     // 0: not an image model
  std::int64_t masked_tokens = 0;  // rows of the masked-language-model head per sequence; 0: no such head
  double packing_factor = 1.0;     // sequences per pack; 1: not packed
  std::int64_t micro_batch_size = 1;
  std::string optimizer;                // "sgd", "sgd-momentum", "adam", "adamw", "lamb", "lars"
  std::int64_t first_moment_bytes = 0;  // of the optimizer, per parameter; 0: left to the family
  bool recompute = true;                // backward stages run their forward again, as pipelined training does
  bool split_qkv = false;               // query, key and value as three products instead of one
  bool attention_dropout = true;
  bool ffn_dropout = false;                  // dropout behind the activation of the feed-forward block
  double input_bytes_per_element = 0;        // of image input; 0: the model's own
  std::string activation_checkpoint_format;  // "float16", "float8"
  std::int64_t input_tokens = 0;             // of a request in generation; 0 in other modes
  std::int64_t output_tokens = 0;            // that it generates
  std::optional<std::int64_t> target_samples;
  std::optional<std::int64_t> target_tokens;
  std::optional<std::int64_t> dataset_samples;
  std::optional<double> epochs;
  friend bool operator==(const WorkloadSettings&, const WorkloadSettings&) = default;
};

// Keys of the sections that every family shares: name, system, software, model, workload, report.
const std::vector<KeySpec>& shared_keys();

}  // namespace podsim
