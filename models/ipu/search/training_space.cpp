#include "models/ipu/search/training_space.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "models/ipu/placement/ipu_devices.hpp"
#include "models/ipu/search/partition.hpp"
#include "models/ipu/search/replica_stages.hpp"
#include "models/ipu/search/search_settings.hpp"
#include "models/workloads/encoder_decoder.hpp"
#include "sim/core/check.hpp"

namespace podsim::ipu {
namespace {

constexpr double k_rounding = 1e-9;  // of rates that are quotients of whole picoseconds

// How an update is shared out.
struct Shares {
  std::int64_t ipus = 1;  // per replica
  std::int64_t replicas = 1;
  std::int64_t micro_batch = 1;
  std::int64_t accumulation = 1;
  std::int64_t samples() const { return replicas * micro_batch * accumulation; }
};

struct Recomputation {
  bool forward = true;  // stages run their forward again
  bool every_layer = false;
  std::int64_t segments = 0;
};

// A placement with the settings that say it.
struct Placed {
  LayerPlacement layers;
  std::vector<double> proportion;  // by IPU
  SimTime longest;                 // work of the busiest IPU for one micro-batch
};

class TrainingSpace : public std::enable_shared_from_this<TrainingSpace> {
 public:
  TrainingSpace(std::shared_ptr<const Plan> plan, SearchRequest request)
      : plan_(std::move(plan)),
        ipu_plan_(dynamic_cast<const IpuPlan&>(*plan_->family_plan)),
        request_(std::move(request)),
        base_(ipu_plan_.setup),
        system_(ipu_plan_.constants.system),
        proportions_(offered_proportions(request_, base_.matmul_proportion)),
        factors_(offered_factors(*plan_, ipu_plan_, request_)) {
    for (const double factor : ipu_plan_.slowdown) pace_ = std::min(pace_, factor);
  }

  SearchSpace space() {
    SearchSpace space;
    for (const std::int64_t ipus : replica_sizes()) {
      for (const std::int64_t replicas : replica_counts(ipus)) {
        for (const std::int64_t micro_batch : micro_batches()) add_shares({ipus, replicas, micro_batch, 1}, space);
      }
    }
    space.dimensions = dimensions();
    space.notes = notes();
    return space;
  }

 private:
  // ---- what is tried

  bool convolutional() const { return plan_->graph.convolutional(); }
  bool own_lists() const { return request_.fixes("ipu.layers_per_ipu") || ipu_plan_.written.half_layers; }
  // Layers of an encoder and a decoder are split evenly: where the decoder begins decides the stages.
  bool in_one_stack() const { return encoder_layers(plan_->graph) == 0; }

  // An IPU has a layer, but for those of an embedding or a head alone.
  std::int64_t most_parts() const {
    const auto outside = [](const Block& block) { return block.layer < 0; };
    const std::int64_t layers = plan_->graph.layers;
    if (!in_one_stack() || std::ranges::none_of(plan_->graph.blocks, outside)) return layers;
    return layers + (plan_->graph.head_placement == HeadPlacement::last_device ? 2 : 1);
  }

  std::vector<std::int64_t> replica_sizes() const {
    // Splits say where a decoder's table stands.
    const bool placed_table = !in_one_stack() && (!ipu_plan_.written.embedding_splits.empty() ||
                                                  !ipu_plan_.written.projection_splits.empty());
    if (request_.fixes("ipu.layers_per_ipu") || placed_table) return {base_.ipus_per_replica};
    constexpr std::int64_t k_every = 16;  // beyond it, powers of two
    const std::int64_t most = std::min(system_.ipus_per_pod, most_parts());
    std::vector<std::int64_t> sizes;
    for (std::int64_t ipus = 1; ipus <= most; ipus = ipus < k_every ? ipus + 1 : 2 * ipus) sizes.push_back(ipus);
    return request_.values("ipu.ipus_per_replica", sizes, base_.ipus_per_replica);
  }

  std::vector<std::int64_t> replica_counts(std::int64_t ipus) const {
    std::vector<std::int64_t> counts;
    const std::int64_t most = system_.ipus * plan_->nodes / ipus;
    for (std::int64_t replicas = 1; replicas <= most; ++replicas) counts.push_back(replicas);
    counts = request_.values("ipu.replication_factor", counts, base_.replication_factor);
    std::erase_if(counts, [&](std::int64_t replicas) {
      const bool shares_norms = replicas % base_.distributed_batch_norm_replicas == 0;
      return !shares_norms || !can_reserve(system_, plan_->nodes, ipus, replicas, base_.instances);
    });
    return counts;
  }

