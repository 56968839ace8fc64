#include "models/ipu/resolve/resolve.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>

#include "models/ipu/config/ipu_config.hpp"
#include "models/ipu/lowering/shared_parts.hpp"
#include "models/ipu/placement/ipu_placement.hpp"
#include "models/ipu/resolve/resolve_inference.hpp"
#include "models/ipu/resolve/resolve_network.hpp"
#include "models/workloads/encoder_decoder.hpp"
#include "sim/plan/model_kind.hpp"

namespace podsim::ipu {
namespace {

// An embedding behind the layers of an encoder.
bool has_decoder_embedding(const ModelGraph& graph) {
  const auto in_layer = [](const Block& block) { return block.layer >= 0; };
  const auto first = std::find_if(graph.blocks.begin(), graph.blocks.end(), in_layer);
  return std::any_of(first, graph.blocks.end(), [](const Block& block) { return block.kind == BlockKind::embedding; });
}

OuterBlocks outer_blocks(const ModelGraph& graph) {
  const bool all_in_layers =
      std::none_of(graph.blocks.begin(), graph.blocks.end(), [](const Block& block) { return block.layer < 0; });
  if (all_in_layers) return OuterBlocks::in_list;
  if (graph.head_placement == HeadPlacement::last_device) return OuterBlocks::head_on_last_ipu;
  return has_decoder_embedding(graph) ? OuterBlocks::head_with_decoder : OuterBlocks::head_on_first_ipu;
}

bool has_projection(const ModelGraph& graph) {
  return std::any_of(graph.blocks.begin(), graph.blocks.end(),
                     [](const Block& block) { return block.holds_vocabulary; });
}

bool has_tied_table(const ModelGraph& graph) {
  return std::any_of(graph.blocks.begin(), graph.blocks.end(), [](const Block& block) {
    return std::any_of(block.parameters.begin(), block.parameters.end(),
                       [](const ParameterTensor& tensor) { return tensor.tied; });
  });
}

class Resolver {
 public:
  Resolver(FamilyContext& context, Diagnostics& diagnostics, std::shared_ptr<SharedParts> parts)
      : context_(context), diagnostics_(diagnostics) {
    plan_->parts = std::move(parts);
  }

  std::unique_ptr<IpuPlan> resolve() {
    read_constants();
    // Settings with a problem are marked, so that the checks against model and system can still report theirs.
    const std::shared_ptr<const SharedConfig> shared = read_config();
    IpuConfig own;  // without training, with what follows from the rest of the experiment
    if (!training()) {
      own = shared->config;
      prepare_inference(context_, own, diagnostics_);
    }
    const IpuConfig& config = training() ? shared->config : own;
    resolve_formats(config);
    const std::optional<Placement> placement = check_against(config, request(), diagnostics_);
    check_slowdown();
    check_hosts();
    warn_of_idle_pace(config);
    check_streaming_memory(config);
    check_loss_scaling(config);
    if (placement) check_batch(config, *placement);
    if (placement) warn_of_idle_ipus(config, *placement);
    if (placement) check_network(context_, config, *placement, diagnostics_);
    if (!placement || diagnostics_.has_errors()) return nullptr;
    fill_setup(config, *placement);
    fill_network(context_, config, *plan_);
    if (!training()) fill_inference(context_, config, *plan_, diagnostics_);
    if (!config.version.known() && (!training() || config.from_file)) {
      plan_->version_note = "version of optimum-graphcore not known: documented defaults";
    }
    plan_->config_keys =
        training() ? std::shared_ptr<const std::vector<ResolvedKey>>(shared, &shared->training_keys)
                   : std::make_shared<const std::vector<ResolvedKey>>(resolved_keys(config, context_.settings.mode));
    if (config.instances.given) {
      plan_->last_keys.push_back({"ipu.instances", std::to_string(placement->instances), config.instances.origin});
    }
    return std::move(plan_);
  }

 private:
  bool training() const { return context_.settings.mode == RunMode::training; }

  void read_constants() {
    const std::shared_ptr<const SharedConstants> shared =
        plan_->parts->constants(context_.constants, context_.model_kind.convolution_network());
    plan_->constants = shared->constants;
    plan_->costs = shared->costs;
    plan_->constant_ids = shared->ids;
  }

