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
  RunSetup setup;
  WorkloadSettings settings;
};

struct Change {
  std::string text;
  std::function<void(Candidate&)> apply;
};

// Changes worth trying, alone or two at a time; those that help are compared by estimated throughput afterwards.
class Changes {
 public:
  Changes(const Plan& plan, const IpuPlan& ipu_plan) : plan_(plan), setup_(ipu_plan.setup), ipu_plan_(ipu_plan) {}

  std::vector<Change> all() {
    if (setup_.training()) add_training_changes();
    add_proportions();
    add_serialization();
    const std::int64_t size = plan_.settings.micro_batch_size;
    for (std::int64_t smaller = size - 1; smaller >= 1; smaller = size <= 16 ? smaller - 1 : smaller * 3 / 4) {
      add(fmt::format("workload.micro_batch_size = {}", smaller),
          [smaller](Candidate& c) { c.settings.micro_batch_size = smaller; });
    }
    return std::move(changes_);
  }

 private:
  void add_training_changes() {
    const bool streaming = ipu_plan_.constants.system.has_streaming_memory;
    if (streaming && !setup_.optimizer_state_offchip && optimizer_state_bytes(plan_.settings) > 0) {
      add("ipu.optimizer_state_offchip = true", [](Candidate& c) { c.setup.optimizer_state_offchip = true; });
    }
    if (!setup_.replicated_tensor_sharding && setup_.replication_factor > 1) {
      add("ipu.replicated_tensor_sharding = true", [](Candidate& c) { c.setup.replicated_tensor_sharding = true; });
    }
    if (setup_.recompute_checkpoint_every_layer) {
      add("ipu.recompute_checkpoint_every_layer = false",
          [](Candidate& c) { c.setup.recompute_checkpoint_every_layer = false; });
    }
    if (!plan_.settings.recompute) {
      add("workload.recompute = true", [](Candidate& c) { c.settings.recompute = true; });
    }
  }

  const char* prefix() const { return setup_.training() ? "" : "inference_"; }

  void add(std::string text, std::function<void(Candidate&)> apply) {
    changes_.push_back({std::move(text), std::move(apply)});
  }

  void add_proportions() {
    const std::vector<double>& now = setup_.matmul_proportion;
    for (const double proportion : {0.4, 0.2, 0.1, 0.05}) {
      if (*std::max_element(now.begin(), now.end()) <= proportion) continue;
      add(fmt::format("ipu.{}matmul_proportion = {}", prefix(), proportion), [proportion](Candidate& c) {
        for (double& value : c.setup.matmul_proportion) value = std::min(value, proportion);
      });
    }
  }

  void add_serialization() {
    const bool pads = plan_.model_kind->type() == "gpt2";  // its vocabulary need not divide
    for (std::int64_t factor = setup_.embedding_serialization_factor + 1; factor <= 8; ++factor) {
      if (!pads && plan_.graph.vocabulary % factor != 0) continue;
      add(fmt::format("ipu.{}embedding_serialization_factor = {}", prefix(), factor),
          [factor](Candidate& c) { c.setup.embedding_serialization_factor = factor; });
    }
  }

  const Plan& plan_;
  const RunSetup& setup_;
  const IpuPlan& ipu_plan_;
  std::vector<Change> changes_;
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

namespace {

// The best of the candidates that were tried so far.
class Trial {
 public:
  Trial(const Plan& plan, const IpuPlan& ipu_plan)
      : plan_(plan), ipu_plan_(ipu_plan), pipeline_(make_pipeline(plan.graph, ipu_plan.setup.placement)) {}

  void test(const std::string& text, const Candidate& candidate) {
    const bool rebuild = candidate.settings.micro_batch_size != plan_.settings.micro_batch_size;
    const ModelGraph rebuilt = rebuild ? plan_.model_kind->build(plan_.shape, candidate.settings) : ModelGraph();
    const ModelGraph& graph = rebuild ? rebuilt : plan_.graph;
    RunSetup setup = candidate.setup;
    setup.inference.results = result_bytes(graph, plan_.shape, candidate.settings);
    const MemoryInputs inputs{graph, candidate.settings, setup, pipeline_, ipu_plan_.constants};
    if (fullest(account_memory(inputs, *ipu_plan_.costs)) > usable_memory(ipu_plan_.constants)) return;
    const double time = time_of(inputs, *ipu_plan_.costs);
    const double rate = static_cast<double>(candidate.settings.micro_batch_size) / time;
    if (rate <= rate_) return;
    text_ = text;
    rate_ = rate;
  }
  const std::string& best() const { return text_; }

 private:
  const Plan& plan_;
  const IpuPlan& ipu_plan_;
  Pipeline pipeline_;
  std::string text_;
  double rate_ = 0;
};

std::string find_remedy(const Plan& plan, const IpuPlan& ipu_plan) {
  const std::vector<Change> changes = Changes(plan, ipu_plan).all();
  Trial trial(plan, ipu_plan);
  for (const Change& change : changes) {
    Candidate candidate{ipu_plan.setup, plan.settings};
    change.apply(candidate);
    trial.test(change.text, candidate);
  }
  // Pairs only where no single change helps; big models have none that does, and each trial costs them most.
  constexpr std::size_t k_blocks_of_big_models = 400;
  if (!trial.best().empty() || plan.graph.blocks.size() > k_blocks_of_big_models) return trial.best();
  for (std::size_t first = 0; first < changes.size(); ++first) {
    for (std::size_t second = first + 1; second < changes.size(); ++second) {
      Candidate candidate{ipu_plan.setup, plan.settings};
      changes[first].apply(candidate);
      changes[second].apply(candidate);
      trial.test(changes[first].text + " and " + changes[second].text, candidate);
    }
  }
  return trial.best();
}

}  // namespace

void add_remedies(const Plan& plan, const IpuPlan& ipu_plan, Verdict& verdict) {
  const auto tiles = [](const BrokenLimit& broken) { return broken.limit == "tile memory"; };
  if (std::none_of(verdict.broken.begin(), verdict.broken.end(), tiles)) return;
  std::string remedy = find_remedy(plan, ipu_plan);
  if (remedy.empty()) remedy = "more IPUs per replica: no one or two changes of the other keys make it fit";
  for (BrokenLimit& broken : verdict.broken) {
    if (tiles(broken)) broken.remedy = remedy;
  }
}

}  // namespace podsim::ipu
