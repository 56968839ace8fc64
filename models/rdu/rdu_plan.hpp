#pragma once
// What the RDU family makes of an experiment: the settings that graph, partition, schedule and memory read.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "models/rdu/command/compile_command.hpp"
#include "models/rdu/constants.hpp"
#include "models/rdu/fusion_match.hpp"
#include "models/rdu/isolated_operator.hpp"
#include "models/rdu/operator_graph.hpp"
#include "models/rdu/partition.hpp"
#include "models/rdu/section_cost.hpp"
#include "models/rdu/serving.hpp"
#include "models/rdu/transformer_description.hpp"
#include "models/rdu/unet_graph.hpp"
#include "models/rdu/written_forms.hpp"
#include "sim/plan/family.hpp"

namespace podsim::rdu {

// Whose time stands around the sections of a training step.
enum class HostModel : std::uint8_t {
  profiled,    // a run under SambaTune or of a tutorial: host work in series with the device
  production,  // a training loop: a short gap between steps
};
inline std::string_view name(HostModel model) {
  return model == HostModel::profiled ? "profiled" : "production";
}

struct RduSetup {
  RunMode run = RunMode::training;
  OptimizationLevel level = OptimizationLevel::o3;
  ResourceFactors factors;
  std::int64_t batch = 1;  // sequences of one copy's step
  std::int64_t gradient_accumulation_steps = 1;
  std::int64_t replicas = 1;  // copies of the model, each of one process
  std::int64_t copies_per_node = 1;
  TensorParallel tensor_parallel = TensorParallel::none;
  std::int64_t parts = 1;           // that share a copy: RDUs, or their halves
  std::int64_t tiles_per_part = 1;  // tiles of an RDU that a part has
  bool halves = false;              // parts are the dies of RDUs, which share the batch
  bool human_decision = false;      // a model-specific mapping file
  bool recompute = false;
  bool reduces_gradients = false;  // copies train one model; else each its own
  bool reduce_on_rdu = false;      // gradients of replicas; else on the hosts
  HostModel host = HostModel::production;
  double rate_factor = 1;         // of products, from options that widen types
  bool hypersections = false;     // equal sections are compiled once at o3
  bool placement_reused = false;  // of an earlier compile
  bool built_in_rules = true;     // of o1 fuse what no rule of the user takes

  // Generation.
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t static_length = 0;  // positions of the compiled key-value cache
  std::int64_t padded_prompt = 0;
  Orchestration orchestration = Orchestration::hardware;
  bool legacy_endpoint = false;
  std::int64_t experts = 1;           // models of this size that DDR holds; one of them runs
  bool switch_every_request = false;  // each request wants another model than the one before

  bool training() const { return run == RunMode::training; }
  // Generation as a deployment of the chip with high-bandwidth memory serves it; else compiled sections.
  bool fused_generation = false;
};

// One compiled graph of a part: its operators, cut and costed.
struct CompiledGraph {
  OperatorGraph graph;
  Partition partition;
  std::vector<RuleUse> rule_uses;  // of the fusion rules, at o1
  SharedVector<SectionWork> work;  // by section
  std::vector<SectionTime> times;  // by section
  bool traffic_hidden = false;     // off-chip bytes are taken to cost nothing, see compiled_by_hand
};

// Bytes over the ports of both memories, at the same time.
struct TierBytes {
  Bytes hbm;
  Bytes ddr;
};

// Which kinds of memory stand in high-bandwidth memory; all false on chips without it.
struct MemoryTiers {
  bool tensors_in_hbm = false;
  bool state_in_hbm = false;
  bool weights_in_hbm = false;
  bool cache_in_hbm = false;
  // What a section of a graph type moves over each port. An update goes to where its state and its gradients stand.
  TierBytes traffic(const SectionWork& work, RduPhase phase) const {
    const bool update = phase >= RduPhase::gradient_norm;
    const bool tensors = tensors_in_hbm && (!update || state_in_hbm);
    const bool weights = update ? tensors : weights_in_hbm;
    TierBytes bytes;
    (tensors ? bytes.hbm : bytes.ddr) += work.read + work.written;
    (weights ? bytes.hbm : bytes.ddr) += work.weights;
    return bytes;
  }
};

class CompiledGraphs;

class RduPlan : public FamilyPlan {
 public:
  std::vector<ResolvedKey> resolved() const override { return resolved_keys; }
  const std::vector<ConstantId>& constants_read() const override { return constant_ids; }
  std::string file_contents() const override { return contents; }

  std::int64_t parameter_count() const { return unet ? unet->parameter_count() : model.parameter_count(); }
  // Of one part.
  std::int64_t share_parameters() const { return unet ? unet->parameter_count() : share.parameter_count(); }

  RduSetup setup;
  RduConstants constants;
  TransformerDescription model;              // of the whole model
  TransformerDescription share;              // of one part
  std::optional<UnetDescription> unet;       // instead of both, of an image network: every part holds all of it
  std::optional<IsolatedOperator> isolated;  // instead of a model
  Allotment allotment;                       // of one part
  SectionRates rates;                        // of one part
  std::vector<FusionRule> fusion_rules;      // of the user, for o1
  MemoryTiers tiers;
  WrittenForms written;
  std::int64_t nodes = 1;
  std::vector<double> slowdown;  // by replica and part
  std::vector<ResolvedKey> resolved_keys;
  std::vector<ConstantId> constant_ids;
  std::string contents;  // of commands and rules in files

  std::shared_ptr<CompiledGraphs> known_graphs;  // of earlier plans; null: none are kept

  // The graph of a training step, of a forward pass, or of the prefill in generation.
  CompiledGraph compiled;
  // Of one generated token, without high-bandwidth memory.
  CompiledGraph token;
};

}  // namespace podsim::rdu
