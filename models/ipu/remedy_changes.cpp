#include "models/ipu/remedy_changes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <optional>
#include <utility>

#include "models/ipu/memory.hpp"

namespace podsim::ipu {
namespace {

// Moves layers one at a time from the fullest IPU to the emptiest.
class Rebalance {
 public:
  Rebalance(const Plan& plan, const IpuPlan& ipu_plan)
      : plan_(plan), ipu_plan_(ipu_plan), layers_(ipu_plan.setup.placement.attention) {}

  // The first placement in which the fullest IPU fits; none when moving does not help that far.
  std::optional<std::vector<std::int64_t>> find() {
    const Bytes limit = usable_memory(ipu_plan_.constants);
    std::vector<Bytes> fill = filled(layers_);
    Bytes sum;
    for (const Bytes ipu : fill) sum += ipu;
    if (sum > limit * static_cast<std::int64_t>(fill.size())) return std::nullopt;  // full on average
    while (*std::max_element(fill.begin(), fill.end()) > limit) {
      const std::optional<std::vector<std::int64_t>> next = moved(fill);
      if (!next) return std::nullopt;
      const std::vector<Bytes> after = filled(*next);
      if (*std::max_element(after.begin(), after.end()) >= *std::max_element(fill.begin(), fill.end())) {
        return std::nullopt;
      }
      layers_ = *next;
      fill = after;
    }
    return layers_;
  }

 private:
  std::vector<Bytes> filled(const std::vector<std::int64_t>& layers) const {
    RunSetup setup = ipu_plan_.setup;
    setup.placement = {layers, layers};
    const Pipeline pipeline = make_pipeline(plan_.graph, setup.placement);
    const MemoryInputs inputs{plan_.graph, plan_.settings, setup, pipeline, ipu_plan_.constants};
    std::vector<Bytes> sums;
    for (const std::vector<MemoryAccountEntry>& entries : account_memory(inputs, *ipu_plan_.costs)) {
      Bytes& sum = sums.emplace_back();
      for (const MemoryAccountEntry& entry : entries) sum += entry.bytes;
    }
    return sums;
  }

  // Stages stay as many: no IPU behind the first loses its last layer, none without a layer gets one.
  std::optional<std::vector<std::int64_t>> moved(const std::vector<Bytes>& fill) const {
    const auto from = static_cast<std::size_t>(std::max_element(fill.begin(), fill.end()) - fill.begin());
    if (layers_[from] <= (from == 0 ? 0 : 1)) return std::nullopt;
    std::optional<std::size_t> to;
    for (std::size_t ipu = 0; ipu < fill.size(); ++ipu) {
      const bool open = ipu != from && (ipu == 0 || layers_[ipu] > 0);
      if (open && (!to || fill[ipu] < fill[*to])) to = ipu;
    }
    if (!to) return std::nullopt;
    std::vector<std::int64_t> layers = layers_;
    layers[from] -= 1;
    layers[*to] += 1;
    return layers;
  }

  const Plan& plan_;
  const IpuPlan& ipu_plan_;
  std::vector<std::int64_t> layers_;
};

class Changes {
 public:
  Changes(const Plan& plan, const IpuPlan& ipu_plan) : plan_(plan), setup_(ipu_plan.setup), ipu_plan_(ipu_plan) {}

  std::vector<Change> all() {
    if (setup_.training()) {
      add_places_of_state();
      add_recomputation();
    }
    add_placement();
    add_proportions();
    add_serialization();
    add_micro_batches();
    return std::move(changes_);
  }

 private:
  void add(std::string text, std::function<void(Candidate&)> apply) {
    changes_.push_back({std::move(text), std::move(apply)});
  }

  const char* prefix() const { return setup_.training() ? "" : "inference_"; }

  void add_places_of_state() {
    if (optimizer_state_bytes(plan_.settings) == 0) return;
    if (ipu_plan_.constants.system.has_streaming_memory && !setup_.optimizer_state_offchip) {
      add("ipu.optimizer_state_offchip = true", [](Candidate& c) { c.setup.optimizer_state_offchip = true; });
    }
    const bool sharded = setup_.replicated_tensor_sharding;
    if (!sharded && setup_.replication_factor > 1) {
      add("ipu.replicated_tensor_sharding = true", [](Candidate& c) { c.setup.replicated_tensor_sharding = true; });
    }
    if (setup_.optimizer_state_offchip) return;
    const std::int64_t ipus = ipu_plan_.constants.system.ipus * plan_.nodes;
    for (std::int64_t replicas = 2; replicas * setup_.ipus_per_replica <= ipus; replicas *= 2) {
      if (replicas <= setup_.replication_factor) continue;
      add(fmt::format("ipu.replication_factor = {}{}", replicas,
                      sharded ? "" : " and ipu.replicated_tensor_sharding = true"),
          [replicas](Candidate& c) {
            c.setup.replication_factor = replicas;
            c.setup.replicated_tensor_sharding = true;
          });
    }
  }

