#pragma once
// Memory of each IPU of a replica by category, from the plan alone. Model and figures: models/ipu/facts.md, "Memory";
// its constants stand in configs/constants/ipu-memory.toml. The simulated timeline allocates the same quantities.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include "models/ipu/cost/operator_cost.hpp"
#include "models/ipu/ipu_constants.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/pipeline.hpp"
#include "sim/plan/verdict.hpp"
#include "sim/plan/workload_settings.hpp"
#include "sim/workload/model_graph.hpp"

namespace podsim::ipu {

// Names of the categories, in the order of reports: the category of PopVision Graph Analyser, and for variables what
// they hold. Which term is which: models/ipu/facts.md, "Memory".
inline constexpr const char* k_weights = "Variables: weights";
inline constexpr const char* k_accumulators = "Variables: gradient accumulators";
inline constexpr const char* k_optimizer_state = "Variables: optimizer state";
inline constexpr const char* k_loss_scaling = "Variables: automatic loss scaling";
inline constexpr const char* k_stash = "Variables: activation stash";
inline constexpr const char* k_activations = "Variables: activations";
inline constexpr const char* k_temporaries = "Variables: temporaries";
inline constexpr const char* k_code = "Vertex code, vertex instance state, control code, internal exchange code";
inline constexpr const char* k_host_exchange_code = "Host exchange code";
inline constexpr const char* k_global_exchange_code = "Global exchange code";
inline constexpr const char* k_remote_state = "Remote buffers: optimizer state";  // in Streaming Memory

inline constexpr std::array<const char*, 11> k_categories = {
    k_weights,     k_accumulators, k_optimizer_state,    k_loss_scaling,         k_stash,       k_activations,
    k_temporaries, k_code,         k_host_exchange_code, k_global_exchange_code, k_remote_state};

// Whether a category is code: it must lie in executable memory.
bool is_code(std::string_view category);

// One micro-batch kept between the forward of a stage and its backward.
Bytes stash_of_stage(const ModelGraph& graph, const WorkloadSettings& settings, const RunSetup& setup,
                     const ForwardStage& stage);

// What enters the parts that one IPU runs forward again, of the one micro-batch under way.
Bytes segment_checkpoints(const ModelGraph& graph, const RunSetup& setup, const ForwardStage& stage);

// How many micro-batches forward stage `stage` keeps at most: 2(F - 1 - stage) + 1; the last keeps none.
std::int64_t stash_slots(const Pipeline& pipeline, int stage);

// Activations live while block `index` runs forward and backward. A vocabulary-sized product is held one serial step at
// a time.
Bytes live_activations(const ModelGraph& graph, const RunSetup& setup, std::size_t index);

// The largest activation that crosses from one stage to the next.
Bytes largest_copy(const ModelGraph& graph, const Pipeline& pipeline);

// Off-chip optimizer state that one IPU keeps in the Streaming Memory of its machine.
Bytes streamed_state(const PlacedParameters& parameters, const WorkloadSettings& settings, const RunSetup& setup);

struct BlockWork;
struct StageStep;

struct MemoryInputs {
  const ModelGraph& graph;
  const WorkloadSettings& settings;
  const RunSetup& setup;
  const Pipeline& pipeline;
  const IpuConstants& constants;
  const std::vector<std::shared_ptr<const BlockWork>>* works = nullptr;  // by block, where they are known already
  const std::vector<std::vector<StageStep>>* steps = nullptr;            // by stage, likewise
  const std::vector<PlacedParameters>* parameters = nullptr;             // by IPU of a replica, likewise
};

// Those of `inputs`, or placed now.
std::vector<PlacedParameters> parameters_of(const MemoryInputs& inputs);

// Entries per IPU of a replica. An upper bound of the simulated peak: the largest activations and the largest
// temporaries may belong to different instants.
std::vector<std::vector<MemoryAccountEntry>> account_memory(const MemoryInputs& inputs, const OperatorCostModel& costs);
// Of one IPU alone. It depends on its own blocks, on its place in the pipeline and on the number of stages only.
std::vector<MemoryAccountEntry> account_ipu(const MemoryInputs& inputs, const OperatorCostModel& costs,
                                            std::size_t ipu);

}  // namespace podsim::ipu