  // The [ipu] table and the file it names, of this plan or of an earlier one; always there.
  std::shared_ptr<const SharedConfig> read_config() {
    const std::string pod = pod_name(context_.system, context_.nodes);
    const SoftwareConstants& software = plan_->constants.software;
    const std::string variant =
        fmt::format("{} {:d} {:d} {:d}", pod, software.state_off_chip, software.state_sharded, has_own_network_state());
    std::shared_ptr<const SharedConfig> config = plan_->parts->config(context_.section, variant);
    if (config == nullptr) {
      auto fresh = std::make_shared<SharedConfig>();
      fresh->config = resolve_ipu_config(merge_ipu_section(context_.section, fresh->found, pod), fresh->found);
      place_optimizer_state(fresh->config);
      if (!fresh->found.has_errors()) fresh->training_keys = resolved_keys(fresh->config, RunMode::training);
      plan_->parts->keep(context_.section, variant, fresh);
      config = std::move(fresh);
    }
    diagnostics_.append(config->found);
    return config;
  }

  // What the workload leaves to the machine's own configuration.
  void resolve_formats(const IpuConfig& config) {
    WorkloadSettings& settings = context_.settings;
    std::string origin = "experiment";
    if (settings.precision.empty()) {
      const bool half = plan_->constants.chip.half_partials && config.enable_half_partials.value;
      settings.precision = half ? "fp16.16" : "fp16.32";
      origin = plan_->constants.chip.half_partials
                   ? fmt::format("enable_half_partials: {}", config.enable_half_partials.origin)
                   : "the rate of this chip does not depend on partial sums";
    } else if (settings.precision == "fp16.16" && !plan_->constants.chip.half_partials) {
      diagnostics_.error(context_.section.place(), "workload.precision",
                         "\"fp16.16\" is not a multiply mode of this chip", "fp16.32 or fp32");
    }
    if (origin == "experiment" && plan_->constants.chip.half_partials) {
      warn_overruled(config, config.enable_half_partials, "enable_half_partials", settings.precision == "fp16.16",
                     "workload.precision = \"" + settings.precision + "\"");
    }
    plan_->resolved_keys.push_back({"workload.precision", "\"" + settings.precision + "\"", origin});
    if (settings.precision == "bf16" || settings.precision == "fp8") {
      diagnostics_.error(
          context_.section.place(), "workload.precision",
          fmt::format("\"{}\" is not a {} of this chip", settings.precision, training() ? "training format" : "format"),
          "fp16.16, fp16.32 or fp32");
    }
    if (!training()) return;
    origin = "experiment";
    if (settings.first_moment_bytes == 0) {
      settings.first_moment_bytes = config.enable_half_first_order_momentum.value ? 2 : 4;
      origin = fmt::format("enable_half_first_order_momentum: {}", config.enable_half_first_order_momentum.origin);
    }
    const char* format = settings.first_moment_bytes == 2 ? "\"float16\"" : "\"float32\"";
    if (origin == "experiment") {
      warn_overruled(config, config.enable_half_first_order_momentum, "enable_half_first_order_momentum",
                     settings.first_moment_bytes == 2, fmt::format("workload.first_moment_format = {}", format));
    }
    plan_->resolved_keys.push_back({"workload.first_moment_format", format, origin});
  }

  // Two keys of the experiment that say the same thing in different ways.
  void warn_overruled(const IpuConfig& config, const Setting<bool>& flag, const std::string& key, bool decided,
                      const std::string& by) {
    if (!config.by_hand.contains(key) || !flag.valid || flag.value == decided) return;
    diagnostics_.warning(flag.place, "ipu." + key, fmt::format("no effect: {} decides", by),
                         decided ? "true" : "false");
  }

  PlacementRequest request() {
    const ModelGraph graph = graph_of(context_);
    const SystemConstants& system = plan_->constants.system;
    PlacementRequest request;
    request.mode = context_.settings.mode;
    request.model_type = std::string(context_.model_kind.type());
    request.layers = graph.layers;
    request.layer_names = graph.layer_names;
    request.outer = outer_blocks(graph);
    request.encoder_layers = encoder_layers(graph);
    request.vocabulary = graph.vocabulary;
    host_input_ = graph.host_input;
    request.projects = has_projection(graph);
    request.tied_projection = has_tied_table(graph);
    request.system_name = display_name(context_.system);
    request.system_ipus = system.ipus * context_.nodes;
    request.pod_ipus = system.ipus_per_pod;
    request.micro_batch_size = context_.settings.micro_batch_size;
    request.dataset_samples = context_.settings.dataset_samples;
    request.dataset_place = context_.section.place();
    return request;
  }

