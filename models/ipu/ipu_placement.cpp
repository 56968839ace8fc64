#include "models/ipu/ipu_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <numeric>

namespace podsim::ipu {
namespace {

constexpr std::int64_t k_instance_ipus = 64;  // poptorch CompilerImpl.cpp

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
}

std::string plural(std::int64_t n, const char* noun) {
  return fmt::format("{} {}{}", n, noun, n == 1 ? "" : "s");
}

std::string ordinal(std::int64_t n) {
  const std::int64_t tens = n % 100;
  if (tens >= 11 && tens <= 13) return fmt::format("{}th", n);
  switch (n % 10) {
    case 1:
      return fmt::format("{}st", n);
    case 2:
      return fmt::format("{}nd", n);
    case 3:
      return fmt::format("{}rd", n);
    default:
      return fmt::format("{}th", n);
  }
}

class Checker {
 public:
  Checker(const IpuConfig& config, const PlacementRequest& request, Diagnostics& diagnostics)
      : config_(config), request_(request), mode_(config.of(request.mode)), diagnostics_(diagnostics) {}

  std::optional<Placement> run() {
    take_sizes();
    place_layers();
    check_mode_options();
    check_vocabulary();
    check_sharding();
    if (placed_) count_stages();
    check_devices();
    check_dataset();
    diagnostics_.append(found_);
    if (found_.has_errors() || !placed_ || !all_valid()) return std::nullopt;
    return std::move(placement_);
  }

 private:
  bool training() const { return request_.mode == RunMode::training; }
  std::string key(const char* name) const { return "ipu." + mode_.prefix + name; }

  bool all_valid() const {
    return mode_.ipus_per_replica.valid && mode_.replication_factor.valid && mode_.device_iterations.valid &&
           mode_.matmul_proportion.valid && mode_.embedding_serialization_factor.valid &&
           config_.gradient_accumulation_steps.valid;
  }

  void take_sizes() {
    placement_.ipus_per_replica = mode_.ipus_per_replica.value;
    placement_.replication_factor = mode_.replication_factor.value;
    placement_.device_iterations = mode_.device_iterations.value;
    placement_.gradient_accumulation = training() ? config_.gradient_accumulation_steps.value : 1;
    placement_.vocabulary = request_.vocabulary;
    if (!mode_.ipus_per_replica.valid || !mode_.matmul_proportion.valid) return;
    placement_.matmul_proportion = mode_.matmul_proportion.value;
    const std::size_t ipus = static_cast<std::size_t>(placement_.ipus_per_replica);
    std::vector<double>& proportions = placement_.matmul_proportion;
    if (proportions.size() == 1) proportions.assign(ipus, mode_.matmul_proportion.value[0]);
  }

  // Layers

  std::string layers_of_model() const {
    std::string text = plural(request_.layers, "layer");
    if (!request_.layer_names.empty()) text += " (" + request_.layer_names + ")";
    return text;
  }

  void place_layers() {
    if (!mode_.ipus_per_replica.valid) return;
    if (training() && config_.half_layers()) {
      place_half_layers();
    } else if (placement_.ipus_per_replica == 1) {
      place_on_one();
    } else if (mode_.layers_per_ipu.valid) {
      place_whole_layers();
    }
  }

  void place_on_one() {
    const Setting<std::vector<std::int64_t>>& list = mode_.layers_per_ipu;
    const bool wild = std::find(list.value.begin(), list.value.end(), -1) != list.value.end();
    if (list.given && list.valid && !wild && sum(list.value) != request_.layers) {
      found_.warning(list.place, key("layers_per_ipu"),
                     fmt::format("{} is ignored: with one IPU per replica all {} stand on it", list_text(list.value),
                                 layers_of_model()));
    }
    placement_.layers = {{request_.layers}, {request_.layers}};
    placed_ = true;
  }

