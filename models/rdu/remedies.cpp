#include "models/rdu/remedies.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "models/rdu/compile_graphs.hpp"
#include "models/rdu/lowering_generation.hpp"
#include "models/rdu/memory.hpp"
#include "models/rdu/node.hpp"
#include "models/rdu/serving.hpp"
#include "models/rdu/step_time.hpp"
#include "sim/plan/remedy_search.hpp"

namespace podsim::rdu {
namespace {

struct Candidate {
  RduSetup setup;
  TransformerDescription share;
};
using Change = PlanChange<Candidate>;

double number(std::int64_t count) {
  return static_cast<double>(count);
}

// ---- what a candidate is worth

RduPlan compiled(const RduPlan& plan, const Candidate& candidate, const WorkloadSettings& settings) {
  RduPlan other = plan;
  other.setup = candidate.setup;
  other.share = candidate.share;
  other.compiled = {};
  other.token = {};
  fill_rates(other);
  compile_graphs(other, settings);
  return other;
}

// Of partial sums among the RDUs of a copy, along the sections of a pass.
Duration reductions(const RduPlan& plan) {
  const std::int64_t parts = plan.setup.parts;
  if (plan.setup.tensor_parallel != TensorParallel::weight || parts == 1) return Duration();
  Bytes bytes;
  for (const RduOperator& op : plan.compiled.graph.operators) bytes += op.partial_sum;
  const double exposed = plan.constants.system.exposed_reduction;
  const double sent = 2 * number(parts - 1) / number(parts) * exposed * number(plan.setup.gradient_accumulation_steps);
  return bytes.size() * sent / plan.constants.chip.peer_link;
}

// A request of generation with a section per layer: products of the prompts, then weights and cache for each token.
Duration fused_time(const RduPlan& plan, const WorkloadSettings& settings) {
  const RduSetup& setup = plan.setup;
  const double parts = number(setup.parts);
  const double weights = expert_weights(plan).size().in_base();  // bf16: as many bytes as FLOP for a token
  DataSize read = data_bytes(weights / parts);
  for (const MemoryAccountEntry& entry : resident_entries(plan, settings)) {
    if (entry.category == k_key_value_cache) read += entry.bytes.size();
  }
  const FlopCount prompt = flop(weights / parts * number(setup.padded_prompt));
  const Duration prefill = prompt / (plan.rates.peak * plan.rates.efficiency);
  return prefill * number(setup.batch) + read / plan.rates.memory * number(setup.output_tokens);
}

// An estimate without events, to order what fits.
Duration time_of(const RduPlan& plan, const WorkloadSettings& settings) {
  const RduSetup& setup = plan.setup;
  if (setup.fused_generation) return fused_time(plan, settings);
  Duration time = section_sums(plan).total + reductions(plan);
  if (setup.training()) time += host_time(plan);
  for (const SectionTime& section : plan.token.times) time += section.total * number(setup.output_tokens);
  return time;
}

// Samples per second of a tile in use; 0 when it does not fit.
double rate_of(const RduPlan& plan, const Candidate& candidate, const WorkloadSettings& settings) {
  try {
    const RduPlan other = compiled(plan, candidate, settings);
    if (!judge(other, account_memory(other, settings)).fits()) return 0;
    const RduSetup& setup = other.setup;
    const double tiles = number(setup.parts * setup.tiles_per_part);
    return number(setup.batch * setup.gradient_accumulation_steps) / (time_of(other, settings).in_base() * tiles);
  } catch (const std::range_error&) {
    return 0;  // beyond 64-bit counts
  }
}

// ---- what is tried

class Changes {
 public:
  Changes(const RduPlan& plan, const RemedyWording& wording) : plan_(plan), setup_(plan.setup), wording_(wording) {}

  std::vector<Change> all() {
    add_recomputation();
    add_resources();
    add_experts();
    add_cache();
    add_batches();
    add_shared_weights();
    return std::move(changes_);
  }

 private:
  void add(const char* subject, std::string text, std::function<void(Candidate&)> apply) {
    changes_.push_back({std::move(text), std::move(apply), subject});
  }

  bool transformer() const { return plan_.model.layers > 0; }

  void add_recomputation() {
    if (!setup_.training() || setup_.recompute || !transformer()) return;
    add("recompute", "workload.recompute = true", [](Candidate& c) { c.setup.recompute = true; });
  }

  void add_resources() {
    const ResourceFactors& now = setup_.factors;
    if (std::min({now.forward, now.backward, now.gradient_norm, now.optimizer}) >= 1) return;
    add("resources", plan_.written.flags({{"resources-scaling-factors", "1 1 1"}}),
        [](Candidate& c) { c.setup.factors = ResourceFactors(); });
  }

  void add_experts() {
    if (setup_.experts == 1) return;
    const ExpertCapacity room = expert_capacity(expert_weights(plan_), setup_.parts, plan_.constants.chip);
    // The memory of a part also holds what runs; so what its capacity promises may be one too many.
    for (std::int64_t most = std::min(setup_.experts, room.in_ddr); most >= std::max<std::int64_t>(1, room.in_ddr - 1);
         --most) {
      add("experts", fmt::format("rdu.experts = {}", most), [most](Candidate& c) { c.setup.experts = most; });
    }
  }

