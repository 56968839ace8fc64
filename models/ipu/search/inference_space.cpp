#include "models/ipu/search/inference_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <utility>

#include "models/ipu/placement/ipu_devices.hpp"
#include "models/ipu/search/search_settings.hpp"

namespace podsim::ipu {
namespace {

// In generation workload.batch_size decides where it is written.
std::string batch_key(const Plan& plan) {
  const bool follows = std::ranges::any_of(plan.resolved, [](const ResolvedKey& key) {
    return key.path == "workload.batch_size" && key.origin == "as workload.micro_batch_size";
  });
  return plan.settings.mode == RunMode::generation && !follows ? "workload.batch_size" : "workload.micro_batch_size";
}

std::vector<std::int64_t> powers_of_two(std::int64_t most) {
  std::vector<std::int64_t> powers;
  for (std::int64_t power = 1; power <= most; power *= 2) powers.push_back(power);
  return powers;
}

struct InferenceChoices {
  std::string batch_key;
  std::vector<std::int64_t> batches;
  std::vector<double> proportions;
  std::vector<std::int64_t> factors;
  bool own_proportions = false;  // keep the list as it is
  bool even = true;              // layers are spread evenly
};

// Of `replicas` of `ipus`.
std::vector<SearchBranch> configurations(const InferenceChoices& choices, std::int64_t ipus, std::int64_t replicas,
                                         const SearchRequest& request) {
  std::vector<SearchBranch> branches;
  for (const std::int64_t batch : choices.batches) {
    for (const double proportion : choices.proportions) {
      for (const std::int64_t factor : choices.factors) {
        SearchBranch branch;
        branch.devices = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(ipus * replicas)));
        const auto add = [&](const std::string& key, Value value) {
          if (!request.fixes(key)) branch.settings.push_back({key, std::move(value)});
        };
        add(choices.batch_key, search_value(batch));
        add("ipu.inference_ipus_per_replica", search_value(ipus));
        if (choices.even) add("ipu.inference_layers_per_ipu", search_value(std::vector<std::int64_t>{-1}));
        add("ipu.inference_replication_factor", search_value(replicas));
        if (!choices.own_proportions)
          add("ipu.inference_matmul_proportion", Value::floating(proportion, {"search", 0, 0}));
        if (choices.factors.size() > 1) add("ipu.inference_embedding_serialization_factor", search_value(factor));
        branches.push_back(std::move(branch));
      }
    }
  }
  return branches;
}

}  // namespace

SearchSpace inference_space(const std::shared_ptr<const Plan>& plan, const SearchRequest& request) {
  const auto& ipu_plan = dynamic_cast<const IpuPlan&>(*plan->family_plan);
  const RunSetup& own = ipu_plan.setup;
  const SystemConstants& system = ipu_plan.constants.system;
  const bool splits = !ipu_plan.written.embedding_splits.empty() || !ipu_plan.written.projection_splits.empty();
  const bool fixed_layers = request.fixes("ipu.inference_layers_per_ipu") || splits;
  const std::int64_t most = std::min<std::int64_t>(system.ipus_per_pod, plan->graph.layers);
  std::vector<std::int64_t> sizes =
      fixed_layers ? std::vector{own.ipus_per_replica}
                   : request.values("ipu.inference_ipus_per_replica", powers_of_two(most), own.ipus_per_replica);
  InferenceChoices choices;
  choices.batch_key = batch_key(*plan);
  const std::int64_t batch = plan->settings.micro_batch_size;
  choices.batches = powers_of_two(std::max<std::int64_t>(64, 4 * batch));
  if (std::ranges::count(choices.batches, batch) == 0) choices.batches.push_back(batch);
  std::ranges::sort(choices.batches);
  choices.batches = request.values(choices.batch_key, choices.batches, batch);
  choices.own_proportions = request.fixes("ipu.inference_matmul_proportion");
  choices.proportions = choices.own_proportions ? std::vector{own.matmul_proportion.front()}
                                                : std::vector{0.1, 0.2, 0.3, 0.4, 0.6, 0.8, 1.0};
  choices.factors = splits || request.fixes("ipu.inference_embedding_serialization_factor")
                        ? std::vector{own.embedding_serialization_factor}
                        : offered_factors(*plan, ipu_plan, request);
  choices.even = !fixed_layers;
  SearchSpace space;
  for (const std::int64_t ipus : sizes) {
    std::vector<std::int64_t> counts = powers_of_two(system.ipus * plan->nodes / ipus);
    counts = request.values("ipu.inference_replication_factor", counts, own.replication_factor);
    for (const std::int64_t replicas : counts) {
      if (!can_reserve(system, plan->nodes, ipus, replicas, 0)) continue;
      SearchBranch branch;
      branch.devices = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(ipus * replicas)));
      branch.configurations =
          static_cast<std::int64_t>(choices.batches.size() * choices.proportions.size() * choices.factors.size());
      branch.open = [choices, ipus, replicas, request] { return configurations(choices, ipus, replicas, request); };
      space.branches.push_back(std::move(branch));
    }
  }
  const auto tell = [&](const std::string& key, std::string values) {
    space.dimensions.push_back({key, request.fixes(key) ? "" : std::move(values)});
  };
  tell("ipu.inference_ipus_per_replica", ranges_text(sizes));
  tell("ipu.inference_replication_factor", "powers of two that the system can run");
  tell(choices.batch_key, ranges_text(choices.batches));
  if (choices.even) tell("ipu.inference_layers_per_ipu", "spread evenly");
  tell("ipu.inference_matmul_proportion", fmt::format("{}", fmt::join(choices.proportions, ", ")));
  if (choices.factors.size() > 1) tell("ipu.inference_embedding_serialization_factor", ranges_text(choices.factors));
  return space;
}

}  // namespace podsim::ipu
