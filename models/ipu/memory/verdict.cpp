#include "models/ipu/memory/verdict.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "models/ipu/cost/estimate.hpp"
#include "models/ipu/lowering/shared_parts.hpp"
#include "sim/units/text.hpp"

namespace podsim::ipu {
namespace {

BrokenLimit broken(const std::string& device, const char* limit, Bytes need, Bytes have) {
  return {device, limit, static_cast<double>(need.count()), static_cast<double>(have.count()), "byte", ""};
}

void judge_tiles(const DeviceMemoryAccount& memory, Verdict& verdict) {
  Bytes code;
  Bytes exchanged;
  for (const MemoryAccountEntry& entry : memory.entries) {
    if (is_code(entry.category)) code += entry.bytes;
    if (entry.category == k_temporaries) exchanged = entry.bytes;
  }
  verdict.broken.push_back(broken(memory.device, "tile memory", memory.total(), memory.limit));
  if (code > memory.limit) {
    verdict.broken.push_back(broken(memory.device, "tile memory for code", code, memory.limit));
  }
  if (exchanged > memory.capacity) {
    verdict.broken.push_back(broken(memory.device, "tile memory for an exchange", exchanged, memory.capacity));
  }
}

// The results of a micro-batch are one stream; inputs are split into shorter ones.
void judge_streams(const MemoryInputs& inputs, Verdict& verdict) {
  const RunSetup& setup = inputs.setup;
  const Bytes have = inputs.constants.memory.host_stream;
  if (setup.training() || setup.inference.results <= have) return;
  for (std::int64_t replica = 0; replica < setup.replication_factor; ++replica) {
    const std::int64_t ipu = replica * setup.ipus_per_replica + inputs.pipeline.forward().back().ipu;
    verdict.broken.push_back(broken(fmt::format("ipu{}", ipu), "host stream", setup.inference.results, have));
  }
}

// The same questions as to account_all, asked before anything has a name: most plans fit.
bool every_memory_suffices(const MemoryInputs& inputs,
                           const std::vector<std::vector<MemoryAccountEntry>>& by_position) {
  const RunSetup& setup = inputs.setup;
  const Bytes usable = usable_memory(inputs.constants);
  for (const std::vector<MemoryAccountEntry>& entries : by_position) {
    Bytes total;
    for (const MemoryAccountEntry& entry : entries) total += entry.bytes;
    if (total > usable) return false;
  }
  if (!setup.optimizer_state_offchip) return true;
  const std::vector<PlacedParameters> parameters = parameters_of(inputs);
  const std::int64_t per_machine = inputs.constants.system.ipus_per_machine;
  const std::int64_t ipus = setup.replication_factor * setup.ipus_per_replica;
  Bytes streamed;  // by the machine that is being gone through
  for (std::int64_t ipu = 0; ipu < ipus; ++ipu) {
    if (ipu % per_machine == 0) streamed = Bytes();
    const PlacedParameters& placed = parameters[static_cast<std::size_t>(ipu % setup.ipus_per_replica)];
    streamed += streamed_state(placed, inputs.settings, setup);
    if (streamed > inputs.constants.system.links.streaming_memory) return false;
  }
  return true;
}

MemoryInputs inputs_of(const Plan& plan, const IpuPlan& ipu_plan, const PreparedPlan& prepared) {
  const StagedWork& staged = *prepared.staged;
  return {plan.graph,         plan.settings, ipu_plan.setup, staged.pipeline,
          ipu_plan.constants, &staged.works, &staged.steps,  &prepared.parameters};
}

// The limit is fitted: published placements are judged alike by any from 0.875 to 0.965, five percent either way.
std::vector<std::string> close_call(const Plan& plan, const IpuPlan& ipu_plan) {
  constexpr double k_margin = 0.05;
  const MemoryAccount account = account_plan(plan, ipu_plan);
  const DeviceMemoryAccount* fullest = nullptr;
  double most = 0;
  for (const DeviceMemoryAccount& memory : account.memories) {
    const double fill = static_cast<double>(memory.total().count()) / static_cast<double>(memory.limit.count());
    if (!memory.memory.ends_with(".sram") || fill <= most) continue;
    most = fill;
    fullest = &memory;
  }
  if (fullest == nullptr || std::abs(most - 1) > k_margin) return {};
  return {
      fmt::format("close call: {} is at {:.1f} % of its limit; within 5 % of it the verdict may be wrong either way",
                  fullest->memory, 100 * most)};
}

bool short_update_of_trainer(const Plan& plan, const IpuPlan& ipu_plan) {
  constexpr double k_short_s = 2;
  if (!ipu_plan.setup.training() || plan.software != "poplar-pytorch") return false;
  const Pipeline pipeline = make_pipeline(plan.graph, ipu_plan.setup.placement);
  const MemoryInputs inputs{plan.graph, plan.settings, ipu_plan.setup, pipeline, ipu_plan.constants};
  return estimate_step(inputs, *ipu_plan.costs).total().duration().in_base() < k_short_s;
}

}  // namespace

MemoryAccount account_all(const MemoryInputs& inputs, const OperatorCostModel& costs) {
  return account_all(inputs, account_memory(inputs, costs));
}

MemoryAccount account_all(const MemoryInputs& inputs, const std::vector<std::vector<MemoryAccountEntry>>& by_position) {
  const RunSetup& setup = inputs.setup;
  const IpuConstants& constants = inputs.constants;
  const std::vector<PlacedParameters> parameters = parameters_of(inputs);
  const std::vector<SharedVector<MemoryAccountEntry>> entries(by_position.begin(), by_position.end());

  MemoryAccount account;
  std::vector<Bytes> streamed;  // by machine
  const std::int64_t ipus = setup.replication_factor * setup.ipus_per_replica;
  for (std::int64_t ipu = 0; ipu < ipus; ++ipu) {
    const auto position = static_cast<std::size_t>(ipu % setup.ipus_per_replica);
    const std::string name = fmt::format("ipu{}", ipu);
    account.memories.push_back({name + ".sram", name, constants.chip.tile_memory * constants.chip.tiles,
                                usable_memory(constants), entries[position]});
    const auto machine = static_cast<std::size_t>(ipu / constants.system.ipus_per_machine);
    streamed.resize(std::max(streamed.size(), machine + 1));
    streamed[machine] += streamed_state(parameters[position], inputs.settings, setup);
  }
  for (std::size_t machine = 0; machine < streamed.size(); ++machine) {
    if (streamed[machine] == Bytes()) continue;
    const std::string name = fmt::format("machine{}", machine);
    const Bytes capacity = constants.system.links.streaming_memory;
    account.memories.push_back({name + ".streaming_memory",
                                name,
                                capacity,
                                capacity,
                                {MemoryAccountEntry{k_remote_state, streamed[machine], true}}});
  }
  return account;
}

MemoryAccount account_plan(const Plan& plan, const IpuPlan& ipu_plan) {
  const PreparedPlan& prepared = ipu_plan.parts->prepared(plan, ipu_plan);
  return account_all(inputs_of(plan, ipu_plan, prepared), prepared.account);
}

Verdict judge(const MemoryInputs& inputs, const OperatorCostModel& costs) {
  return judge(inputs, account_memory(inputs, costs));
}

Verdict judge(const MemoryInputs& inputs, const std::vector<std::vector<MemoryAccountEntry>>& by_position) {
  Verdict verdict;
  judge_streams(inputs, verdict);
  if (every_memory_suffices(inputs, by_position)) return verdict;
  verdict.broken.clear();
  for (const DeviceMemoryAccount& memory : account_all(inputs, by_position).memories) {
    if (memory.total() <= memory.limit) continue;
    if (memory.memory.ends_with(".sram")) {
      judge_tiles(memory, verdict);
    } else {
      verdict.broken.push_back(broken(memory.device, "Streaming Memory", memory.total(), memory.limit));
    }
  }
  judge_streams(inputs, verdict);
  return verdict;
}

Verdict judge_plan(const Plan& plan, const IpuPlan& ipu_plan) {
  const PreparedPlan& prepared = ipu_plan.parts->prepared(plan, ipu_plan);
  return judge(inputs_of(plan, ipu_plan, prepared), prepared.account);
}

std::vector<std::string> notes_on(const Plan& plan, const IpuPlan& ipu_plan) {
  std::vector<std::string> notes = close_call(plan, ipu_plan);
  const RunSetup& setup = ipu_plan.setup;
  Bytes most;
  if (setup.optimizer_state_offchip) {
    for (const PlacedParameters& placed : place_parameters(plan.graph, setup, ipu_plan.constants)) {
      most = std::max(most, streamed_state(placed, plan.settings, setup));
    }
  }
  const Bytes share = ipu_plan.constants.system.links.streaming_memory_per_ipu;
  if (most > share) {
    notes.push_back(fmt::format(
        "Streaming Memory: an IPU keeps {} there, more than the {} it gets unless it asks for more; that mode is "
        "slower, by how much is not published and not in the time given here",
        format_bytes(most), format_bytes(share)));
  }
  if (setup.auto_loss_scaling) {
    notes.emplace_back(
        "ipu.auto_loss_scaling: experimental, says PopART; its memory here is assumed from published settings, its "
        "time "
        "estimated from PopLibs; no run with it was published with a rate");
  }
  if (short_update_of_trainer(plan, ipu_plan)) {
    notes.push_back(fmt::format(
        "the trainer's own time per update is not included: published averages of whole trainer runs ({}) reached {} "
        "to {} % of the rate predicted for them",
        fmt::join(k_trainer_averages, ", "), k_lowest_trainer_pct, k_highest_trainer_pct));
  }
  return notes;
}

}  // namespace podsim::ipu
