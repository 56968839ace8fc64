#pragma once
// From compiled graphs to segments. A section is a segment: program load, argument load, then its products on the part
// and its tensors over the memory port at once; meanwhile the host becomes ready to launch the next one. So a section
// takes max(launch interval, loads + max(products, tensors)), and sections follow each other.

#include <cstdint>
#include <string>
#include <vector>

#include "models/rdu/memory.hpp"
#include "models/rdu/node.hpp"
#include "models/rdu/rdu_plan.hpp"
#include "sim/plan/family.hpp"
#include "sim/program/builder.hpp"

namespace podsim::rdu {

class SectionLowering {
 protected:
  SectionLowering(const RduPlan& plan, const WorkloadSettings& settings, const LowerOptions& options);

  // A segment per section of these phases, in order; with weights cut over the parts of a replica, reductions among
  // them stand behind the sections that end in partial results.
  void add_sections(const CompiledGraph& graph, RduPhase first, RduPhase last, std::vector<ProgramBlock>& blocks);
  // A ring over the parts of a replica, each of which holds `bytes`: 2 (n - 1) steps of an nth.
  void add_part_reduction(const std::string& name, Bytes bytes, std::vector<ProgramBlock>& blocks);
  // The same over the replicas, each part with its likes.
  void add_replica_reduction(const std::string& name, Bytes bytes, std::vector<ProgramBlock>& blocks);
  // `time` on every part.
  SegmentId fixed_time(const std::string& name, Duration time, CostCategory category);
  // Every part moves `bytes`.
  SegmentId moved(const std::string& name, Bytes bytes, RouteId PartResources::*route, CostCategory category);
  SegmentBuilder folded_segment(const std::string& name);
  SimTime slowed(Duration time, DeviceId device) const;
  Lowered finish(std::vector<ProgramBlock> blocks);  // the builder is spent

  const RduPlan& plan_;
  const RduSetup& setup_;
  Node node_;
  ReplicaFold fold_;
  ProgramBuilder builder_;

 private:
  double share_of_chip() const;
  void add_always_live(MemoryId memory, const MemoryAccountEntry& entry);
  void add_section(const CompiledGraph& graph, const GraphMemory& memory, std::size_t section,
                   std::vector<ProgramBlock>& blocks);
  void add_part(SegmentBuilder& segment, const PartResources& part, const CompiledGraph& graph,
                const GraphMemory& memory, std::size_t section);

  FoldId fold_id_;
  MemoryCategory tensors_ = 0;
};

}  // namespace podsim::rdu