  void place_whole_layers() {
    std::vector<std::int64_t> list = mode_.layers_per_ipu.value;
    const std::int64_t ipus = placement_.ipus_per_replica;
    const std::int64_t wildcards = std::count(list.begin(), list.end(), -1);
    if (wildcards == static_cast<std::int64_t>(list.size()) && wildcards != ipus) {
      if (wildcards > 1) {
        found_.warning(mode_.layers_per_ipu.place, key("layers_per_ipu"),
                       fmt::format("{} is spread evenly over {} IPUs", list_text(list), ipus), "[-1]");
      }
      list.assign(static_cast<std::size_t>(ipus), -1);
    }
    if (!fill(list)) return;
    placement_.layers = {list, list};
    placed_ = true;
  }

  // Replaces wildcards: equal shares, what is left over goes to the last of them.
  bool fill(std::vector<std::int64_t>& list) {
    const std::int64_t ipus = placement_.ipus_per_replica;
    const std::int64_t wildcards = std::count(list.begin(), list.end(), -1);
    const std::string written = list_text(mode_.layers_per_ipu.value);
    const auto fail = [&](std::string problem, std::string expected) {
      found_.error(mode_.layers_per_ipu.place, key("layers_per_ipu"), std::move(problem), std::move(expected));
      return false;
    };
    if (static_cast<std::int64_t>(list.size()) != ipus) {
      return fail(
          fmt::format("{} mixes wildcards and counts, with {} for {}", written,
                      list.size() == 1 ? "1 entry" : fmt::format("{} entries", list.size()), plural(ipus, "IPU")),
          fmt::format("{} entries, or [-1]", ipus));
    }
    const std::int64_t fixed = sum(list) + wildcards;
    const std::int64_t left = request_.layers - fixed;
    if (wildcards == 0 && left != 0) {
      return fail(fmt::format("{} places {}, but the model has {}", written, plural(fixed, "layer"), layers_of_model()),
                  fmt::format("a sum of {}", request_.layers));
    }
    if (left < 0) {
      return fail(fmt::format("the counts of {} place {}, but the model has {}", written, plural(fixed, "layer"),
                              layers_of_model()),
                  fmt::format("at most {} beside the wildcards", request_.layers));
    }
    std::int64_t open = wildcards;
    for (std::int64_t& count : list) {
      if (count != -1) continue;
      --open;
      count = left / wildcards + (open == 0 ? left % wildcards : 0);
    }
    return true;
  }

  void place_half_layers() {
    const Setting<std::vector<std::int64_t>>& attention = config_.attention_layers_per_ipu;
    const Setting<std::vector<std::int64_t>>& ffn = config_.ffn_layers_per_ipu;
    if (!attention.valid || !ffn.valid) return;
    bool sums_right = true;
    for (const auto* list : {&attention, &ffn}) {
      const std::int64_t placed = sum(list->value);
      if (placed == request_.layers) continue;
      sums_right = false;
      found_.error(list->place, list == &attention ? "ipu.attention_layers_per_ipu" : "ipu.ffn_layers_per_ipu",
                   fmt::format("{} places {}, but the model has {}", list_text(list->value),
                               plural(placed, "half layer"), layers_of_model()),
                   fmt::format("a sum of {}", request_.layers));
    }
    if (!sums_right || !check_half_order()) return;
    placement_.layers = {attention.value, ffn.value};
    placed_ = true;
  }

  // A stage may end between the halves of one layer. A model whose head returns to IPU 0 may keep the last
  // feed-forward half there too: then IPU 0 holds one more than its place in the order allows.
  bool check_half_order() {
    const std::vector<std::int64_t>& attention = config_.attention_layers_per_ipu.value;
    const std::vector<std::int64_t>& ffn = config_.ffn_layers_per_ipu.value;
    const std::optional<std::size_t> wrong = first_out_of_order(0);
    if (!wrong) return true;
    const bool head_returns = request_.outer == OuterBlocks::head_on_first_ipu && attention.size() > 1;
    if (head_returns && ffn[0] > 0 && !first_out_of_order(1)) {
      placement_.last_ffn_on_first_ipu = true;
      return true;
    }
    found_.error(config_.ffn_layers_per_ipu.place, "ipu.ffn_layers_per_ipu",
                 fmt::format("{} does not follow {}: after IPU {} the attention halves must be as many as the "
                             "feed-forward halves, or one more",
                             list_text(ffn), list_text(attention), *wrong),
                 "halves in the order of the layers");
    return false;
  }