  // Counts of samples stay exact, in doubles too.
  void check_batch(const IpuConfig& config, const Placement& placement) {
    constexpr double k_most = 1e15;
    const double samples =
        static_cast<double>(context_.settings.micro_batch_size) * static_cast<double>(placement.replication_factor) *
        static_cast<double>(placement.gradient_accumulation) * static_cast<double>(placement.device_iterations);
    if (samples <= k_most) return;
    const bool accumulation = placement.gradient_accumulation >= placement.device_iterations;
    const Place& place =
        accumulation ? config.gradient_accumulation_steps.place : config.training.device_iterations.place;
    diagnostics_.error(place, accumulation ? "ipu.gradient_accumulation_steps" : "ipu.device_iterations",
                       fmt::format("{:.3g} samples in one host call", samples), "at most 1e15");
  }

  void warn_of_idle_ipus(const IpuConfig& config, const Placement& placement) {
    const std::int64_t ipus = plan_->constants.system.ipus * context_.nodes;
    if (placement.reserved_ipus >= ipus) return;
    const Setting<std::int64_t>& replicas = config.of(context_.settings.mode).replication_factor;
    diagnostics_.warning(replicas.place, training() ? "ipu.replication_factor" : "ipu.inference_replication_factor",
                         fmt::format("{} of {} IPUs stay idle with {} replica{} of {}", ipus - placement.reserved_ipus,
                                     ipus, placement.replication_factor, placement.replication_factor == 1 ? "" : "s",
                                     placement.ipus_per_replica),
                         fmt::format("up to {}", ipus / placement.ipus_per_replica));
  }

  void check_slowdown() {
    const std::int64_t ipus = plan_->constants.system.ipus * context_.nodes;
    plan_->slowdown.assign(static_cast<std::size_t>(ipus), 1.0);
    for (const auto& [device, factor] : context_.slowdown) {
      bool known = false;
      for (std::int64_t ipu = 0; ipu < ipus; ++ipu) {
        if (device != fmt::format("ipu{}", ipu)) continue;
        plan_->slowdown[static_cast<std::size_t>(ipu)] = factor;
        known = true;
      }
      if (!known) {
        diagnostics_.error(context_.section.place(), "system.slowdown." + device, "no such device",
                           fmt::format("ipu0 to ipu{}", ipus - 1));
      }
    }
  }

  void check_hosts() {
    constexpr std::int64_t k_hosts_per_pod = 4;
    const SystemConstants& system = plan_->constants.system;
    const std::int64_t pods = std::max<std::int64_t>(1, system.ipus / system.ipus_per_pod);
    const std::int64_t most = std::min(system.machines, k_hosts_per_pod * pods);
    if (system.hosts >= 1 && system.hosts <= most) return;
    const char* key = "system.hosts";
    diagnostics_.error(context_.constants[*context_.constants.find(key)].place, key,
                       fmt::format("{} is no number of hosts for {} machine{} in {} pod{}", system.hosts,
                                   system.machines, system.machines == 1 ? "" : "s", pods, pods == 1 ? "" : "s"),
                       fmt::format("1 to {}, at most {} for a pod", most, k_hosts_per_pod));
  }

  bool has_own_network_state() const {
    return context_.model_kind.convolution_network() && context_.constants.find(k_network_state).has_value();
  }

  // Without a file or a version to follow, as the software's own examples do.
  void place_optimizer_state(IpuConfig& config) const {
    if (context_.section.find("config") != nullptr || config.version.known()) return;
    const SoftwareConstants& software = plan_->constants.software;
    Setting<bool>& off_chip = config.optimizer_state_offchip;
    if (!off_chip.given && off_chip.valid) {
      off_chip.value = software.state_off_chip;
      off_chip.origin =
          fmt::format("default: {}", has_own_network_state() ? k_network_state : "software.optimizer_state");
    }
    Setting<bool>& sharding = config.replicated_tensor_sharding;
    if (sharding.given || !sharding.valid || !software.state_sharded) return;
    sharding.value = true;
    sharding.origin = fmt::format("default: {}", k_state_sharding);
  }

  // The pace of the host processes needs the number of them, and what a sample takes each.
  void warn_of_idle_pace(const IpuConfig& config) {
    const Setting<std::int64_t>& instances = config.instances;
    const bool images = context_.model_kind.convolution_network();
    const char* const pace = images ? k_image_pace : "software.instance_sample_time";
    const std::optional<ConstantId> found = context_.constants.find(pace);
    if (instances.given && (!training() || !found)) {
      diagnostics_.warning(instances.place, "ipu.instances",
                           fmt::format("no effect on the time: {}; only the limit of 64 IPUs per instance is checked",
                                       training() ? fmt::format("this software has no {}", pace)
                                                  : std::string("the pace of host processes limits training only")),
                           training() ? fmt::format("{}, such as \"59 us\"", pace) : "");
    }
    if (!found || context_.constants[*found].confidence != "user" || (training() && instances.given)) return;
    diagnostics_.warning(context_.constants[*found].place, pace,
                         training() ? "no effect without ipu.instances, the number of host processes"
                                    : "no effect in inference: the pace of host processes limits training only",
                         training() ? "ipu.instances" : "");
  }

