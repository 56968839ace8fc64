#pragma once
// What the IPU family makes of an experiment: the settings that schedule, costs and memory read.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/ipu/cost/operator_cost.hpp"
#include "models/ipu/ipu_constants.hpp"
#include "models/ipu/lowering/pipeline.hpp"
#include "models/ipu/lowering/pod.hpp"
#include "sim/plan/family.hpp"

namespace podsim::ipu {

// Which iterations of an inference call hand their results to the host (graphcore/popart, dataflow.hpp): each one;
// their sum, once per call; the last one.
enum class OutputMode { all, sum, final };
std::string_view name(OutputMode mode);

// What inference and generation have beyond the shared keys.
struct InferenceSetup {
  bool sharded = true;       // one IPU at a time; else all stages in lock step
  bool key_ignored = false;  // this version shards whatever sharded_execution_for_inference says
  OutputMode output = OutputMode::all;
  Bytes results;                   // of one micro-batch, handed to the host
  std::int64_t output_tokens = 0;  // of a request in generation, each a host call; 0: no generation
  friend bool operator==(const InferenceSetup&, const InferenceSetup&) = default;
};

// The keys of an IPUConfig that a run depends on, resolved for its mode. Inference has no gradients: accumulation 1, no
// optimizer state, no recomputation.
struct RunSetup {
  RunMode run = RunMode::training;
  LayerPlacement placement;
  std::int64_t ipus_per_replica = 1;
  std::int64_t replication_factor = 1;
  std::int64_t gradient_accumulation_steps = 1;
  std::int64_t device_iterations = 1;
  std::int64_t instances = 0;  // host processes that feed the replicas; 0: not stated, their pace is no limit
  std::vector<double> matmul_proportion;             // by IPU of a replica
  std::int64_t embedding_serialization_factor = 1;   // passes of the embedding's look-ups
  std::int64_t projection_serialization_factor = 1;  // passes of the vocabulary-sized products of the head
  bool projection_follows_embedding = true;          // it has no factor or splits of its own
  bool optimizer_state_offchip = true;
  bool replicated_tensor_sharding = false;
  bool recompute_checkpoint_every_layer = false;
  std::int64_t recompute_segments = 0;               // of one IPU, each run again before its backward; -1: every block
  std::vector<std::size_t> recompute_cuts;           // blocks that begin such a part, named; instead of a number
  std::int64_t distributed_batch_norm_replicas = 1;  // that share the statistics of their norms
  bool auto_loss_scaling = false;                    // a histogram of every float16 gradient; training only
  AmpMode mode = AmpMode::half_half;
  InferenceSetup inference;  // without meaning in training

  bool training() const { return run == RunMode::training; }
  // In how many steps the vocabulary-sized operators of a block run.
  std::int64_t serial_steps(BlockKind kind) const {
    return kind == BlockKind::head ? projection_serialization_factor : embedding_serialization_factor;
  }
  // How the operators of a block on one IPU of a replica run.
  Execution execution(std::size_t ipu, BlockKind kind) const {
    return {mode, matmul_proportion[ipu], serial_steps(kind)};
  }
  // Whether one IPU runs its forward again before the backward, part by part.
  bool recomputes_in_segments() const { return recompute_segments != 0 || !recompute_cuts.empty(); }
  // Over how many replicas optimizer state is split.
  std::int64_t shards() const { return replicated_tensor_sharding ? replication_factor : 1; }
  friend bool operator==(const RunSetup&, const RunSetup&) = default;
};

// By which of several keys the experiment says a thing: a change is only heeded in the same words.
struct WrittenKeys {
  bool n_ipu = false;                          // it sets the replicas
  bool half_layers = false;                    // attention and feed-forward halves have lists of their own
  bool io_tiles = false;                       // refused where a pipeline has more than one stage
  std::vector<std::int64_t> embedding_splits;  // empty: the factor says it
  std::vector<std::int64_t> projection_splits;
};

class SharedParts;
struct PreparedPlan;

class IpuPlan : public FamilyPlan {
 public:
  std::vector<ResolvedKey> resolved() const override;
  const std::vector<ConstantId>& constants_read() const override { return constant_ids; }

  RunSetup setup;
  WrittenKeys written;
  IpuConstants constants;
  std::shared_ptr<const OperatorCostModel> costs;        // with its cache of matmul plans
  std::shared_ptr<SharedParts> parts;                    // what it shares with other plans; never null
  mutable std::shared_ptr<const PreparedPlan> prepared;  // once somebody asked for it: see SharedParts::prepared
  PodShape pod;
  std::int64_t evaluation_ipus = 0;      // that the inference settings would reserve beside a training run
  std::string version_note;              // of a version that nobody knows, in words; else empty
  std::string followed_output_mode;      // one that the library does not use in inference; else empty
  bool accumulation_by_default = false;  // nobody wrote how many micro-batches are accumulated
  std::vector<double> slowdown;          // by device
  // In this order: of other sections and networks; of the [ipu] table; what is settled last.
  std::vector<ResolvedKey> resolved_keys;
  std::shared_ptr<const std::vector<ResolvedKey>> config_keys;  // never null
  std::vector<ResolvedKey> last_keys;
  std::vector<ConstantId> constant_ids;
};

// Parameters and their optimizer state on one IPU of a replica.
struct PlacedParameters {
  std::int64_t element_bytes = 2;  // of a weight, and of its gradient
  std::int64_t elements = 0;       // tied tensors once, on their first IPU
  std::int64_t tensors = 0;
  std::int64_t sharded_elements = 0;  // that one replica keeps the state of (PopART shards tensors of ≥ 8 192 elements)
};

// By IPU of a replica.
std::vector<PlacedParameters> place_parameters(const ModelGraph& graph, const RunSetup& setup,
                                               const IpuConstants& constants);

// In which the host processes make the next micro-batch of every replica ready; 0 where their pace is no limit.
Duration host_process_time(const RunSetup& setup, const WorkloadSettings& settings, const SoftwareConstants& software);

// "micro-batch 2 × 4 replicas × accumulation 16 × device iterations 1": the samples of a host call.
std::string call_factors(std::int64_t micro_batch, std::int64_t replicas, std::int64_t accumulation,
                         std::int64_t iterations);

// Bytes of optimizer state per parameter: first moment and, for Adam and LAMB, the second in float32.
std::int64_t optimizer_state_bytes(const WorkloadSettings& settings);

}  // namespace podsim::ipu
