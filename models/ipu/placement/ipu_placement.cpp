#include "models/ipu/placement/ipu_placement.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "models/ipu/config/idle_keys.hpp"
#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/placement/encoder_decoder_cut.hpp"
#include "models/ipu/placement/ipu_devices.hpp"
#include "models/ipu/placement/serialization_checks.hpp"

namespace podsim::ipu {
namespace {

std::int64_t sum(const std::vector<std::int64_t>& values) {
  return std::accumulate(values.begin(), values.end(), std::int64_t{0});
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
    warn_of_other_mode(config_, request_.mode, found_);
    place_layers();
    if (placed_ && !training()) check_encoder_decoder(mode_, request_, placement_.layers.attention, found_);
    check_conditional_encoder();
    check_mode_options();
    placement_.vocabulary = check_serialization(config_, request_, found_);
    check_sharding();
    if (placed_) count_stages();
    check_devices(config_, request_, placement_, found_);
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
           mode_.projection_serialization_factor.valid && mode_.embedding_splits.valid &&
           mode_.projection_splits.valid && config_.gradient_accumulation_steps.valid && config_.n_ipu.valid &&
           config_.io_tiles.valid;
  }

  void take_sizes() {
    placement_.ipus_per_replica = mode_.ipus_per_replica.value;
    placement_.replication_factor = mode_.replication_factor.value;
    placement_.device_iterations = mode_.device_iterations.value;
    placement_.gradient_accumulation = training() ? config_.gradient_accumulation_steps.value : 1;
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
    placement_.layers = {list, list, decoder_embedding()};
    placed_ = true;
  }

