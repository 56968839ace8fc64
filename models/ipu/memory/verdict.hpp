#pragma once
// Whether a plan fits: tile memory of every IPU, Streaming Memory of every machine, the length of host streams.
// Poplar has three messages for tile memory, and a limit stands for each: variables and code together ("tile memory");
// beside it, where that is so, code alone ("tile memory for code") and an operation that receives more than all tiles
// have ("tile memory for an exchange"); docs.graphcore.ai, Memory and Performance Optimisation, chapter 6.

#include <array>
#include <string>
#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/memory/memory.hpp"
#include "sim/plan/plan.hpp"
#include "sim/plan/verdict.hpp"

namespace podsim::ipu {

// Averages over whole trainer runs among the published measurements, and what they reach of the rate predicted for
// them, rounded outwards. A test holds these to configs/references/ipu-throughput.csv.
inline constexpr std::array<const char*, 5> k_trainer_averages = {
    "hf-gpt2-wikitext103", "hf-bert-base-phase2", "og-gpt2-wikitext2", "og-roberta-base-wikitext2", "og-bert-base-ner"};
inline constexpr int k_lowest_trainer_pct = 18;
inline constexpr int k_highest_trainer_pct = 99;

// Every IPU in use and, when optimizer state is off-chip, the Streaming Memory of every machine.
MemoryAccount account_all(const MemoryInputs& inputs, const std::vector<std::vector<MemoryAccountEntry>>& by_position);
MemoryAccount account_all(const MemoryInputs& inputs, const OperatorCostModel& costs);
MemoryAccount account_plan(const Plan& plan, const IpuPlan& ipu_plan);

// `by_position`: the account of each IPU of a replica.
Verdict judge(const MemoryInputs& inputs, const std::vector<std::vector<MemoryAccountEntry>>& by_position);
Verdict judge(const MemoryInputs& inputs, const OperatorCostModel& costs);
Verdict judge_plan(const Plan& plan, const IpuPlan& ipu_plan);

// A verdict so near to the limit that it may be wrong, a trainer's own time, more state in Streaming Memory than an IPU
// gets by default, what is experimental.
std::vector<std::string> notes_on(const Plan& plan, const IpuPlan& ipu_plan);

}  // namespace podsim::ipu