  std::vector<std::int64_t> micro_batches() const {
    const std::int64_t own = plan_->settings.micro_batch_size;
    std::vector<std::int64_t> sizes;
    for (std::int64_t size = 1; size <= std::max<std::int64_t>(64, 4 * own); ++size) sizes.push_back(size);
    return request_.values("workload.micro_batch_size", sizes, own);
  }

  // The accumulation follows from the batch; the more, the faster: the update and the filling of the pipeline weigh
  // less, and no memory depends on it beyond the first.
  void add_shares(Shares shares, SearchSpace& space) {
    const BatchRange batch = request_.batch.value_or(BatchRange{1, base_.gradient_accumulation_steps});
    shares.accumulation = request_.fixes("ipu.gradient_accumulation_steps")
                              ? base_.gradient_accumulation_steps
                              : batch.most / (shares.replicas * shares.micro_batch);
    if (shares.accumulation < 1 || !batch.has(shares.samples())) return;
    if (in_one_stack() && !own_lists() && shares.accumulation < 2 * stages(shares) - 1) return;
    const std::vector<Recomputation> recomputations = recomputations_for(shares.ipus);
    const std::size_t states = places_of_state(shares.replicas).size();
    SearchBranch branch;
    branch.devices = devices(shares);
    branch.configurations = static_cast<std::int64_t>(recomputations.size() * factors_.size() * states);
    branch.most_samples_per_s = rate(shares, average_work(shares), 1);
    branch.open = [self = shared_from_this(), shares] { return self->by_recomputation(shares); };
    space.branches.push_back(std::move(branch));
  }

  std::vector<Recomputation> recomputations_for(std::int64_t ipus) const {
    const Recomputation own{plan_->settings.recompute, base_.recompute_checkpoint_every_layer,
                            base_.recompute_segments};
    std::vector<Recomputation> all;
    if (convolutional() && ipus == 1 && own.forward) {
      for (const std::int64_t segments : request_.values(
               "ipu.recompute_segments", {0, 2, 3, 4, 5, 6, 7, 8, 10, 12, 16, -1}, base_.recompute_segments)) {
        all.push_back({own.forward, own.every_layer, segments});
      }
      return all;
    }
    if (ipus == 1) return {{own.forward, own.every_layer, 0}};  // one stage recomputes nothing
    for (const bool forward : request_.values("workload.recompute", {true, false}, own.forward)) {
      if (!forward) {
        all.push_back({false, false, 0});
        continue;
      }
      for (const bool every : request_.values("ipu.recompute_checkpoint_every_layer", {false, true}, own.every_layer)) {
        all.push_back({true, every, 0});
      }
    }
    return all;
  }

  // Off chip or not, sharded or not.
  std::vector<std::pair<bool, bool>> places_of_state(std::int64_t replicas) const {
    const bool has_state = optimizer_state_bytes(plan_->settings) > 0;
    std::vector<bool> off_chip{false};
    if (has_state && system_.has_streaming_memory) off_chip.push_back(true);
    std::vector<bool> sharded{false};
    if (has_state && replicas > 1) sharded.push_back(true);
    std::vector<std::pair<bool, bool>> places;
    const bool own_place = base_.optimizer_state_offchip;
    for (const bool off : request_.values("ipu.optimizer_state_offchip", off_chip, own_place)) {
      for (const bool shares :
           request_.values("ipu.replicated_tensor_sharding", sharded, base_.replicated_tensor_sharding)) {
        places.emplace_back(off, shares && replicas > 1);
      }
    }
    return places;
  }

  std::int64_t devices(const Shares& shares) const {
    return static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(shares.ipus * shares.replicas)));
  }

  // ---- bounds

  // An IPU works through all micro-batches one after the other; copies, in which nothing else happens, follow every
  // cycle of a pipeline, and the turn-around of the software every update.
  double rate(const Shares& shares, Duration busiest, std::int64_t forward_stages) const {
    const SoftwareConstants& software = ipu_plan_.constants.software;
    Duration step = static_cast<double>(shares.accumulation) * pace_ * busiest + software.update_overhead +
                    software.call_overhead / static_cast<double>(base_.device_iterations);
    if (forward_stages > 1) {
      const double cycles = static_cast<double>(shares.accumulation + 2 * forward_stages - 2);
      step += 2 * cycles * system_.links.message_latency;
    }
    return static_cast<double>(shares.samples()) / step.in_base() * (1 + k_rounding);
  }

