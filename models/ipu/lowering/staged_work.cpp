#include "models/ipu/lowering/staged_work.hpp"

#include <algorithm>

namespace podsim::ipu {
namespace {

// A chain in the making.
struct Progress {
  const StageStep* first = nullptr;
  const StageStep* last = nullptr;
  Bytes live;
};

// The most is live in the step's most demanding op. What takes no time releases at once what it holds, and is not
// seen.
void extend(WorkChain& chain, Progress& progress, const BlockWorks& works, const StageStep& step) {
  const BlockWork& work = *works[step.block];
  const std::size_t ops = work.phase(step.phase).size();
  if (ops == 0) return;
  const PhaseSum& sum = work.sum(step.phase);
  if (chain.ops == 0) progress.first = &step;
  progress.last = &step;
  chain.ops += ops;
  progress.live += step.takes;
  const bool more = progress.live + sum.largest > chain.most_activations + chain.most_temporary;
  if (more && sum.time > SimTime()) {
    chain.most_activations = progress.live;
    chain.most_temporary = sum.largest;
    chain.most_at = chain.time + sum.largest_at;
  }
  chain.cost += sum.cost;
  chain.time += sum.time;
  progress.live -= step.frees;
}

std::string label_of(const WorkChain& chain, const Progress& progress, const BlockWorks& works) {
  if (chain.ops == 0) return {};
  const std::string& begin = works[progress.first->block]->phase(progress.first->phase).front().label;
  if (chain.ops == 1) return begin;
  return begin + " … " + works[progress.last->block]->phase(progress.last->phase).back().label + " (" +
         std::to_string(chain.ops) + " ops)";
}

}  // namespace

WorkChain make_chain(const StagedWork& staged, std::uint64_t working) {
  WorkChain chain;
  chain.working = working;
  Progress progress;
  for (std::size_t stage = 0; stage < staged.steps.size(); ++stage) {
    if (((working >> stage) & 1) == 0) continue;
    for (const StageStep& step : staged.steps[stage]) extend(chain, progress, staged.works, step);
  }
  chain.label = label_of(chain, progress, staged.works);
  return chain;
}

void add_chains(StagedWork& staged) {
  const int stages = staged.pipeline.training_stages();
  staged.chains.assign(static_cast<std::size_t>(staged.pipeline.ipus()), {});
  if (stages > k_most_chained_stages) return;
  std::vector<std::uint64_t> own(staged.chains.size());  // stages of each IPU
  for (int stage = 0; stage < stages; ++stage) {
    const ForwardStage& forward =
        staged.pipeline.forward()[static_cast<std::size_t>(staged.pipeline.forward_of(stage))];
    own[static_cast<std::size_t>(forward.ipu)] |= std::uint64_t{1} << stage;
  }
  const auto note = [&](std::uint64_t active) {
    for (std::size_t ipu = 0; ipu < own.size(); ++ipu) {
      std::vector<WorkChain>& chains = staged.chains[ipu];
      const std::uint64_t working = own[ipu] & active;
      const bool known = std::ranges::any_of(chains, [&](const WorkChain& c) { return c.working == working; });
      if (!known) chains.push_back(make_chain(staged, working));
    }
  };
  std::uint64_t filling = 0;
  for (int stage = 0; stage < stages; ++stage) {
    filling |= std::uint64_t{1} << stage;
    note(filling);
  }
  for (int stage = 0; stage + 1 < stages; ++stage) {
    filling &= ~(std::uint64_t{1} << stage);
    note(filling);
  }
}

FlopCount recompute_flop(const MemoryInputs& inputs) {
  FlopCount total;
  if (!inputs.settings.recompute) return total;
  if (inputs.setup.recomputes_in_segments()) return inputs.graph.forward_flop();
  const Pipeline& pipeline = inputs.pipeline;
  for (int stage = 0; stage + 1 < pipeline.forward_stages(); ++stage) {
    for (const std::size_t block : pipeline.forward()[static_cast<std::size_t>(stage)].blocks) {
      for (const Operator& op : inputs.graph.blocks[block].forward) total += op.flop_count();
    }
  }
  return total;
}

}  // namespace podsim::ipu
