#include "models/ipu/remedies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>

#include "models/ipu/estimate.hpp"
#include "models/ipu/estimate_inference.hpp"
#include "models/ipu/memory.hpp"
#include "models/workloads/results.hpp"

namespace podsim::ipu {
namespace {

struct Candidate {
  std::string text;
  RunSetup setup;
  WorkloadSettings settings;
};

// Changes worth trying, each alone; they are compared by estimated throughput afterwards.
class Candidates {
 public:
  Candidates(const Plan& plan, const IpuPlan& ipu_plan) : plan_(plan), ipu_plan_(ipu_plan) {}

  std::vector<Candidate> all() {
    if (ipu_plan_.setup.training()) add_training_changes();
    add_proportions();
    add_serialization();
    for (std::int64_t size = plan_.settings.micro_batch_size / 2; size >= 1; size /= 2) {
      add(fmt::format("workload.micro_batch_size = {}", size),
          [&](Candidate& c) { c.settings.micro_batch_size = size; });
    }
    return std::move(candidates_);
  }

 private:
  void add_training_changes() {
    const RunSetup& setup = ipu_plan_.setup;
    const bool streaming = ipu_plan_.constants.system.has_streaming_memory;
    if (streaming && !setup.optimizer_state_offchip && optimizer_state_bytes(plan_.settings) > 0) {
      add("ipu.optimizer_state_offchip = true", [](Candidate& c) { c.setup.optimizer_state_offchip = true; });
    }
    if (!setup.replicated_tensor_sharding && setup.replication_factor > 1) {
      add("ipu.replicated_tensor_sharding = true", [](Candidate& c) { c.setup.replicated_tensor_sharding = true; });
    }
    if (setup.recompute_checkpoint_every_layer) {
      add("ipu.recompute_checkpoint_every_layer = false",
          [](Candidate& c) { c.setup.recompute_checkpoint_every_layer = false; });
    }
    if (!plan_.settings.recompute) {
      add("workload.recompute = true", [](Candidate& c) { c.settings.recompute = true; });
    }
  }

  const char* prefix() const { return ipu_plan_.setup.training() ? "" : "inference_"; }

  void add(std::string text, const std::function<void(Candidate&)>& change) {
    Candidate candidate{std::move(text), ipu_plan_.setup, plan_.settings};
    change(candidate);
    candidates_.push_back(std::move(candidate));
  }

  void add_proportions() {
    const std::vector<double>& now = ipu_plan_.setup.matmul_proportion;
    for (const double proportion : {0.4, 0.2, 0.1, 0.05}) {
      if (*std::max_element(now.begin(), now.end()) <= proportion) continue;
      add(fmt::format("ipu.{}matmul_proportion = {}", prefix(), proportion), [&](Candidate& c) {
        for (double& value : c.setup.matmul_proportion) value = std::min(value, proportion);
      });
    }
  }

  void add_serialization() {
    for (std::int64_t factor = ipu_plan_.setup.embedding_serialization_factor + 1; factor <= 8; ++factor) {
      if (plan_.graph.vocabulary % factor != 0) continue;
      add(fmt::format("ipu.{}embedding_serialization_factor = {}", prefix(), factor),
          [&](Candidate& c) { c.setup.embedding_serialization_factor = factor; });
    }
  }