  // The busiest IPU has at least the average to do.
  Duration average_work(const Shares& shares) {
    return least_work(shares.micro_batch).duration() / static_cast<double>(shares.ipus);
  }

  SimTime least_work(std::int64_t micro_batch) {
    const auto known = least_work_.find(micro_batch);
    if (known != least_work_.end()) return known->second;
    std::optional<SimTime> least;
    for (const std::int64_t factor : factors_) {
      const SimTime own = micro_batch_of(micro_batch).least_work(setup_with(factor));
      least = least ? std::min(*least, own) : own;
    }
    return least_work_[micro_batch] = *least;
  }

  MicroBatch& micro_batch_of(std::int64_t size) {
    std::unique_ptr<MicroBatch>& known = micro_batches_[size];
    if (known == nullptr) known = std::make_unique<MicroBatch>(*plan_, ipu_plan_, size, proportions_);
    return *known;
  }

  RunSetup setup_with(std::int64_t factor) const {
    RunSetup setup = base_;
    setup.recompute_cuts.clear();  // numbers of segments are tried instead
    setup.embedding_serialization_factor = factor;
    if (setup.projection_follows_embedding) setup.projection_serialization_factor = factor;
    return setup;
  }

  ReplicaStages& stages_of(const Shares& shares, const Recomputation& recomputation, std::int64_t factor) {
    const std::tuple key{shares.ipus,           shares.micro_batch,        factor,
                         recomputation.forward, recomputation.every_layer, recomputation.segments};
    std::unique_ptr<ReplicaStages>& known = stages_[key];
    if (known == nullptr) {
      RunSetup setup = setup_with(factor);
      setup.ipus_per_replica = shares.ipus;
      setup.recompute_checkpoint_every_layer = recomputation.every_layer;
      setup.recompute_segments = recomputation.segments;
      known =
          std::make_unique<ReplicaStages>(micro_batch_of(shares.micro_batch), ipu_plan_, setup, recomputation.forward);
    }
    return *known;
  }

  // Which of the proportions on offer IPU `ipu` may have: all, or its own.
  std::vector<std::size_t> allowed(std::size_t ipu) const {
    std::vector<std::size_t> indices;
    for (std::size_t p = 0; p < proportions_.size(); ++p) {
      if (!request_.fixes("ipu.matmul_proportion") || proportions_[p] == own_proportion(ipu)) indices.push_back(p);
    }
    return indices;
  }

  // A list that is fixed counts for its own number of IPUs; for others its first entry does.
  double own_proportion(std::size_t ipu) const {
    const std::vector<double>& own = base_.matmul_proportion;
    return ipu < own.size() ? own[ipu] : own.front();
  }

  // The fastest proportion whose temporaries leave `held` enough room; the smallest of equally fast ones.
  std::optional<std::size_t> fastest(const StageLoad& load, std::size_t ipu, std::optional<Bytes> held) const {
    const double room = usable_memory(ipu_plan_.constants).size().in_base() * request_.memory_share;
    std::optional<std::size_t> best;
    for (const std::size_t p : allowed(ipu)) {
      if (held && (*held + load.temporaries[p]).size().in_base() > room) continue;
      if (!best || load.time[p] < load.time[*best]) best = p;
    }
    return best;
  }

  // ---- branches

  std::vector<SearchBranch> by_recomputation(const Shares& shares) {
    std::vector<SearchBranch> branches;
    const std::size_t states = places_of_state(shares.replicas).size();
    for (const Recomputation& recomputation : recomputations_for(shares.ipus)) {
      for (const std::int64_t factor : factors_) {
        SearchBranch branch;
        branch.devices = devices(shares);
        branch.configurations = static_cast<std::int64_t>(states);
        branch.most_samples_per_s = rate(shares, shortest(shares, recomputation, factor), stages(shares));
        branch.open = [self = shared_from_this(), shares, recomputation, factor] {
          return self->by_place_of_state(shares, recomputation, factor);
        };
        branches.push_back(std::move(branch));
      }
    }
    return branches;
  }

  // At least so many forward ones: one for each IPU, and the head's where it goes back to the first. 1: not known.
  std::int64_t stages(const Shares& shares) const {
    if (shares.ipus == 1 || has_own_placement(shares.ipus)) return 1;
    const bool returns = plan_->graph.head_placement == HeadPlacement::first_device;
    const bool head =
        std::ranges::any_of(plan_->graph.blocks, [](const Block& b) { return b.kind == BlockKind::head; });
    return shares.ipus + (in_one_stack() && returns && head ? 1 : 0);
  }