  // The cache is read and held at the length it is compiled for.
  void add_cache() {
    const std::int64_t tokens = setup_.input_tokens + setup_.output_tokens;
    if (setup_.run != RunMode::generation || setup_.static_length <= tokens) return;
    const std::int64_t prompt =
        padded_prompt(setup_.input_tokens, tokens, setup_.legacy_endpoint, plan_.constants.serving);
    add("cache", fmt::format("rdu.static_sequence_length = {}", tokens), [tokens, prompt](Candidate& c) {
      c.setup.static_length = tokens;
      c.setup.padded_prompt = prompt;
    });
  }

  void add_batches() {
    const std::int64_t step = setup_.tensor_parallel == TensorParallel::batch ? setup_.parts : 1;
    for (std::int64_t batch = setup_.batch / 2; batch >= step; batch /= 2) {
      const std::int64_t whole = batch - batch % step;
      add("batch", batch_text(whole), [whole](Candidate& c) { c.setup.batch = whole; });
    }
  }

  std::string batch_text(std::int64_t size) const {
    if (wording_.key_decides) return fmt::format("{} = {}", wording_.batch_key, size);
    return plan_.written.batch_text(size, wording_.batch_key);
  }

  // All tiles of each RDU unless the command says fewer; halves that shared the batch become one, too.
  void add_shared_weights() {
    if (!transformer()) return;
    const std::int64_t all = plan_.constants.chip.tiles;
    const bool said = plan_.written.tiles > 0 && !setup_.fused_generation;
    const std::int64_t tiles = said ? std::min(plan_.written.tiles, all) : all;
    const bool shares = setup_.tensor_parallel == TensorParallel::weight;
    for (std::int64_t rdus = 1; rdus <= plan_.constants.system.rdus; rdus *= 2) {
      if (shares ? rdus <= setup_.parts : rdus == 1 && !setup_.halves) continue;
      std::string problem;
      const auto share = rdus == 1 ? std::optional(plan_.model) : cut_weights(plan_.model, rdus, problem);
      if (share) add_shared_weights_of(rdus, tiles, *share);
    }
  }

  void add_shared_weights_of(std::int64_t rdus, std::int64_t tiles, const TransformerDescription& share) {
    Candidate shared{setup_, share};
    shared.setup.tensor_parallel = TensorParallel::weight;
    shared.setup.parts = rdus;
    shared.setup.tiles_per_part = tiles;
    shared.setup.halves = false;
    const std::int64_t in_a_node = room_of_node(shared.setup, plan_.constants);
    const std::int64_t copies = std::min(setup_.replicas, plan_.nodes * in_a_node);
    if (copies < plan_.written.least_ranks) return;
    add("shared weights", shared_text(rdus, copies), [=](Candidate& c) {
      c.setup.tensor_parallel = TensorParallel::weight;
      c.setup.parts = rdus;
      c.setup.tiles_per_part = tiles;
      c.setup.halves = false;
      c.setup.replicas = copies;
      c.setup.copies_per_node = std::min(c.setup.copies_per_node, in_a_node);
      c.share = share;
    });
  }

  std::string shared_text(std::int64_t rdus, std::int64_t copies) const {
    const WrittenForms& written = plan_.written;
    std::vector<WrittenForms::Flag> flags = {{"tensor-parallel", "weight"}};
    if (rdus > 1 || written.n_chips) flags.emplace_back("n-chips", std::to_string(rdus));
    // One RDU that is asked for has half of its tiles otherwise.
    const bool half = rdus == 1 && written.n_chips && written.tiles == 0 && !setup_.fused_generation;
    if (half) flags.emplace_back("num-tiles", std::to_string(plan_.constants.chip.tiles));
    const std::string text = written.flags(flags);
    return copies < setup_.replicas ? text + " and " + written.copies_text(copies) : text;
  }

  const RduPlan& plan_;
  const RduSetup& setup_;
  const RemedyWording& wording_;
  std::vector<Change> changes_;
};

// With the longest sequences, alone or beside one other change; empty when none fit. The length halves from what it is,
// to no less than what models are commonly trained on.
std::string shorter_sequences(const RduPlan& plan, const RemedyWording& wording, WorkloadSettings settings) {
  constexpr std::int64_t k_shortest = 512;
  const Candidate base{plan.setup, plan.share};
  const std::vector<Change> changes = Changes(plan, wording).all();
  const auto rate = [&](const Candidate& candidate) { return rate_of(plan, candidate, settings); };
  for (std::int64_t length = settings.sequence_length / 2; length >= k_shortest; length /= 2) {
    settings.sequence_length = length;
    const std::string text = fmt::format("workload.sequence_length = {}", length);
    if (rate(base) > 0) return text;
    const std::string other = best_change(base, changes, false, rate);
    if (!other.empty()) return text + " and " + other;
  }
  return "";
}

}  // namespace

void add_remedies(const RduPlan& plan, const WorkloadSettings& settings, const RemedyWording& wording,
                  Verdict& verdict) {
  const auto rate = [&](const Candidate& candidate) { return rate_of(plan, candidate, settings); };
  std::string remedy = best_change({plan.setup, plan.share}, Changes(plan, wording).all(), true, rate);
  const bool sequences = plan.model.layers > 0 && plan.setup.run != RunMode::generation;
  if (remedy.empty() && wording.length_is_default && sequences) remedy = shorter_sequences(plan, wording, settings);
  if (remedy.empty()) remedy = "a smaller model: none of the changes tried, alone or in pairs, makes it fit";
  for (BrokenLimit& broken : verdict.broken) broken.remedy = remedy;
}

}  // namespace podsim::rdu
