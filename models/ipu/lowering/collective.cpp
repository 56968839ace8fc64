#include "models/ipu/lowering/collective.hpp"

#include <algorithm>

namespace podsim::ipu {
namespace {

std::int64_t share(std::int64_t elements, std::int64_t members) {
  return (elements + members - 1) / members;
}

}  // namespace

ReplicaReduction::ReplicaReduction(const Pod& pod, const std::vector<PlacedParameters>& parameters, std::string what)
    : pod_(pod), what_(std::move(what)) {
  const std::int64_t in_pod = pod.replicas_in_pod;
  const std::int64_t pods = static_cast<std::int64_t>(pod.replicas.size()) / in_pod;
  for (const PlacedParameters& placed : parameters) {
    const std::int64_t owned = share(placed.elements, in_pod);
    in_pod_chunks_.emplace_back(placed.element_bytes * owned);
    between_chunks_.emplace_back(placed.element_bytes * share(owned, pods));
  }
}

void ReplicaReduction::add_before_optimizer(ProgramBuilder& builder, bool sharded,
                                            std::vector<ProgramBlock>& blocks) const {
  const bool one_pod = pod_.gateway_hops.empty();
  if (sharded) {
    add_ring(builder, Ring::in_pod, what_ + " reduce-scatter", 1, blocks);
    add_ring(builder, Ring::between_pods, what_ + " reduce-scatter between pods", 1, blocks);
  } else if (one_pod) {
    add_ring(builder, Ring::in_pod, what_ + " all-reduce", 2, blocks);
  } else {
    add_ring(builder, Ring::in_pod, what_ + " reduce-scatter", 1, blocks);
    add_ring(builder, Ring::between_pods, what_ + " all-reduce between pods", 2, blocks);
    add_ring(builder, Ring::in_pod, what_ + " all-gather", 1, blocks);
  }
}

void ReplicaReduction::add_after_optimizer(ProgramBuilder& builder, bool sharded,
                                           std::vector<ProgramBlock>& blocks) const {
  if (!sharded) return;
  add_ring(builder, Ring::between_pods, "weight all-gather between pods", 1, blocks);
  add_ring(builder, Ring::in_pod, "weight all-gather", 1, blocks);
}

// A round takes every chunk past all members but one. In each step every IPU sends a chunk to the same position of the
// next replica.
void ReplicaReduction::add_ring(ProgramBuilder& builder, Ring ring, const std::string& name, std::int64_t rounds,
                                std::vector<ProgramBlock>& blocks) const {
  const bool inside = ring == Ring::in_pod;
  const std::vector<RouteId>& hops = inside ? pod_.ring_hops : pod_.gateway_hops;
  if (hops.empty()) return;
  const auto replicas = static_cast<std::int64_t>(pod_.replicas.size());
  const std::int64_t members = inside ? pod_.replicas_in_pod : replicas / pod_.replicas_in_pod;
  const std::vector<Bytes>& chunks = inside ? in_pod_chunks_ : between_chunks_;
  const LabelId label = builder.label(name);
  SegmentBuilder segment = builder.segment(name + " step");
  for (std::int64_t replica = 0; replica < replicas; ++replica) {
    const std::int64_t next = inside ? pod_.next_in_pod(replica) : pod_.next_between_pods(replica);
    const ReplicaResources& own = pod_.replicas[static_cast<std::size_t>(replica)];
    const ReplicaResources& other = pod_.replicas[static_cast<std::size_t>(next)];
    for (std::size_t position = 0; position < own.ipus.size(); ++position) {
      if (chunks[position] == Bytes()) continue;
      segment.transfer(own.ipus[position], other.ipus[position], hops[static_cast<std::size_t>(replica)],
                       chunks[position], CostCategory::collective, label);
    }
  }
  blocks.emplace_back(Repeat{rounds * (members - 1), name, {builder.add(std::move(segment))}});
}

SimTime reduction_time(std::int64_t replicas, const std::vector<PlacedParameters>& parameters,
                       const SystemConstants& system) {
  const LinkConstants& links = system.links;
  const auto ipus = static_cast<std::int64_t>(parameters.size());
  const std::int64_t replicas_in_pod = ipu::replicas_in_pod(replicas, ipus, system);
  const bool leaves_pod = links.one_ring && replicas * ipus > system.ipus_per_pod;
  const Bandwidth slowest = leaves_pod ? std::min(links.ring_bandwidth, links.gateway_bandwidth) : links.ring_bandwidth;
  const std::int64_t pods = replicas / replicas_in_pod;
  Bytes in_pod;  // through a hop in a step
  Bytes between;
  for (const PlacedParameters& placed : parameters) {
    const std::int64_t owned = share(placed.elements, replicas_in_pod);
    in_pod += Bytes(placed.element_bytes * owned);
    between += Bytes(placed.element_bytes * share(owned, pods));
  }
  const SimTime in_pod_step = to_sim_time(links.ring_latency) + to_sim_time(in_pod.size() / slowest);
  const SimTime between_step =
      to_sim_time(links.gateway_latency) + to_sim_time(between.size() / links.gateway_bandwidth);
  return 2 * (replicas_in_pod - 1) * in_pod_step + 2 * (pods - 1) * between_step;
}

}  // namespace podsim::ipu
