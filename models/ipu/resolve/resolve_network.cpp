#include "models/ipu/resolve/resolve_network.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "models/ipu/resolve/recompute_checkpoints.hpp"
#include "sim/plan/model_kind.hpp"

namespace podsim::ipu {
namespace {

bool trains(const FamilyContext& context) {
  return context.settings.mode == RunMode::training;
}

// Why a key of these networks changes nothing here; empty: it does.
std::string idle_reason(const FamilyContext& context) {
  if (!trains(context)) return "there is no training";
  if (!context.model_kind.convolution_network()) return "the model is no network of convolutions";
  return {};
}

void check_segments(const FamilyContext& context, const IpuConfig& config, const Placement& placement,
                    Diagnostics& diagnostics) {
  const Setting<std::int64_t>& segments = config.recompute_segments;
  if (!segments.given || !segments.valid || segments.value == 0) return;
  const char* key = "ipu.recompute_segments";
  std::string idle = idle_reason(context);
  if (idle.empty() && placement.ipus_per_replica > 1) idle = "a pipeline recomputes stage by stage";
  if (idle.empty() && !context.settings.recompute) idle = "workload.recompute is false";
  if (!idle.empty()) return diagnostics.warning(segments.place, key, "no effect: " + idle, "0");
  if (context.settings.activation_checkpoint_format == "float8") {
    diagnostics.warning(segments.place, "workload.activation_checkpoint_format",
                        "no effect: what enters a segment of a network is kept as it is", "float16");
  }
  const auto blocks =
      static_cast<std::int64_t>(context.model_kind.build(context.shape, context.settings).blocks.size());
  if (segments.value <= blocks) return;
  diagnostics.error(segments.place, key, fmt::format("{} segments of {} blocks", segments.value, blocks),
                    fmt::format("1 to {}, or -1 for one each", blocks));
}

void check_checkpoints(const FamilyContext& context, const IpuConfig& config, const Placement& placement,
                       Diagnostics& diagnostics) {
  const Setting<std::vector<std::string>>& names = config.recompute_checkpoints;
  if (!names.given || !names.valid || names.value.empty()) return;
  const char* key = "ipu.recompute_checkpoints";
  std::string idle = idle_reason(context);
  if (idle.empty() && placement.ipus_per_replica > 1) idle = "a pipeline recomputes stage by stage";
  if (idle.empty() && !context.settings.recompute) idle = "workload.recompute is false";
  if (!idle.empty()) return diagnostics.warning(names.place, key, "no effect: " + idle, "none");
  if (config.recompute_segments.given && config.recompute_segments.value != 0) {
    diagnostics.error(names.place, key, "says in another way what ipu.recompute_segments says", "one of the two");
  }
  cuts_behind(names, context.model_kind.build(context.shape, context.settings), diagnostics);
}

void check_norms(const FamilyContext& context, const IpuConfig& config, const Placement& placement,
                 Diagnostics& diagnostics) {
  const Setting<std::int64_t>& replicas = config.distributed_batch_norm_replicas;
  if (!replicas.given || !replicas.valid || replicas.value == 1) return;
  const char* key = "ipu.distributed_batch_norm_replicas";
  if (const std::string idle = idle_reason(context); !idle.empty()) {
    return diagnostics.warning(replicas.place, key, "no effect: " + idle, "1");
  }
  if (placement.replication_factor % replicas.value == 0) return;
  diagnostics.error(replicas.place, key,
                    fmt::format("{} replica{} cannot share their norms in groups of {}", placement.replication_factor,
                                placement.replication_factor == 1 ? "" : "s", replicas.value),
                    "a divisor of replication_factor");
}

// Replicas of one IPU are neighbours on a ring of their own.
void read_one_ipu_ring(const FamilyContext& context, IpuPlan& plan) {
  ConstantReader reader(context.constants);
  LinkConstants& links = plan.constants.system.links;
  links.ring_bandwidth = reader.bandwidth("system.ring.one_ipu_bandwidth");
  links.ring_latency = reader.time("system.ring.one_ipu_latency");
  links.gateway_bandwidth = reader.bandwidth("system.gateway.one_ipu_bandwidth");
  links.one_ring = true;
  std::vector<ConstantId> read = reader.read_ids();
  read.insert(read.end(), plan.constant_ids.begin(), plan.constant_ids.end());
  std::sort(read.begin(), read.end());
  read.erase(std::unique(read.begin(), read.end()), read.end());
  plan.constant_ids = std::move(read);
}

}  // namespace

void read_network_constants(ConstantReader& reader, IpuConstants& constants) {
  SoftwareConstants& software = constants.software;
  const std::string prefix = "software.convolution.";
  if (reader.has(prefix + "framework_factor")) {
    software.framework_factor = reader.number(prefix + "framework_factor");
  }
  if (reader.has(prefix + "update_overhead")) software.update_overhead = reader.time(prefix + "update_overhead");
  if (reader.has(prefix + "call_overhead")) software.call_overhead = reader.time(prefix + "call_overhead");
  if (reader.has(k_network_state)) software.state_off_chip = read_state_off_chip(reader, k_network_state);
  software.state_sharded = false;         // no such network was published with it
  software.instance_sample_time.reset();  // that of a sequence is not that of an image
  if (reader.has(k_image_pace)) software.instance_sample_time = reader.time(k_image_pace);
  constants.memory.code_convolution =
      reader.data(reader.has(prefix + "code") ? prefix + "code" : "memory.code.convolution");
  constants.memory.convolution_kinds = reader.count("memory.code.convolution_kinds");
  constants.system.links.norm_exchange_latency = reader.time("system.norm_exchange.latency");
  constants.cost.optimizer_passes_momentum = reader.number("cost.network.optimizer.passes");
  constants.cost.optimizer_launches_momentum = reader.count("cost.network.optimizer.launches_momentum");
  constants.cost.optimizer_launches_lars = reader.count("cost.network.optimizer.launches_lars");
  constants.operators = read_operator_constants(reader);
}

void check_network(const FamilyContext& context, const IpuConfig& config, const Placement& placement,
                   Diagnostics& diagnostics) {
  check_segments(context, config, placement, diagnostics);
  check_checkpoints(context, config, placement, diagnostics);
  check_norms(context, config, placement, diagnostics);
}

void fill_network(const FamilyContext& context, const IpuConfig& config, IpuPlan& plan) {
  if (!idle_reason(context).empty()) return;
  RunSetup& setup = plan.setup;
  const std::vector<std::string>& names = config.recompute_checkpoints.value;
  if (setup.ipus_per_replica == 1 && context.settings.recompute && !names.empty()) {
    Diagnostics none;  // checked before
    setup.recompute_cuts =
        cuts_behind(config.recompute_checkpoints, context.model_kind.build(context.shape, context.settings), none);
    plan.resolved_keys.push_back({"ipu.recompute_checkpoints", fmt::format("[\"{}\"]", fmt::join(names, "\", \"")),
                                  config.recompute_checkpoints.origin});
  } else if (setup.ipus_per_replica == 1 && context.settings.recompute) {
    setup.recompute_segments = config.recompute_segments.value;
    plan.resolved_keys.push_back(
        {"ipu.recompute_segments", std::to_string(setup.recompute_segments), config.recompute_segments.origin});
  }
  if (setup.ipus_per_replica == 1) read_one_ipu_ring(context, plan);
  plan.pod.norm_replicas = config.distributed_batch_norm_replicas.value;
  setup.distributed_batch_norm_replicas = config.distributed_batch_norm_replicas.value;
  plan.resolved_keys.push_back({"ipu.distributed_batch_norm_replicas",
                                std::to_string(setup.distributed_batch_norm_replicas),
                                config.distributed_batch_norm_replicas.origin});
}

}  // namespace podsim::ipu
