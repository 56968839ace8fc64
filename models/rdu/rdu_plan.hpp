#pragma once
// What the RDU family makes of an experiment: the settings that graph, partition, schedule and memory read.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/rdu/command/compile_command.hpp"
#include "models/rdu/constants.hpp"
#include "models/rdu/operator_graph.hpp"
#include "models/rdu/partition.hpp"
#include "models/rdu/section_cost.hpp"
#include "models/rdu/serving.hpp"
#include "models/rdu/transformer_description.hpp"
#include "sim/plan/family.hpp"

namespace podsim::rdu {

// Whose time stands around the sections of a training step.
enum class HostModel : std::uint8_t {
  profiled,    // a run under SambaTune or of a tutorial: host work in series with the device
  production,  // a training loop: a short gap between steps
};
std::string_view name(HostModel model);

struct RduSetup {
  RunMode run = RunMode::training;
  OptimizationLevel level = OptimizationLevel::o3;
  ResourceFactors factors;
  std::int64_t batch = 1;  // sequences of one copy's step
  std::int64_t gradient_accumulation_steps = 1;
  std::int64_t replicas = 1;  // copies of the model, each of one process
  TensorParallel tensor_parallel = TensorParallel::none;
  std::int64_t parts = 1;           // that share a copy: RDUs, or the halves of an RDU of two dies
  std::int64_t tiles_per_part = 1;  // tiles of an RDU that a part has
  bool human_decision = false;      // a model-specific mapping file
  bool recompute = false;
  bool reduce_on_rdu = false;  // gradients of replicas; else on the hosts
  HostModel host = HostModel::production;
  double rate_factor = 1;  // of products, from options that widen types

  // Generation.
  std::int64_t input_tokens = 0;
  std::int64_t output_tokens = 0;
  std::int64_t static_length = 0;  // positions of the compiled key-value cache
  std::int64_t padded_prompt = 0;
  Orchestration orchestration = Orchestration::hardware;
  bool legacy_endpoint = false;

  bool training() const { return run == RunMode::training; }
  // Generation as a deployment of the chip with high-bandwidth memory serves it; else compiled sections.
  bool fused_generation = false;
};

// One compiled graph of a part: its operators, cut and costed.
struct CompiledGraph {
  OperatorGraph graph;
  Partition partition;
  std::vector<SectionWork> work;   // by section
  std::vector<SectionTime> times;  // by section
};

class RduPlan : public FamilyPlan {
 public:
  std::vector<ResolvedKey> resolved() const override { return resolved_keys; }
  const std::vector<ConstantId>& constants_read() const override { return constant_ids; }

  RduSetup setup;
  RduConstants constants;
  TransformerDescription model;  // of the whole model
  TransformerDescription share;  // of one part
  Allotment allotment;           // of one part
  SectionRates rates;            // of one part
  std::vector<double> slowdown;  // by replica and part
  std::vector<ResolvedKey> resolved_keys;
  std::vector<ConstantId> constant_ids;

  // The graph of a training step, of a forward pass, or of the prefill in generation.
  CompiledGraph compiled;
  // Of one generated token, without high-bandwidth memory.
  CompiledGraph token;
};

}  // namespace podsim::rdu
