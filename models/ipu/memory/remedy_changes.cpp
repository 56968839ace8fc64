#include "models/ipu/memory/remedy_changes.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <optional>
#include <string>
#include <utility>

#include "models/ipu/memory/memory.hpp"
#include "models/ipu/placement/encoder_decoder_cut.hpp"
#include "models/ipu/placement/ipu_devices.hpp"
#include "models/workloads/encoder_decoder.hpp"

namespace podsim::ipu {
namespace {

using Layers = std::vector<std::int64_t>;

// From a first placement, layers moved one at a time from the fullest IPU to the emptiest.
class Rebalance {
 public:
  Rebalance(const Plan& plan, const IpuPlan& ipu_plan, Layers first)
      : plan_(plan), ipu_plan_(ipu_plan), layers_(std::move(first)) {}

  // The first placement in which the fullest IPU fits; none when moving does not help that far.
  std::optional<Layers> find() {
    const Bytes limit = usable_memory(ipu_plan_.constants);
    std::vector<Bytes> fill = filled(layers_);
    Bytes sum;
    for (const Bytes ipu : fill) sum += ipu;
    if (sum > limit * static_cast<std::int64_t>(fill.size())) return std::nullopt;  // full on average
    while (*std::max_element(fill.begin(), fill.end()) > limit) {
      const std::optional<Layers> next = moved(fill);
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
  std::vector<Bytes> filled(const Layers& layers) const {
    RunSetup setup = ipu_plan_.setup;
    setup.placement = {layers, layers, setup.placement.decoder_embedding};
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
  std::optional<Layers> moved(const std::vector<Bytes>& fill) const {
    const auto from = static_cast<std::size_t>(std::max_element(fill.begin(), fill.end()) - fill.begin());
    if (layers_[from] <= (from == 0 ? 0 : 1)) return std::nullopt;
    std::optional<std::size_t> to;
    for (std::size_t ipu = 0; ipu < fill.size(); ++ipu) {
      const bool open = ipu != from && (ipu == 0 || layers_[ipu] > 0);
      if (open && (!to || fill[ipu] < fill[*to])) to = ipu;
    }
    if (!to) return std::nullopt;
    Layers layers = layers_;
    layers[from] -= 1;
    layers[*to] += 1;
    return layers;
  }

  const Plan& plan_;
  const IpuPlan& ipu_plan_;
  Layers layers_;
};

// `layers` over `ipus`, what is left over on the last of them.
void append_even(Layers& list, std::int64_t layers, std::int64_t ipus) {
  for (std::int64_t ipu = 0; ipu < ipus; ++ipu) list.push_back(layers / ipus + (ipu >= ipus - layers % ipus ? 1 : 0));
}

// Every IPU alike; for an encoder and a decoder also with each on IPUs of its own.
std::vector<Layers> even_splits(std::int64_t layers, std::int64_t encoder, std::int64_t ipus) {
  std::vector<Layers> splits(1);
  append_even(splits.front(), layers, ipus);
  for (std::int64_t own = 1; encoder > 0 && own < ipus; own *= 2) {
    Layers& split = splits.emplace_back();
    append_even(split, encoder, own);
    append_even(split, layers - encoder, ipus - own);
  }
  return splits;
}

// The splits that make `factor` passes: those beyond the first IPU that has any stay where they are.
Layers with_passes(Layers splits, std::int64_t factor) {
  const auto first = std::find_if(splits.begin(), splits.end(), [](std::int64_t count) { return count > 0; });
  *first += factor - std::accumulate(splits.begin(), splits.end(), std::int64_t{0});
  return splits;
}

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
      if (replicas <= setup_.replication_factor || !can_run(replicas)) continue;
      const std::string key = ipu_plan_.written.n_ipu
                                  ? fmt::format("ipu.n_ipu = {}", replicas * setup_.ipus_per_replica)
                                  : fmt::format("ipu.replication_factor = {}", replicas);
      add(key + (sharded ? "" : " and ipu.replicated_tensor_sharding = true"), [replicas](Candidate& c) {
        c.setup.replication_factor = replicas;
        c.setup.replicated_tensor_sharding = true;
      });
    }
  }