  const Plan& plan_;
  const IpuPlan& ipu_plan_;
  std::vector<Candidate> candidates_;
};

Bytes fullest(const std::vector<std::vector<MemoryAccountEntry>>& account) {
  Bytes most;
  for (const std::vector<MemoryAccountEntry>& entries : account) {
    Bytes sum;
    for (const MemoryAccountEntry& entry : entries) sum += entry.bytes;
    most = std::max(most, sum);
  }
  return most;
}

double time_of(const MemoryInputs& inputs, const OperatorCostModel& costs) {
  const SimTime time = inputs.setup.training() ? estimate_step(inputs, costs).total()
                                               : estimate_call(inputs, costs, inputs.setup.inference.sharded).call;
  return time.duration().in_base();
}

}  // namespace

MemoryAccount account_plan(const Plan& plan, const IpuPlan& ipu_plan) {
  const RunSetup& setup = ipu_plan.setup;
  const IpuConstants& constants = ipu_plan.constants;
  const Pipeline pipeline = make_pipeline(plan.graph, setup.placement);
  const OperatorCostModel& costs = *ipu_plan.costs;
  const MemoryInputs inputs{plan.graph, plan.settings, setup, pipeline, constants};
  const std::vector<std::vector<MemoryAccountEntry>> by_position = account_memory(inputs, costs);
  const std::vector<PlacedParameters> parameters = place_parameters(plan.graph, setup, constants);

  MemoryAccount account;
  std::vector<Bytes> streamed;  // by machine
  const std::int64_t ipus = setup.replication_factor * setup.ipus_per_replica;
  for (std::int64_t ipu = 0; ipu < ipus; ++ipu) {
    const auto position = static_cast<std::size_t>(ipu % setup.ipus_per_replica);
    const std::string name = fmt::format("ipu{}", ipu);
    account.memories.push_back({name + ".sram", name, constants.chip.tile_memory * constants.chip.tiles,
                                usable_memory(constants), by_position[position]});
    const auto machine = static_cast<std::size_t>(ipu / constants.system.ipus_per_machine);
    streamed.resize(std::max(streamed.size(), machine + 1));
    streamed[machine] += streamed_state(parameters[position], plan.settings, setup);
  }
  for (std::size_t machine = 0; machine < streamed.size(); ++machine) {
    if (streamed[machine] == Bytes()) continue;
    const std::string name = fmt::format("machine{}", machine);
    const Bytes capacity = constants.system.links.streaming_memory;
    account.memories.push_back(
        {name + ".streaming_memory", name, capacity, capacity, {{k_optimizer_state, streamed[machine], true}}});
  }
  return account;
}

Verdict judge(const MemoryAccount& account) {
  Verdict verdict;
  for (const DeviceMemoryAccount& memory : account.memories) {
    if (memory.total() <= memory.limit) continue;
    const bool tiles = memory.memory.ends_with(".sram");
    verdict.broken.push_back({memory.device, tiles ? "tile memory" : "Streaming Memory",
                              static_cast<double>(memory.total().count()), static_cast<double>(memory.limit.count()),
                              "byte", ""});
  }
  return verdict;
}

void add_remedies(const Plan& plan, const IpuPlan& ipu_plan, Verdict& verdict) {
  const OperatorCostModel& costs = *ipu_plan.costs;
  const Pipeline pipeline = make_pipeline(plan.graph, ipu_plan.setup.placement);
  std::string best;
  double best_rate = 0;
  for (const Candidate& candidate : Candidates(plan, ipu_plan).all()) {
    const bool rebuild = candidate.settings.micro_batch_size != plan.settings.micro_batch_size;
    const ModelGraph graph = rebuild ? plan.model_kind->build(plan.shape, candidate.settings) : plan.graph;
    RunSetup setup = candidate.setup;
    setup.inference.results = result_bytes(graph, plan.shape, candidate.settings);
    const MemoryInputs inputs{graph, candidate.settings, setup, pipeline, ipu_plan.constants};
    if (fullest(account_memory(inputs, costs)) > usable_memory(ipu_plan.constants)) continue;
    const double time = time_of(inputs, costs);
    const double rate = static_cast<double>(candidate.settings.micro_batch_size) / time;
    if (rate <= best_rate) continue;
    best = candidate.text;
    best_rate = rate;
  }
  for (BrokenLimit& broken : verdict.broken) {
    if (broken.limit == "tile memory") broken.remedy = best;
  }
}

}  // namespace podsim::ipu
