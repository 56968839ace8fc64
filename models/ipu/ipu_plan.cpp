#include "models/ipu/ipu_plan.hpp"

#include <fmt/format.h>

namespace podsim::ipu {

std::string_view name(OutputMode mode) {
  switch (mode) {
    case OutputMode::all:
      return "all";
    case OutputMode::sum:
      return "sum";
    case OutputMode::final:
      break;
  }
  return "final";
}

std::vector<ResolvedKey> IpuPlan::resolved() const {
  std::vector<ResolvedKey> keys = resolved_keys;
  keys.insert(keys.end(), config_keys->begin(), config_keys->end());
  keys.insert(keys.end(), last_keys.begin(), last_keys.end());
  return keys;
}

std::vector<PlacedParameters> place_parameters(const ModelGraph& graph, const RunSetup& setup,
                                               const IpuConstants& constants) {
  std::vector<PlacedParameters> placed(static_cast<std::size_t>(setup.ipus_per_replica));
  const std::vector<int> ipus = place_blocks(graph, setup.placement);
  const std::int64_t shards = setup.shards();
  for (PlacedParameters& target : placed) target.element_bytes = element_bytes(setup.mode);
  for (std::size_t block = 0; block < graph.blocks.size(); ++block) {
    PlacedParameters& target = placed[static_cast<std::size_t>(ipus[block])];
    for (const ParameterTensor& tensor : graph.blocks[block].parameters) {
      if (tensor.tied) continue;
      const bool sharded = tensor.elements >= constants.system.sharding_minimum_elements;
      target.elements += tensor.elements;
      target.tensors += 1;
      target.sharded_elements += sharded ? (tensor.elements + shards - 1) / shards : tensor.elements;
    }
  }
  return placed;
}

Duration host_process_time(const RunSetup& setup, const WorkloadSettings& settings, const SoftwareConstants& software) {
  if (setup.instances == 0 || !software.instance_sample_time) return Duration();
  const std::int64_t replicas = setup.replication_factor / setup.instances;
  return *software.instance_sample_time * static_cast<double>(replicas * settings.micro_batch_size);
}

std::string call_factors(std::int64_t micro_batch, std::int64_t replicas, std::int64_t accumulation,
                         std::int64_t iterations) {
  return fmt::format("micro-batch {} × {} replica{} × accumulation {} × device iterations {}", micro_batch, replicas,
                     replicas == 1 ? "" : "s", accumulation, iterations);
}

std::int64_t optimizer_state_bytes(const WorkloadSettings& settings) {
  constexpr std::int64_t k_second_moment = 4;
  const std::string& optimizer = settings.optimizer;
  if (optimizer == "sgd") return 0;
  if (optimizer == "sgd-momentum" || optimizer == "lars") return settings.first_moment_bytes;
  return settings.first_moment_bytes + k_second_moment;
}

}  // namespace podsim::ipu