  std::optional<std::size_t> first_out_of_order(std::int64_t moved) const {
    std::int64_t ahead = moved;  // attention halves without their feed-forward half
    for (std::size_t i = 0; i < config_.attention_layers_per_ipu.value.size(); ++i) {
      ahead += config_.attention_layers_per_ipu.value[i] - config_.ffn_layers_per_ipu.value[i];
      if (ahead < 0 || ahead > 1) return i;
    }
    return std::nullopt;
  }

  // Options

  void check_mode_options() {
    if (training()) return;
    const Setting<bool>& scaling = config_.auto_loss_scaling;
    if (scaling.valid && scaling.value) {
      found_.error(scaling.place, "ipu.auto_loss_scaling", "inference has no loss to scale", "false");
    }
    const Setting<std::int64_t>& accumulation = config_.gradient_accumulation_steps;
    if (accumulation.valid && accumulation.value != 1) {
      found_.warning(accumulation.place, "ipu.gradient_accumulation_steps",
                     fmt::format("{} is taken as 1 in inference", accumulation.value));
    }
  }

  void check_vocabulary() {
    const Setting<std::int64_t>& factor = mode_.embedding_serialization_factor;
    if (request_.vocabulary == 0 || !factor.valid || !mode_.embedding_splits.value.empty()) return;
    const std::int64_t rest = request_.vocabulary % factor.value;
    if (rest == 0) return;
    if (request_.model_type == "gpt2") {
      placement_.vocabulary += factor.value - rest;
      return;
    }
    found_.error(factor.place, key("embedding_serialization_factor"),
                 fmt::format("a vocabulary of {} is not divisible by {}", request_.vocabulary, factor.value),
                 fmt::format("a divisor, or model.vocab_size = {}", request_.vocabulary + factor.value - rest));
  }

  void check_sharding() {
    const Setting<bool>& sharding = config_.replicated_tensor_sharding;
    if (!training() || !sharding.valid || !sharding.value || !mode_.replication_factor.valid) return;
    if (placement_.replication_factor > 1) {
      placement_.replicated_tensor_sharding = true;
      return;
    }
    found_.warning(sharding.place, "ipu.replicated_tensor_sharding",
                   "no effect with replication_factor 1: there are no replicas to share the state",
                   "replication_factor above 1");
  }

  // Stages

  void count_stages() {
    const std::size_t last = placement_.layers.attention.size() - 1;
    std::vector<std::size_t> visits;
    const auto visit = [&](std::size_t ipu) {
      if (visits.empty() || visits.back() != ipu) visits.push_back(ipu);
    };
    if (request_.outer != OuterBlocks::in_list) visit(0);
    for (std::size_t i = 0; i <= last; ++i) {
      const bool moved = i == 0 && placement_.last_ffn_on_first_ipu;
      if (placement_.layers.attention[i] + placement_.layers.feed_forward[i] - (moved ? 1 : 0) > 0) visit(i);
    }
    const std::size_t before_head = visits.size();
    if (request_.outer == OuterBlocks::head_on_first_ipu) visit(0);
    if (request_.outer == OuterBlocks::head_on_last_ipu) visit(last);
    const bool returns = request_.outer == OuterBlocks::head_on_first_ipu && visits.size() > before_head;
    placement_.forward_stages = static_cast<std::int64_t>(std::max<std::size_t>(1, visits.size()));
    placement_.stages = training() ? 2 * placement_.forward_stages - 1 : placement_.forward_stages;
    training() ? check_accumulation(returns) : check_inference_fill();
  }

