#include "models/rdu/section_lowering.hpp"

#include <algorithm>

namespace podsim::rdu {
namespace {

CostCategory category_of(const CompiledGraph& graph, const RduSection& section) {
  if (section.phase >= RduPhase::gradient_norm) return CostCategory::weight_update;
  const bool again = std::ranges::all_of(section.operators, [&](OperatorId op) { return graph.graph[op].recomputed; });
  return again && !section.operators.empty() ? CostCategory::recompute : CostCategory::compute;
}

}  // namespace

SectionLowering::SectionLowering(const RduPlan& plan, const WorkloadSettings& settings, const LowerOptions& options)
    : plan_(plan),
      setup_(plan.setup),
      node_(build_node(plan)),
      fold_(fold_replicas(node_, plan.slowdown, options.fold)),
      builder_(options.storage) {
  if (fold_.folded) fold_id_ = builder_.fold(fold_.map);
  const std::vector<MemoryAccountEntry> entries = all_entries(plan, settings);
  for (const MemoryAccountEntry& entry : entries) builder_.memory_category(entry.category);
  tensors_ = builder_.memory_category(k_tensors);
  const ChipConstants& chip = plan.constants.chip;
  const Bytes fast = chip.hbm ? chip.hbm->capacity_of(share_of_chip()) : Bytes();
  const Tiers tiers = spread(entries, fast);
  for (const auto& parts : node_.replicas) {
    for (const PartResources& part : parts) {
      for (const MemoryAccountEntry& entry : tiers.fast) add_always_live(part.hbm, entry);
      for (const MemoryAccountEntry& entry : tiers.slow) add_always_live(part.ddr, entry);
    }
  }
}

double SectionLowering::share_of_chip() const {
  return static_cast<double>(setup_.tiles_per_part) / static_cast<double>(plan_.constants.chip.tiles);
}

void SectionLowering::add_always_live(MemoryId memory, const MemoryAccountEntry& entry) {
  if (entry.always_live) builder_.always_live(memory, builder_.memory_category(entry.category), entry.bytes);
}

void SectionLowering::add_sections(const CompiledGraph& graph, RduPhase first, RduPhase last,
                                   std::vector<ProgramBlock>& blocks) {
  const GraphMemory memory = tensor_memory(graph.graph, graph.partition);
  for (std::size_t section = 0; section < graph.partition.sections.size(); ++section) {
    const RduPhase phase = graph.partition.sections[section].phase;
    if (phase >= first && phase <= last) add_section(graph, memory, section, blocks);
  }
}

void SectionLowering::add_section(const CompiledGraph& graph, const GraphMemory& memory, std::size_t section,
                                  std::vector<ProgramBlock>& blocks) {
  const RduSection& cut = graph.partition.sections[section];
  SegmentBuilder segment = folded_segment(std::string(phase_name(cut.phase)) + ": " + cut.name);
  for (const std::size_t replica : fold_.simulated) {
    for (const PartResources& part : node_.replicas[replica]) add_part(segment, part, graph, memory, section);
  }
  blocks.emplace_back(builder_.add(std::move(segment)));
  if (setup_.tensor_parallel != TensorParallel::weight || setup_.parts == 1) return;
  for (const OperatorId op : cut.operators) {
    const Bytes partial = graph.graph[op].partial_sum;
    if (partial > Bytes()) add_part_reduction("activation all-reduce", partial, blocks);
  }
}

void SectionLowering::add_part(SegmentBuilder& segment, const PartResources& part, const CompiledGraph& graph,
                               const GraphMemory& memory, std::size_t section) {
  const RduSection& cut = graph.partition.sections[section];
  const SectionTime& time = graph.times[section];
  const auto loaded = [&](Duration duration, const char* label) {
    CostVector cost;
    cost[CostCategory::launch] = slowed(duration, part.device);
    return segment.local(part.device, cost, label);
  };
  const OpId program = loaded(plan_.rates.program_load, "program load");
  const OpId arguments = loaded(plan_.rates.argument_load, "argument load");
  const OpId done = segment.join("section done");
  segment.depend(arguments, done);
  const TierBytes bytes = plan_.tiers.traffic(graph.work[section], cut.phase);
  const auto move = [&](RouteId port, Bytes size) {
    if (size == Bytes()) return;
    const OpId moved =
        segment.transfer(part.device, DeviceId::none(), port, size, CostCategory::off_chip_memory, "tensors");
    segment.depend(arguments, moved);
    segment.depend(moved, done);
  };
  move(part.port, bytes.hbm);
  move(part.ddr_port, bytes.ddr);
  if (time.compute > Duration()) {
    CostVector cost;
    cost[category_of(graph, cut)] = slowed(time.compute, part.device);
    segment.depend(segment.local(part.device, cost, cut.name), done);
  }
  if (node_.platform[part.issue].latency > SimTime()) {
    const OpId issued = segment.transfer(part.device, DeviceId::none(), part.issue, Bytes(), CostCategory::launch,
                                         "host launches next");
    segment.depend(arguments, issued);
  }
  const MemoryId where = plan_.tiers.tensors_in_hbm ? part.hbm : part.ddr;
  if (memory.begins[section] > Bytes()) segment.memory_at_start(program, where, tensors_, memory.begins[section]);
  if (memory.ends[section] > Bytes()) {
    segment.memory_at_finish(done, where, tensors_, Bytes(-memory.ends[section].count()));
  }
}

void SectionLowering::add_part_reduction(const std::string& name, Bytes bytes, std::vector<ProgramBlock>& blocks) {
  const Bytes chunk((bytes.count() + setup_.parts - 1) / setup_.parts);
  SegmentBuilder segment = folded_segment(name + " step");
  const LabelId label = builder_.label(name);
  for (const std::size_t replica : fold_.simulated) {
    const std::vector<PartResources>& parts = node_.replicas[replica];
    for (std::size_t part = 0; part < parts.size(); ++part) {
      segment.transfer(parts[part].device, parts[(part + 1) % parts.size()].device, parts[part].peer, chunk,
                       CostCategory::collective, label);
    }
  }
  blocks.emplace_back(Repeat{2 * (setup_.parts - 1), name, {builder_.add(std::move(segment))}});
}

// Not folded: each hop leads to the next replica.
void SectionLowering::add_replica_reduction(const std::string& name, Bytes bytes, std::vector<ProgramBlock>& blocks) {
  const Bytes chunk((bytes.count() + setup_.replicas - 1) / setup_.replicas);
  SegmentBuilder segment = builder_.segment(name + " step");
  const LabelId label = builder_.label(name);
  for (std::size_t replica = 0; replica < node_.replicas.size(); ++replica) {
    const std::vector<PartResources>& next = node_.replicas[(replica + 1) % node_.replicas.size()];
    for (std::size_t part = 0; part < next.size(); ++part) {
      const PartResources& own = node_.replicas[replica][part];
      segment.transfer(own.device, next[part].device, own.network, chunk, CostCategory::collective, label);
    }
  }
  blocks.emplace_back(Repeat{2 * (setup_.replicas - 1), name, {builder_.add(std::move(segment))}});
}

SegmentId SectionLowering::fixed_time(const std::string& name, Duration time, CostCategory category) {
  SegmentBuilder segment = folded_segment(name);
  CostVector cost;
  cost[category] = to_sim_time(time);
  for (const std::size_t replica : fold_.simulated) {
    for (const PartResources& part : node_.replicas[replica]) segment.local(part.device, cost, name);
  }
  return builder_.add(std::move(segment));
}

SegmentId SectionLowering::moved(const std::string& name, Bytes bytes, RouteId PartResources::*route,
                                 CostCategory category) {
  SegmentBuilder segment = folded_segment(name);
  for (const std::size_t replica : fold_.simulated) {
    for (const PartResources& part : node_.replicas[replica]) {
      segment.transfer(part.device, DeviceId::none(), part.*route, bytes, category, name);
    }
  }
  return builder_.add(std::move(segment));
}

SegmentBuilder SectionLowering::folded_segment(const std::string& name) {
  SegmentBuilder segment = builder_.segment(name);
  if (fold_.folded) segment.fold(fold_id_);
  return segment;
}

SimTime SectionLowering::slowed(Duration time, DeviceId device) const {
  return to_sim_time(time * plan_.slowdown[device.index()]);
}

Lowered SectionLowering::finish(std::vector<ProgramBlock> blocks) {
  Lowered lowered{std::move(node_.platform), std::move(builder_).build(std::move(blocks)), {}};
  if (!fold_.reason.empty()) lowered.not_folded.push_back("replicas: " + fold_.reason);
  return lowered;
}

}  // namespace podsim::rdu
