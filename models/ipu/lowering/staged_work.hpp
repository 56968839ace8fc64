#pragma once
// A model on the stages of one replica's pipeline: the work of its blocks, the order in which each stage runs them, and
// what an IPU does in one cycle as a single chain of ops. It depends on the placement and on how blocks are executed,
// not on replicas, accumulation or where optimizer state lives: many points of a sweep have it in common.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "models/ipu/lowering/pipeline.hpp"
#include "models/ipu/lowering/stage_work.hpp"

namespace podsim::ipu {

// Consecutive ops of one IPU together, and the most that is live on the way.
struct WorkChain {
  std::uint64_t working = 0;  // a bit for each training stage in it
  std::size_t ops = 0;
  std::string label;  // "first … last (n ops)"; empty: no ops
  CostVector cost;
  SimTime time;
  // While the first op of the most demanding ones runs.
  Bytes most_activations;
  Bytes most_temporary;
  SimTime most_at;  // when it begins
};

struct StagedWork {
  Pipeline pipeline;
  BlockWorks works;                           // by block
  std::vector<std::vector<StageStep>> steps;  // by training stage; in inference by stage
  // Of one micro-batch; those of stages that run their forward a second time in `recompute_flop`.
  FlopCount forward_flop;
  FlopCount backward_flop;
  FlopCount recompute_flop;
  // In training, by IPU of a replica: one for each set of stages that work at once in updates of at least as many
  // micro-batches as stages.
  std::vector<std::vector<WorkChain>> chains;
};

constexpr int k_most_chained_stages = 64;  // a bit for each

// Fills `chains`, if there are no more training stages than bits.
void add_chains(StagedWork& staged);

// The chain of stages of one IPU, by bits of `working`, in the order of stages.
WorkChain make_chain(const StagedWork& staged, std::uint64_t working);

// FLOP of the stages that run their forward a second time.
FlopCount recompute_flop(const MemoryInputs& inputs);

}  // namespace podsim::ipu