  void check_accumulation(bool returns) {
    const Setting<std::int64_t>& accumulation = config_.gradient_accumulation_steps;
    if (!accumulation.valid || accumulation.value >= placement_.stages) return;
    std::string expected = fmt::format("at least {}", placement_.stages);
    if (returns) {
      expected += fmt::format(" (the head returns to IPU 0 and makes the {} forward stage)",
                              ordinal(placement_.forward_stages));
    }
    found_.error(accumulation.place, "ipu.gradient_accumulation_steps",
                 fmt::format("gradient_accumulation_steps is {}{}, but this pipeline has {} forward and {} training "
                             "stages",
                             accumulation.value, accumulation.given ? "" : " by default", placement_.forward_stages,
                             placement_.stages),
                 std::move(expected));
  }

  // A version that is not known is taken to follow its documentation, which pipelines unless told to shard.
  // Generation runs one iteration per call, one stage after the other.
  void check_inference_fill() {
    const Setting<bool>& sharded = config_.sharded_execution_for_inference;
    const Setting<std::int64_t>& iterations = mode_.device_iterations;
    if (request_.mode == RunMode::generation || config_.always_sharded_inference()) return;
    if (!sharded.valid || sharded.value || !iterations.valid) return;
    if (iterations.value >= placement_.forward_stages) return;
    found_.error(
        iterations.place, key("device_iterations"),
        fmt::format("{}device_iterations is {}{}: device iterations below the pipeline's stages ({})", mode_.prefix,
                    iterations.value, iterations.given ? "" : " by default", placement_.forward_stages),
        fmt::format("at least {}, or sharded_execution_for_inference = true", placement_.forward_stages));
  }

  // Devices