  bool can_run(std::int64_t replicas) const {
    return can_reserve(ipu_plan_.constants.system, plan_.nodes, setup_.ipus_per_replica, replicas, setup_.instances);
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

  // Layers moved from where they stand, or from an even split, which also reaches IPUs that have none.
  void add_placement() {
    if (setup_.ipus_per_replica == 1) return;
    const LayerPlacement& placement = setup_.placement;
    const std::int64_t encoder = encoder_layers(plan_.graph);
    const bool halves = ipu_plan_.written.half_layers;
    std::vector<Layers> offered;
    const auto offer = [&](const std::optional<Layers>& layers) {
      if (!layers || (*layers == placement.attention && *layers == placement.feed_forward)) return;
      if (std::find(offered.begin(), offered.end(), *layers) == offered.end()) offered.push_back(*layers);
    };
    offer(Rebalance(plan_, ipu_plan_, placement.attention).find());
    for (const Layers& even : even_splits(plan_.graph.layers, encoder, setup_.ipus_per_replica)) {
      // One that is too full as it is may suffice beside another change.
      offer(Rebalance(plan_, ipu_plan_, even).find().value_or(even));
    }
    for (const Layers& layers : offered) {
      if (setup_.run == RunMode::generation && encoder > 0 && !encoder_ipus(layers, encoder)) continue;
      const std::string list = fmt::format("[{}]", fmt::join(layers, ", "));
      add(halves ? fmt::format("ipu.attention_layers_per_ipu = {0} and ipu.ffn_layers_per_ipu = {0}", list)
                 : fmt::format("ipu.{}layers_per_ipu = {}", prefix(), list),
          [layers](Candidate& c) {
            c.setup.placement.attention = layers;
            c.setup.placement.feed_forward = layers;
          });
    }
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
      add(passes_text("embedding", ipu_plan_.written.embedding_splits, factor), [factor, together](Candidate& c) {
        c.setup.embedding_serialization_factor = factor;
        if (together) c.setup.projection_serialization_factor = factor;
      });
    }
    if (together && plan_.graph.layer_names.empty()) return;
    for (std::int64_t factor = setup_.projection_serialization_factor + 1; factor <= k_most; ++factor) {
      if (!divides_vocabulary(factor)) continue;
      add(passes_text("projection", ipu_plan_.written.projection_splits, factor),
          [factor](Candidate& c) { c.setup.projection_serialization_factor = factor; });
    }
  }

  // A factor is refused beside a list.
  std::string passes_text(const char* part, const Layers& splits, std::int64_t factor) const {
    if (splits.empty()) return fmt::format("ipu.{}{}_serialization_factor = {}", prefix(), part, factor);
    return fmt::format("ipu.{}serialized_{}_splits_per_ipu = [{}]", prefix(), part,
                       fmt::join(with_passes(splits, factor), ", "));
  }

  // In generation workload.batch_size decides where it is written.
  const char* batch_key() const {
    const bool follows = std::ranges::any_of(plan_.resolved, [](const ResolvedKey& key) {
      return key.path == "workload.batch_size" && key.origin == "as workload.micro_batch_size";
    });
    return setup_.run == RunMode::generation && !follows ? "workload.batch_size" : "workload.micro_batch_size";
  }

  void add_micro_batches() {
    const std::int64_t size = plan_.settings.micro_batch_size;
    for (std::int64_t smaller = size - 1; smaller >= 1; smaller = size <= 16 ? smaller - 1 : smaller * 3 / 4) {
      add(fmt::format("{} = {}", batch_key(), smaller),
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

std::vector<Change> output_changes_of(const Plan& plan, const IpuPlan& ipu_plan) {
  std::vector<Change> changes;
  const Bytes have = ipu_plan.constants.memory.host_stream;
  const Bytes need = ipu_plan.setup.inference.results;
  if (ipu_plan.setup.training() || need <= have) return changes;
  const auto at_most = [&](std::int64_t rows, Bytes bytes) {
    const double share = static_cast<double>(have.count()) / static_cast<double>(bytes.count());
    return static_cast<std::int64_t>(std::floor(static_cast<double>(rows) * share));
  };
  const std::string& head = plan.settings.head;
  const bool per_token = plan.settings.mode == RunMode::inference && (head == "causal-lm" || head == "seq2seq");
  const bool masked = head == "masked-lm" || head == "pretraining";
  const std::int64_t micro_batch = plan.settings.micro_batch_size;
  // Of a micro-batch as it is, and of the smallest.
  for (const std::int64_t size : {micro_batch, std::int64_t{1}}) {
    const Bytes bytes(need.count() / micro_batch * size);
    const std::string also = size == micro_batch ? "" : "workload.micro_batch_size = 1 and ";
    const std::int64_t tokens = at_most(plan.settings.sequence_length, bytes);
    const std::int64_t targets = at_most(plan.settings.masked_tokens, bytes);
    if (per_token && tokens >= 1 && tokens < plan.settings.sequence_length) {
      changes.push_back({fmt::format("{}workload.sequence_length = {}", also, tokens), [size, tokens](Candidate& c) {
                           c.settings.micro_batch_size = size;
                           c.settings.sequence_length = tokens;
                         }});
    }
    if (masked && targets >= 1 && targets < plan.settings.masked_tokens) {
      changes.push_back({fmt::format("{}workload.masked_tokens = {}", also, targets), [size, targets](Candidate& c) {
                           c.settings.micro_batch_size = size;
                           c.settings.masked_tokens = targets;
                         }});
    }
  }
  return changes;
}

}  // namespace podsim::ipu