  void check_streaming_memory(const IpuConfig& config) {
    const Setting<bool>& off_chip = config.optimizer_state_offchip;
    if (plan_->constants.system.has_streaming_memory || !off_chip.valid || !off_chip.value) return;
    if (optimizer_state_bytes(context_.settings) == 0) return;
    diagnostics_.error(off_chip.place, "ipu.optimizer_state_offchip",
                       fmt::format("is true{}, but a {} has no Streaming Memory to hold the optimizer state",
                                   off_chip.given ? "" : " by default", display_name(context_.system)),
                       "false");
  }

  void check_loss_scaling(const IpuConfig& config) {
    const Setting<bool>& scaling = config.auto_loss_scaling;
    if (!training() || !scaling.valid || !scaling.value || context_.settings.precision != "fp32") return;
    diagnostics_.error(scaling.place, "ipu.auto_loss_scaling", "tracks float16 gradients, and fp32 has none", "false");
  }

  void fill_setup(const IpuConfig& config, const Placement& placement) {
    RunSetup& setup = plan_->setup;
    setup.run = context_.settings.mode;
    setup.placement = placement.layers;
    setup.ipus_per_replica = placement.ipus_per_replica;
    setup.replication_factor = placement.replication_factor;
    setup.gradient_accumulation_steps = placement.gradient_accumulation;
    setup.device_iterations = placement.device_iterations;
    if (training() && config.instances.given) setup.instances = placement.instances;
    plan_->accumulation_by_default = training() && config.gradient_accumulation_steps.origin.starts_with("default");
    setup.matmul_proportion = placement.matmul_proportion;
    setup.embedding_serialization_factor = config.of(setup.run).embedding_passes();
    setup.projection_serialization_factor = config.of(setup.run).projection_passes();
    setup.projection_follows_embedding =
        !config.of(setup.run).projection_splits.given && !config.of(setup.run).projection_serialization_factor.given;
    setup.auto_loss_scaling = training() && config.auto_loss_scaling.value;
    setup.optimizer_state_offchip = training() && config.optimizer_state_offchip.value;
    setup.replicated_tensor_sharding = placement.replicated_tensor_sharding;
    setup.recompute_checkpoint_every_layer = training() && config.recompute_checkpoint_every_layer.value;
    setup.mode = amp_mode(context_.settings.precision);
    const ModeSettings& inference = config.inference;
    plan_->evaluation_ipus = static_cast<std::int64_t>(std::bit_ceil(
        static_cast<std::uint64_t>(inference.ipus_per_replica.value * inference.replication_factor.value)));
    plan_->written = {config.n_ipu.given, training() && config.half_layers(), config.io_tiles.given,
                      config.of(setup.run).embedding_splits.value, config.of(setup.run).projection_splits.value};
    plan_->pod = {setup.replication_factor, setup.ipus_per_replica, placement.reserved_ipus, !training(), 1, {}};
    const Duration feed = host_process_time(setup, context_.settings, plan_->constants.software);
    if (feed > Duration() && host_input_ > Bytes()) plan_->pod.host_process = host_input_.size() / feed;
  }

  FamilyContext& context_;
  Diagnostics& diagnostics_;
  std::unique_ptr<IpuPlan> plan_ = std::make_unique<IpuPlan>();
  Bytes host_input_;  // of a micro-batch
};

}  // namespace

std::unique_ptr<IpuPlan> resolve_plan(FamilyContext& context, Diagnostics& diagnostics,
                                      std::shared_ptr<SharedParts> parts) {
  if (parts == nullptr) parts = std::make_shared<SharedParts>();
  return Resolver(context, diagnostics, std::move(parts)).resolve();
}

std::string pod_name(const std::string& system, std::int64_t systems) {
  std::string name = system.substr(system.rfind('/') + 1);
  if (name.ends_with(".toml")) name.resize(name.size() - 5);
  if (name.starts_with("bow-")) name.erase(0, 4);
  return systems == 1 && name.starts_with("pod") ? name : "";
}

std::string display_name(const std::string& system) {
  std::string name = system.substr(system.rfind('/') + 1);
  if (name.ends_with(".toml")) name.resize(name.size() - 5);
  bool word_begins = true;
  for (char& c : name) {
    if (c == '-') c = ' ';
    if (word_begins && c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
    word_begins = c == ' ';
  }
  return name;
}

}  // namespace podsim::ipu
