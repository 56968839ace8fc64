#include "models/rdu/constants.hpp"

#include "sim/core/check.hpp"

namespace podsim::rdu {

namespace {

OffChipMemory read_memory(ConstantReader& reader, const std::string& prefix) {
  return {reader.data(prefix + ".capacity"), reader.bandwidth(prefix + ".bandwidth")};
}

SectionConstants read_section_constants(ConstantReader& reader) {
  SectionConstants section;
  section.efficiency = reader.number("cost.section.efficiency");
  section.tuned_efficiency = reader.number("cost.section.tuned_efficiency");
  section.issue_interval = reader.time("cost.section.issue_interval");
  section.program_load = reader.time("cost.section.program_load");
  section.argument_load = reader.time("cost.section.argument_load");
  section.operators = reader.number("cost.section.operators");
  section.resident_forward = reader.data("cost.section.resident_forward");
  section.resident_backward = reader.data("cost.section.resident_backward");
  section.resident_update = reader.data("cost.section.resident_update");
  section.tiles_per_call = reader.count("cost.section.tiles_per_call");
  section.retry_factor = reader.number("cost.section.retry_factor");
  if (section.retry_factor >= 1) reader.refuse("cost.section.retry_factor", "lowers nothing", "a number below 1");
  return section;
}

IsolatedConstants read_isolated_constants(ConstantReader& reader) {
  return {reader.number("cost.isolated.efficiency"), reader.number("cost.isolated.memory_efficiency")};
}

CompileConstants read_compile_constants(ConstantReader& reader) {
  CompileConstants compile;
  compile.base = reader.time("cost.compile.base");
  compile.section = reader.time("cost.compile.section");
  compile.single_operator = reader.time("cost.compile.operator");
  compile.reuse = reader.number("cost.compile.reuse");
  compile.spread = reader.number("cost.compile.spread");
  if (compile.spread < 1) reader.refuse("cost.compile.spread", "makes an interval without its middle", "1 or more");
  return compile;
}

HostConstants read_host_constants(ConstantReader& reader) {
  HostConstants host;
  host.profiled_step = reader.time("cost.host.profiled_step");
  host.profiled_step_o0 = reader.time("cost.host.profiled_step_o0");
  host.profiled_growth = reader.number("cost.host.profiled_growth");
  host.profiled_rest = reader.time("cost.host.profiled_rest");
  host.production_gap = reader.time("cost.host.production_gap");
  return host;
}

PrecisionConstants read_precision_constants(ConstantReader& reader) {
  PrecisionConstants precision;
  precision.single_accumulation = reader.number("cost.precision.single_accumulation");
  precision.single_weight_gradients = reader.number("cost.precision.single_weight_gradients");
  precision.without_mixed_precision = reader.number("cost.precision.without_mixed_precision");
  return precision;
}

ServingConstants read_serving_constants(ConstantReader& reader) {
  ServingConstants serving;
  serving.hbm_efficiency = reader.number("cost.serving.hbm_efficiency");
  serving.legacy_efficiency = reader.number("cost.serving.legacy_efficiency");
  serving.layer = reader.time("cost.serving.layer");
  serving.layer_request = reader.time("cost.serving.layer_request");
  serving.shortest_context = reader.count("cost.serving.shortest_context");
  serving.start_tokens = reader.count("cost.serving.start_tokens");
  serving.prompt_bucket = reader.count("cost.serving.prompt_bucket");
  serving.switch_efficiency = reader.number("cost.serving.switch_efficiency");
  return serving;
}

}  // namespace

ChipConstants read_chip_constants(ConstantReader& reader) {
  ChipConstants chip;
  chip.dies = reader.count("chip.dies");
  chip.tiles = reader.count("chip.tiles");
  chip.pcus = reader.count("chip.pcus");
  chip.pmus = reader.count("chip.pmus");
  chip.pmu_memory = reader.data("chip.pmu_memory");
  chip.peak_bf16 = reader.flop_rate("chip.peak.bf16");
  chip.ddr = read_memory(reader, "chip.ddr");
  if (chip.tiles % chip.dies != 0) {
    reader.refuse("chip.dies", "does not divide the tiles of the chip", "a divisor of chip.tiles");
  }
  if (reader.has("chip.hbm.capacity")) chip.hbm = read_memory(reader, "chip.hbm");
  chip.host_link = reader.bandwidth("chip.host_link.bandwidth");
  chip.peer_link = reader.bandwidth("chip.peer_link.bandwidth");
  return chip;
}

SystemConstants read_system_constants(ConstantReader& reader) {
  SystemConstants system;
  system.rdus = reader.count("system.rdus");
  system.hosts = reader.count("system.hosts");
  system.network = reader.bandwidth("system.network.bandwidth");
  system.node_network = reader.bandwidth("system.node_network.bandwidth");
  system.exposed_reduction = reader.number("system.tensor_parallel.exposed");
  return system;
}

RduConstants read_rdu_constants(ConstantReader& reader) {
  RduConstants constants;
  constants.chip = read_chip_constants(reader);
  constants.system = read_system_constants(reader);
  constants.section = read_section_constants(reader);
  constants.isolated = read_isolated_constants(reader);
  constants.compile = read_compile_constants(reader);
  constants.host = read_host_constants(reader);
  constants.precision = read_precision_constants(reader);
  constants.serving = read_serving_constants(reader);
  constants.o1_enabling_flag = reader.count("software.o1_enabling_flag") != 0;
  return constants;
}

Bytes OffChipMemory::capacity_of(double share) const {
  return Bytes(static_cast<std::int64_t>(static_cast<double>(capacity.count()) * share));
}

Allotment allot(const ChipConstants& chip, std::int64_t tiles, std::int64_t chips) {
  PODSIM_CHECK(tiles >= 1 && tiles <= chip.tiles && chips >= 1, "more tiles than the chip has, or none");
  const double part = static_cast<double>(tiles) / static_cast<double>(chip.tiles) * static_cast<double>(chips);
  Allotment allotment;
  allotment.chips = part;
  allotment.peak = chip.peak_bf16 * part;
  allotment.sram = Bytes(chip.sram().count() * tiles / chip.tiles * chips);
  allotment.ddr = chip.ddr.bandwidth * part;
  allotment.pcus = chip.pcus * tiles / chip.tiles * chips;
  return allotment;
}

}  // namespace podsim::rdu