  // Of the busiest IPU when memory is no limit.
  Duration shortest(const Shares& shares, const Recomputation& recomputation, std::int64_t factor) {
    if (!in_one_stack() || has_own_placement(shares.ipus)) return average_work(shares);
    const std::optional<Partition> best =
        partition(stages_of(shares, recomputation, factor),
                  [](std::size_t, std::int64_t, std::int64_t) { return std::optional<Bytes>(); });
    return best ? best->longest.duration() : average_work(shares);
  }

  template <class Held>
  std::optional<Partition> partition(ReplicaStages& stages, const Held& held) {
    PartitionProblem problem;
    problem.layers = plan_->graph.layers;
    problem.least = stages.least_layers();
    problem.time = [&](std::size_t part, std::int64_t first, std::int64_t count) -> std::optional<SimTime> {
      const StageLoad& load = stages.load(part, first, count);
      const std::optional<std::size_t> choice = fastest(load, part, held(part, first, count));
      if (!choice) return std::nullopt;
      return load.time[*choice];
    };
    return best_partition(problem);
  }

  std::vector<SearchBranch> by_place_of_state(const Shares& shares, const Recomputation& recomputation,
                                              std::int64_t factor) {
    std::vector<SearchBranch> branches;
    for (const auto& [off_chip, sharded] : places_of_state(shares.replicas)) {
      RunSetup setup = setup_with(factor);
      setup.ipus_per_replica = shares.ipus;
      setup.replication_factor = shares.replicas;
      setup.gradient_accumulation_steps = shares.accumulation;
      setup.recompute_checkpoint_every_layer = recomputation.every_layer;
      setup.recompute_segments = recomputation.segments;
      setup.optimizer_state_offchip = off_chip;
      setup.replicated_tensor_sharding = sharded;
      std::vector<SearchBranch> own =
          placed_branches(shares, setup, recomputation, stages_of(shares, recomputation, factor));
      branches.insert(branches.end(), own.begin(), own.end());
    }
    return branches;
  }

  std::vector<SearchBranch> placed_branches(const Shares& shares, const RunSetup& setup,
                                            const Recomputation& recomputation, ReplicaStages& stages) {
    std::vector<SearchBranch> branches;
    for (const Placed& placed : placements(shares, setup, stages)) {
      SearchBranch branch;
      branch.devices = devices(shares);
      branch.configurations = branches.empty() ? 1 : 0;  // another placement of the same configuration
      branch.most_samples_per_s = rate(shares, placed.longest.duration(), this->stages(shares));
      RunSetup own = setup;
      own.placement = placed.layers;
      own.matmul_proportion = placed.proportion;
      branch.settings = settings_of(own, {shares.micro_batch, recomputation.forward}, ipu_plan_, *plan_, request_);
      branches.push_back(std::move(branch));
    }
    return branches;
  }

  // ---- placements

  // The experiment's own, where the replicas are as large and it is none that the partition would try.
  bool has_own_placement(std::int64_t ipus) const {
    if (ipus != base_.ipus_per_replica) return false;
    const std::vector<std::int64_t>& counts = base_.placement.attention;
    const bool gaps = std::any_of(counts.begin(), counts.end(), [](std::int64_t count) { return count < 1; });
    return own_lists() || gaps;
  }

  // Those with the shortest fullest cycle, and the experiment's own; where none fits, one that shows by how much.
  std::vector<Placed> placements(const Shares& shares, const RunSetup& setup, ReplicaStages& stages) {
    std::vector<LayerPlacement> lists;
    if (shares.ipus == base_.ipus_per_replica) lists.push_back(base_.placement);
    if (!request_.fixes("ipu.layers_per_ipu") && in_one_stack()) {
      const auto best = partition(stages, [&](std::size_t part, std::int64_t first, std::int64_t count) {
        return std::optional<Bytes>(stages.held(setup, part, first, count));
      });
      if (best) {
        for (const std::vector<std::int64_t>& counts : best->counts) lists.push_back({counts, counts});
      }
    }
    const LayerPlacement even = even_placement(stages.least_layers());
    if (!request_.fixes("ipu.layers_per_ipu") && !in_one_stack()) lists.push_back(even);
    std::vector<Placed> fitting;
    for (const LayerPlacement& list : lists) {
      const bool known = std::any_of(fitting.begin(), fitting.end(), [&](const Placed& placed) {
        return placed.layers.attention == list.attention && placed.layers.feed_forward == list.feed_forward;
      });
      if (known) continue;
      if (std::optional<Placed> placed = with_proportions(list, setup, stages)) fitting.push_back(std::move(*placed));
    }
    if (!fitting.empty()) return fitting;
    return {leanest(request_.fixes("ipu.layers_per_ipu") ? base_.placement : even, stages)};
  }

