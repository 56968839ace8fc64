#pragma once
// An IPUConfig against a model and a system: how many layers stand on each IPU, how many replicas run, how many stages
// the pipeline has. Rules: optimum-graphcore modeling_utils.py (layers), poptorch CompilerImpl.cpp (stages, devices).

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "models/ipu/config/ipu_config.hpp"
#include "models/ipu/lowering/pipeline.hpp"

namespace podsim::ipu {

// Where the blocks outside the counted layers stand.
enum class OuterBlocks {
  head_with_decoder,  // audio on IPU 0; the decoder's embedding, and the head with it, where the decoder begins
                      // (Whisper)
  head_on_first_ipu,  // embedding on IPU 0, head back on it (pre-training, masked and causal language models, T5, BART)
  head_on_last_ipu,   // embedding on IPU 0, head on the last IPU (question answering, classification, ViT)
  in_list,            // both are counted as layers (wav2vec2)
};

struct PlacementRequest {
  RunMode mode = RunMode::training;
  std::string model_type;           // "bert", "gpt2", … decides between padding and refusing a vocabulary
  std::int64_t layers = 0;          // blocks that layers_per_ipu counts, e.g. 24, or 23 for wav2vec2 pre-training
  std::int64_t encoder_layers = 0;  // of them, in front of a decoder's; 0: no decoder behind an encoder
  std::string layer_names;          // what is counted when it is not plain layers, for messages; may be empty
  OuterBlocks outer = OuterBlocks::head_on_first_ipu;
  std::int64_t vocabulary = 0;   // rows of the embedding; 0: none
  bool projects = false;         // the head projects back to the vocabulary
  bool tied_projection = false;  // with the embedding's table
  std::string system_name;       // "Pod16"
  std::int64_t system_ipus = 0;  // of all nodes
  std::int64_t pod_ipus = 0;     // joined by IPU-Links, where a replica must stand; 0: all of them
  std::int64_t micro_batch_size = 1;
  std::optional<std::int64_t> dataset_samples;
  Place dataset_place;  // of workload.dataset_samples
};

struct Placement {
  LayerPlacement layers;               // one count per IPU of a replica
  bool last_ffn_on_first_ipu = false;  // half layers: the last feed-forward half stands with the head on IPU 0
  std::int64_t ipus_per_replica = 1;
  std::int64_t replication_factor = 1;
  std::int64_t gradient_accumulation = 1;  // 1 in inference
  std::int64_t device_iterations = 1;
  std::vector<double> matmul_proportion;    // one per IPU
  std::int64_t forward_stages = 1;          // changes of IPU in execution order, plus one
  std::int64_t stages = 1;                  // 2 · forward_stages - 1 in training
  bool replicated_tensor_sharding = false;  // only with replicas
  std::int64_t vocabulary = 0;              // padded to a multiple of the serialization factor where the model pads
  std::int64_t used_ipus = 1;               // ipus_per_replica · replication_factor
  std::int64_t reserved_ipus = 1;           // the next power of two
  std::int64_t instances = 1;               // host processes; each drives at most 64 IPUs
};

// All problems go to `diagnostics`, in the order in which the real software meets them; empty when there are errors.
// Settings that are not valid are skipped, and so is every check that needs them.
std::optional<Placement> check_against(const IpuConfig& config, const PlacementRequest& request,
                                       Diagnostics& diagnostics);

}  // namespace podsim::ipu
