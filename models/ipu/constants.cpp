#include "models/ipu/constants.hpp"

#include "sim/core/check.hpp"

namespace podsim::ipu {

namespace {

// The names of the modes in constants, by AmpMode.
constexpr std::array<const char*, k_amp_modes> k_mode_names = {"fp16_16", "fp16_32", "fp32"};

LinkConstants read_links(ConstantReader& reader) {
  LinkConstants links;
  links.neighbour_bandwidth = reader.bandwidth("system.ipu_link.bandwidth");
  links.message_latency = reader.time("system.ipu_link.latency");
  links.ring_bandwidth = reader.bandwidth("system.ring.bandwidth");
  links.ring_latency = links.message_latency;
  links.gateway_bandwidth = links.ring_bandwidth * reader.number("system.gateway.factor");
  links.gateway_latency = reader.time("system.gateway.latency");
  links.streaming_bandwidth = reader.bandwidth("system.streaming.bandwidth");
  links.streaming_memory = reader.data("system.streaming.memory");
  links.streaming_memory_per_ipu = reader.data("system.streaming.memory_per_ipu");
  links.host_bandwidth = reader.bandwidth("system.host.bandwidth");
  links.host_latency = reader.time("system.host.latency");
  links.host_output_bandwidth = reader.bandwidth("system.host.output_bandwidth");
  links.host_link_bandwidth = reader.bandwidth("system.host_link.bandwidth");
  links.machines_per_host_link = reader.count("system.host_link.machines");
  return links;
}

}  // namespace

AmpMode amp_mode(const std::string& precision) {
  if (precision == "fp16.16" || precision == "fp8") return AmpMode::half_half;
  if (precision == "fp16.32") return AmpMode::half_single;
  PODSIM_CHECK(precision == "fp32", "no multiply mode for precision " + precision);
  return AmpMode::single;
}

std::int64_t element_bytes(AmpMode mode) {
  return mode == AmpMode::single ? 4 : 2;
}

ChipConstants read_chip_constants(ConstantReader& reader) {
  ChipConstants chip;
  chip.tiles = reader.count("chip.tiles");
  chip.tile_memory = reader.data("chip.tile_memory");
  // Sums over the tiles, and over the IPUs of a system, stay exact.
  constexpr double k_most = 1e15;
  if (static_cast<double>(chip.tiles) * static_cast<double>(chip.tile_memory.count()) > k_most) {
    reader.refuse("chip.tile_memory", "times chip.tiles is more memory than can be counted",
                  "at most 1e15 bytes on all tiles");
  }
  chip.clock = reader.clock("chip.clock");
  chip.half_partials = reader.has("chip.peak.fp16_16");
  for (std::size_t i = 0; i < k_amp_modes; ++i) {
    const auto half_half = static_cast<std::size_t>(AmpMode::half_half);
    const std::size_t mode = i == half_half && !chip.half_partials ? static_cast<std::size_t>(AmpMode::half_single) : i;
    chip.peak[i] = reader.flop_rate(std::string("chip.peak.") + k_mode_names[mode]);
  }
  if (reader.has("chip.peak.fp8")) chip.peak_fp8 = reader.flop_rate("chip.peak.fp8");
  return chip;
}

CostConstants read_cost_constants(ConstantReader& reader) {
  CostConstants cost;
  cost.pass = reader.cycle_count("cost.pass");
  cost.pass_exchange = reader.cycle_count("cost.pass_exchange");
  cost.launch = reader.cycle_count("cost.launch");
  cost.launch_sync = reader.cycle_count("cost.launch_sync");
  cost.misaligned = reader.cycle_count("cost.misaligned");
  cost.lookup = reader.cycle_count("cost.lookup");
  cost.optimizer_passes = reader.number("cost.optimizer.passes");
  cost.optimizer_launches_lamb = reader.count("cost.optimizer.launches_lamb");
  cost.optimizer_launches_other = reader.count("cost.optimizer.launches_other");
  if (cost.pass_exchange > cost.pass) {
    reader.refuse("cost.pass_exchange", "is a part of cost.pass, and more than it", "at most cost.pass");
  }
  if (cost.launch_sync > cost.launch) {
    reader.refuse("cost.launch_sync", "is a part of cost.launch, and more than it", "at most cost.launch");
  }
  return cost;
}

LossScalingConstants read_loss_scaling_constants(ConstantReader& reader) {
  LossScalingConstants scaling;
  scaling.by_data = reader.cycle_count("cost.loss_scaling.by_data");
  scaling.by_limit = reader.cycle_count("cost.loss_scaling.by_limit");
  scaling.four_elements = reader.cycle_count("cost.loss_scaling.four_elements");
  scaling.remainder = reader.cycle_count("cost.loss_scaling.remainder");
  scaling.reduction = reader.cycle_count("cost.loss_scaling.reduction");
  return scaling;
}

SystemConstants read_system_constants(ConstantReader& reader) {
  SystemConstants system;
  system.ipus = reader.count("system.ipus");
  system.ipus_per_machine = reader.count("system.ipus_per_machine");
  system.machines = reader.count("system.machines");
  system.hosts = reader.count("system.hosts");
  system.ipus_per_pod = reader.count("system.ipus_per_pod");
  if (reader.has("system.optimizer_state_memory")) {
    system.has_streaming_memory = reader.text("system.optimizer_state_memory") != "on-chip";
  }
  if (reader.has("system.machine_power")) system.machine_power = reader.power("system.machine_power");
  if (system.ipus != system.machines * system.ipus_per_machine && system.ipus >= system.ipus_per_machine) {
    reader.refuse("system.ipus", "is not system.machines times system.ipus_per_machine",
                  std::to_string(system.machines * system.ipus_per_machine));
  }
  system.links = read_links(reader);
  system.sharding_minimum_elements = reader.count("system.sharding.minimum_elements");
  return system;
}

bool read_state_off_chip(ConstantReader& reader, const std::string& name) {
  const std::string state = reader.text(name);
  if (state != "off-chip" && state != "on-chip") {
    reader.refuse(name, "is no place for optimizer state", "off-chip or on-chip");
  }
  return state == "off-chip";
}

SoftwareConstants read_software_constants(ConstantReader& reader) {
  SoftwareConstants software;
  software.framework_factor = reader.number("software.framework_factor");
  software.state_off_chip = read_state_off_chip(reader, "software.optimizer_state");
  if (reader.has(k_state_sharding)) {
    const std::string sharding = reader.text(k_state_sharding);
    if (sharding != "on" && sharding != "off") reader.refuse(k_state_sharding, "is neither on nor off", "on or off");
    software.state_sharded = sharding == "on";
  }
  software.update_overhead = reader.time("software.update_overhead");
  software.call_overhead = reader.time("software.call_overhead");
  if (reader.has("software.instance_sample_time")) {
    software.instance_sample_time = reader.time("software.instance_sample_time");
  }
  return software;
}

MemoryConstants read_memory_constants(ConstantReader& reader) {
  MemoryConstants memory;
  memory.code_base = reader.data("memory.code.base");
  memory.code_per_layer = reader.data("memory.code.per_layer");
  memory.embedding_and_head_layers = reader.number("memory.code.embedding_and_head_layers");
  memory.code_off_chip = reader.data("memory.code.off_chip_state");
  memory.code_replicated = reader.data("memory.code.replicated");
  memory.code_inference_factor = reader.number("memory.code.inference_factor");
  memory.loss_scaling = reader.data("memory.loss_scaling.any");
  memory.loss_scaling_embedding = reader.data("memory.loss_scaling.embedding");
  memory.usable_fraction = reader.number("memory.usable_fraction");
  if (!(memory.usable_fraction > 0 && memory.usable_fraction <= 1)) {
    reader.refuse("memory.usable_fraction", "is no part of the memory", "more than 0 and at most 1");
  }
  memory.host_stream = reader.data("memory.host_stream");
  memory.plan_tolerance = reader.number("memory.plan_tolerance");
  return memory;
}

}  // namespace podsim::ipu