  // What is left over stands on the last IPUs.
  LayerPlacement even_placement(std::vector<std::int64_t> counts) const {
    std::int64_t left = plan_->graph.layers;
    for (const std::int64_t count : counts) left -= count;
    for (; left > 0; --left) ++*std::min_element(counts.rbegin(), counts.rend());
    return {counts, counts};
  }

  // Empty: some IPU has no proportion that fits.
  std::optional<Placed> with_proportions(const LayerPlacement& list, const RunSetup& setup,
                                         const ReplicaStages& stages) const {
    Placed placed{list, {}, SimTime()};
    for (std::size_t ipu = 0; ipu < list.attention.size(); ++ipu) {
      const StageLoad load = stages.load(list, ipu);
      const std::optional<std::size_t> choice = fastest(load, ipu, stages.held(setup, list, ipu));
      if (!choice) return std::nullopt;
      placed.proportion.push_back(proportions_[*choice]);
      placed.longest = std::max(placed.longest, load.time[*choice]);
    }
    return placed;
  }

  Placed leanest(const LayerPlacement& list, const ReplicaStages& stages) const {
    Placed placed{list, {}, SimTime()};
    for (std::size_t ipu = 0; ipu < list.attention.size(); ++ipu) {
      const std::size_t least = allowed(ipu).front();
      placed.proportion.push_back(proportions_[least]);
      placed.longest = std::max(placed.longest, stages.load(list, ipu).time[least]);
    }
    return placed;
  }

  // ---- for people

  std::vector<SearchDimension> dimensions() const;
  std::vector<std::string> notes() const;

  std::shared_ptr<const Plan> plan_;
  const IpuPlan& ipu_plan_;
  SearchRequest request_;
  const RunSetup& base_;
  const SystemConstants& system_;
  std::vector<double> proportions_;
  std::vector<std::int64_t> factors_;
  double pace_ = 1;  // of the fastest IPU, where some have another than theirs
  std::map<std::int64_t, std::unique_ptr<MicroBatch>> micro_batches_;
  std::map<std::int64_t, SimTime> least_work_;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t, bool, bool, std::int64_t>,
           std::unique_ptr<ReplicaStages>>
      stages_;
};

std::vector<SearchDimension> TrainingSpace::dimensions() const {
  std::vector<SearchDimension> all;
  const auto add = [&](const char* key, std::string values) {
    all.push_back({key, request_.fixes(key) ? "" : std::move(values)});
  };
  const std::int64_t ipus = system_.ipus * plan_->nodes;
  add("ipu.ipus_per_replica", ranges_text(replica_sizes()));
  add("ipu.replication_factor", fmt::format("every number that {} IPUs can run", ipus));
  add("workload.micro_batch_size", fmt::format("1 to {}", micro_batches().back()));
  add("ipu.gradient_accumulation_steps", "what the global batch leaves");
  add("ipu.layers_per_ipu", in_one_stack() ? "the contiguous partitions with the shortest fullest cycle that fit"
                                           : "even splits, and the experiment's own");
  add("ipu.matmul_proportion", fmt::format("the fastest that fits on each IPU, of {}", fmt::join(proportions_, ", ")));
  if (convolutional()) {
    add("ipu.recompute_segments", "none, 2 to 16, every block");
  } else {
    add("workload.recompute", "true, false");
    add("ipu.recompute_checkpoint_every_layer", "true, false");
  }
  if (plan_->graph.vocabulary > 0) add("ipu.embedding_serialization_factor", ranges_text(factors_));
  add("ipu.optimizer_state_offchip", system_.has_streaming_memory ? "true, false" : "false");
  add("ipu.replicated_tensor_sharding", "true, false");
  return all;
}

std::vector<std::string> TrainingSpace::notes() const {
  std::vector<std::string> notes;
  if (ipu_plan_.written.half_layers) {
    notes.emplace_back("half-layer placements are tried as the experiment has them, all others with whole layers");
  }
  if (!in_one_stack()) {
    notes.emplace_back("layers of an encoder and a decoder are split evenly or as the experiment has them");
  }
  return notes;
}

}  // namespace

SearchSpace training_space(const std::shared_ptr<const Plan>& plan, const SearchRequest& request) {
  return std::make_shared<TrainingSpace>(plan, request)->space();
}

}  // namespace podsim::ipu