  void check_devices() {
    if (!mode_.ipus_per_replica.valid) return;
    const std::int64_t ipus = placement_.ipus_per_replica;
    const std::int64_t have = request_.system_ipus;
    if (ipus > have) {
      found_.error(mode_.ipus_per_replica.place, key("ipus_per_replica"),
                   fmt::format("a pipeline of {} does not fit on a {} with {}", plural(ipus, "IPU"),
                               request_.system_name, plural(have, "IPU")),
                   fmt::format("at most {}", have));
      return;
    }
    const std::int64_t in_pod = pod_ipus();
    if (ipus > in_pod) {
      found_.error(mode_.ipus_per_replica.place, key("ipus_per_replica"),
                   fmt::format("a pipeline of {} does not fit into one pod: on a {} IPU-Links join {} at a time",
                               plural(ipus, "IPU"), request_.system_name, plural(in_pod, "IPU")),
                   fmt::format("at most {}", in_pod));
      return;
    }
    if (!mode_.replication_factor.valid) return;
    const std::int64_t replicas = placement_.replication_factor;
    if (replicas > have / ipus) {
      found_.error(mode_.replication_factor.place, key("replication_factor"),
                   fmt::format("{} of {} do not fit: on a {} with a {}-IPU pipeline, {}replication_factor must be "
                               "between 1 and {}",
                               plural(replicas, "replica"), plural(ipus, "IPU"), request_.system_name, ipus,
                               mode_.prefix, have / ipus));
      return;
    }
    placement_.used_ipus = ipus * replicas;
    placement_.reserved_ipus =
        static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(placement_.used_ipus)));
    check_pods();
    check_reserved();
    check_instances();
  }

  // A system of one pod has no boundary that a replica could straddle.
  std::int64_t pod_ipus() const { return request_.pod_ipus > 0 ? request_.pod_ipus : request_.system_ipus; }

  // Replicas that take more than one pod fill each alike, so that the rings of all pods have as many members.
  void check_pods() {
    const std::int64_t ipus = placement_.ipus_per_replica;
    const std::int64_t in_pod = pod_ipus();
    if (placement_.used_ipus <= in_pod) return;
    if (in_pod % ipus != 0) {
      found_.error(mode_.ipus_per_replica.place, key("ipus_per_replica"),
                   fmt::format("replicas of {} do not divide a pod of {}, and none may straddle two pods",
                               plural(ipus, "IPU"), in_pod),
                   fmt::format("a divisor of {}", in_pod));
      return;
    }
    const std::int64_t rest = placement_.replication_factor % (in_pod / ipus);
    if (rest == 0) return;
    found_.error(mode_.replication_factor.place, key("replication_factor"),
                 fmt::format("{} do not fill pods of {} alike: {} in the last",
                             plural(placement_.replication_factor, "replica"), in_pod / ipus, rest),
                 fmt::format("a multiple of {}", in_pod / ipus));
  }

  void check_reserved() {
    const std::int64_t used = placement_.used_ipus;
    const std::int64_t reserved = placement_.reserved_ipus;
    if (reserved > request_.system_ipus) {
      found_.error(
          mode_.replication_factor.place, key("replication_factor"),
          fmt::format("{} would be reserved for the {} in use, since device counts are powers of two, but a {} "
                      "has {}",
                      plural(reserved, "IPU"), used, request_.system_name, request_.system_ipus));
      return;
    }
    if (reserved != used) {
      found_.warning(mode_.ipus_per_replica.place, key("ipus_per_replica"),
                     fmt::format("{} are reserved for the {} in use, since device counts are powers of two: {} idle",
                                 plural(reserved, "IPU"), used, plural(reserved - used, "IPU")));
    }
  }

  void check_instances() {
    const std::int64_t reserved = placement_.reserved_ipus;
    const std::int64_t needed = (reserved + k_instance_ipus - 1) / k_instance_ipus;
    const Setting<std::int64_t>& instances = config_.instances;
    placement_.instances = instances.given ? instances.value : needed;
    if (!instances.given || !instances.valid) return;
    if (instances.value < needed) {
      found_.error(instances.place, "ipu.instances",
                   fmt::format("{} in {}; one drives at most {}", plural(reserved, "IPU"),
                               plural(instances.value, "instance"), k_instance_ipus),
                   fmt::format("a distributed run of at least {}", plural(needed, "instance")));
    } else if (placement_.replication_factor % instances.value != 0) {
      found_.error(instances.place, "ipu.instances",
                   fmt::format("{} do not share out among {}", plural(placement_.replication_factor, "replica"),
                               plural(instances.value, "instance")),
                   fmt::format("a divisor of {}", placement_.replication_factor));
    }
  }

  void check_dataset() {
    if (!request_.dataset_samples || !mode_.replication_factor.valid || !mode_.device_iterations.valid ||
        !config_.gradient_accumulation_steps.valid) {
      return;
    }
    const std::int64_t batch = request_.micro_batch_size;
    const std::int64_t call =
        batch * placement_.replication_factor * placement_.gradient_accumulation * placement_.device_iterations;
    if (*request_.dataset_samples >= call) return;
    found_.warning(request_.dataset_place, "workload.dataset_samples",
                   fmt::format("{} are fewer than one host call takes: micro-batch {} × {} × accumulation {} × device "
                               "iterations {} = {}; the incomplete batch is dropped and nothing runs",
                               plural(*request_.dataset_samples, "sample"), batch,
                               plural(placement_.replication_factor, "replica"), placement_.gradient_accumulation,
                               placement_.device_iterations, call));
  }

  const IpuConfig& config_;
  const PlacementRequest& request_;
  const ModeSettings& mode_;
  Diagnostics& diagnostics_;
  Diagnostics found_;
  Placement placement_;
  bool placed_ = false;
};

}  // namespace

std::optional<Placement> check_against(const IpuConfig& config, const PlacementRequest& request,
                                       Diagnostics& diagnostics) {
  return Checker(config, request, diagnostics).run();
}

}  // namespace podsim::ipu