  // Whisper keeps the decoder's embedding, and the projection that shares its table, on the IPU of the projection's
  // splits, of which it allows one (optimum-graphcore modeling_whisper.py, 0.7).
  std::optional<int> decoder_embedding() const {
    const std::vector<std::int64_t>& splits = mode_.projection_splits.value;
    const auto filled = std::find_if(splits.begin(), splits.end(), [](std::int64_t count) { return count > 0; });
    const bool follows = request_.outer == OuterBlocks::head_with_decoder && mode_.projection_splits.valid;
    if (!follows || filled == splits.end()) return std::nullopt;
    return static_cast<int>(filled - splits.begin());
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

  // Whisper's encoder under a condition shares one IPU with the decoder (optimum-graphcore modeling_whisper.py).
  void check_conditional_encoder() {
    const Setting<std::int64_t>& ipus = config_.inference.ipus_per_replica;
    if (request_.model_type != "whisper" || !mode_.conditional_encoder.value || !ipus.valid || ipus.value == 1) return;
    found_.error(ipus.place, "ipu.inference_ipus_per_replica",
                 fmt::format("is {}{}, but with use_cond_encoder the encoder and the decoder share one IPU", ipus.value,
                             ipus.given ? "" : " by default"),
                 "inference_ipus_per_replica = 1");
  }

  void check_sharding() {
    const Setting<bool>& sharding = config_.replicated_tensor_sharding;
    if (!training() || !sharding.valid || !sharding.value || !mode_.replication_factor.valid) return;
    if (placement_.replication_factor > 1) {
      placement_.replicated_tensor_sharding = true;
      return;
    }
    if (!sharding.given) return;
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
    const bool with_decoder = request_.outer == OuterBlocks::head_with_decoder;
    std::size_t embedding = 0;
    std::int64_t behind = 0;  // layers on the IPUs so far
    for (std::size_t i = 0; i <= last; ++i) {
      const std::int64_t before = behind;
      behind += placement_.layers.attention[i];
      if (with_decoder && before <= request_.encoder_layers && behind > request_.encoder_layers) {
        if (before < request_.encoder_layers) visit(i);
        embedding = static_cast<std::size_t>(placement_.layers.decoder_embedding.value_or(static_cast<int>(i)));
        visit(embedding);
      }
      const bool moved = i == 0 && placement_.last_ffn_on_first_ipu;
      if (placement_.layers.attention[i] + placement_.layers.feed_forward[i] - (moved ? 1 : 0) > 0) visit(i);
    }
    const std::size_t before_head = visits.size();
    const bool at_end = request_.outer == OuterBlocks::head_on_last_ipu;
    if (request_.outer != OuterBlocks::in_list) visit(at_end ? last : embedding);
    const bool returns = !at_end && visits.size() > before_head;
    placement_.forward_stages = static_cast<std::int64_t>(std::max<std::size_t>(1, visits.size()));
    placement_.stages = training() ? 2 * placement_.forward_stages - 1 : placement_.forward_stages;
    const std::optional<std::size_t> head_returns_to = returns ? std::optional(embedding) : std::nullopt;
    training() ? check_accumulation(head_returns_to) : check_inference_fill(head_returns_to);
    check_io_tiles();
  }

  // poptorch, options.py and Compiler.cpp: overlapping host copies need sharded or phased execution.
  void check_io_tiles() {
    const Setting<std::int64_t>& tiles = config_.io_tiles;
    if (!tiles.given || !tiles.valid || placement_.forward_stages == 1) return;
    if (!training() && (request_.mode == RunMode::generation || config_.always_sharded_inference() ||
                        config_.sharded_execution_for_inference.value)) {
      return;
    }
    found_.error(tiles.place, "ipu.io_tiles",
                 fmt::format("host copies cannot overlap with compute in pipelined execution, and this pipeline has {}",
                             plural(placement_.stages, "stage")),
                 training() ? "no io_tiles, or one IPU per replica" : "no io_tiles, or sharded execution");
  }

  std::string head_remark(std::optional<std::size_t> head_returns_to) const {
    if (!head_returns_to) return "";
    return fmt::format(" (the head returns to IPU {} and makes the {} forward stage)", *head_returns_to,
                       ordinal(placement_.forward_stages));
  }

  void check_accumulation(std::optional<std::size_t> head_returns_to) {
    const Setting<std::int64_t>& accumulation = config_.gradient_accumulation_steps;
    if (!accumulation.valid || accumulation.value >= placement_.stages) return;
    found_.error(accumulation.place, "ipu.gradient_accumulation_steps",
                 fmt::format("gradient_accumulation_steps is {}{}, but this pipeline has {} forward and {} training "
                             "stages",
                             accumulation.value, accumulation.given ? "" : " by default", placement_.forward_stages,
                             placement_.stages),
                 fmt::format("at least {}{}", placement_.stages, head_remark(head_returns_to)));
  }

  // A version that is not known is taken to follow its documentation, which pipelines unless told to shard.
  // Generation runs one iteration per call, one stage after the other.
  void check_inference_fill(std::optional<std::size_t> head_returns_to) {
    const Setting<bool>& sharded = config_.sharded_execution_for_inference;
    const Setting<std::int64_t>& iterations = mode_.device_iterations;
    if (request_.mode == RunMode::generation || config_.always_sharded_inference()) return;
    if (!sharded.valid || sharded.value || !iterations.valid) return;
    if (iterations.value >= placement_.forward_stages) return;
    found_.error(
        iterations.place, key("device_iterations"),
        fmt::format("{}{} is below the pipeline's stages, {}{}", iterations.value,
                    iterations.given ? "" : " by default", placement_.forward_stages, head_remark(head_returns_to)),
        fmt::format("at least {}, or sharded_execution_for_inference = true", placement_.forward_stages));
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
                   fmt::format("{} are fewer than one host call takes: {} = {}; the incomplete batch is dropped and "
                               "nothing runs",
                               plural(*request_.dataset_samples, "sample"),
                               call_factors(batch, placement_.replication_factor, placement_.gradient_accumulation,
                                            placement_.device_iterations),
                               call));
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