  void add_recomputation() {
    if (setup_.recompute_checkpoint_every_layer) {
      add("ipu.recompute_checkpoint_every_layer = false",
          [](Candidate& c) { c.setup.recompute_checkpoint_every_layer = false; });
    } else if (plan_.settings.recompute) {
      add("ipu.recompute_checkpoint_every_layer = true",
          [](Candidate& c) { c.setup.recompute_checkpoint_every_layer = true; });
    }
    if (!plan_.settings.recompute) {
      add("workload.recompute = true", [](Candidate& c) { c.settings.recompute = true; });
    }
  }

  // Only whole layers of one kind: elsewhere not every layer may go to every IPU.
  void add_placement() {
    const LayerPlacement& placement = setup_.placement;
    if (placement.attention != placement.feed_forward || !plan_.graph.layer_names.empty()) return;
    if (setup_.ipus_per_replica == 1) return;
    const std::optional<std::vector<std::int64_t>> layers = Rebalance(plan_, ipu_plan_).find();
    if (!layers || *layers == placement.attention) return;
    add(fmt::format("ipu.{}layers_per_ipu = [{}]", prefix(), fmt::join(*layers, ", ")), [layers](Candidate& c) {
      c.setup.placement = {*layers, *layers};
    });
  }

  void add_proportions() {
    const std::vector<double>& now = setup_.matmul_proportion;
    for (const double proportion : {0.4, 0.2, 0.1, 0.05}) {
      if (*std::max_element(now.begin(), now.end()) <= proportion) continue;
      std::vector<double> lower = now;
      for (double& value : lower) value = std::min(value, proportion);
      const bool same = std::count(lower.begin(), lower.end(), proportion) == static_cast<std::ptrdiff_t>(lower.size());
      const std::string text = same ? fmt::format("{}", proportion) : fmt::format("[{}]", fmt::join(lower, ", "));
      add(fmt::format("ipu.{}matmul_proportion = {}", prefix(), text),
          [lower](Candidate& c) { c.setup.matmul_proportion = lower; });
    }
  }

  bool divides_vocabulary(std::int64_t factor) const {
    const bool pads = plan_.model_kind->type() == "gpt2";  // its vocabulary need not divide
    return pads || plan_.graph.vocabulary % factor == 0;
  }

  // A projection without a factor of its own follows the embedding. The library gives it one in models of an encoder
  // and a decoder.
  void add_serialization() {
    constexpr std::int64_t k_most = 8;
    const bool together = setup_.projection_follows_embedding;
    for (std::int64_t factor = setup_.embedding_serialization_factor + 1; factor <= k_most; ++factor) {
      if (!divides_vocabulary(factor)) continue;
      add(fmt::format("ipu.{}embedding_serialization_factor = {}", prefix(), factor), [factor, together](Candidate& c) {
        c.setup.embedding_serialization_factor = factor;
        if (together) c.setup.projection_serialization_factor = factor;
      });
    }
    if (together && plan_.graph.layer_names.empty()) return;
    for (std::int64_t factor = setup_.projection_serialization_factor + 1; factor <= k_most; ++factor) {
      if (!divides_vocabulary(factor)) continue;
      add(fmt::format("ipu.{}projection_serialization_factor = {}", prefix(), factor),
          [factor](Candidate& c) { c.setup.projection_serialization_factor = factor; });
    }
  }

  void add_micro_batches() {
    const std::int64_t size = plan_.settings.micro_batch_size;
    for (std::int64_t smaller = size - 1; smaller >= 1; smaller = size <= 16 ? smaller - 1 : smaller * 3 / 4) {
      add(fmt::format("workload.micro_batch_size = {}", smaller),
          [smaller](Candidate& c) { c.settings.micro_batch_size = smaller; });
    }
  }

  const Plan& plan_;
  const RunSetup& setup_;
  const IpuPlan& ipu_plan_;
  std::vector<Change> changes_;
};

}  // namespace

std::vector<Change> changes_of(const Plan& plan, const IpuPlan& ipu_plan) {
  return Changes(plan, ipu_plan).all();
}

}  // namespace podsim::ipu
