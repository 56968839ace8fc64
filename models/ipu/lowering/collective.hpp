#pragma once
// How replicas reduce their gradients: a ring inside each pod and, with several pods, a ring between them. Every hop is
// a resource that all pipeline positions of a replica share, so times come out of contention. With Rp replicas in a
// pod, Q pods and V bytes of gradients in a replica:
//   1. reduce-scatter inside each pod: Rp - 1 steps of V / Rp over the hops from replica to replica;
//   2. between pods, each replica with the ones of its rank in the other pods, of the V / Rp that it now owns: a
//      reduce-scatter and an all-gather of Q - 1 steps of V / (Rp Q) each, over a GW-Link hop of its own. All ranks go
//      at once, each over the GW-Links of the machines it stands on;
//   3. all-gather inside each pod, as 1.
// With sharded state the optimizer stands between the reduce-scatters and the all-gathers, each replica updating its
// 1 / (Rp Q); else behind all of them.

#include <cstdint>
#include <string>
#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/pod.hpp"
#include "sim/program/builder.hpp"

namespace podsim::ipu {

class ReplicaReduction {
 public:
  // By pipeline position: the gradients of an IPU, or what else is reduced; `what` names it in programs.
  ReplicaReduction(const Pod& pod, const std::vector<PlacedParameters>& parameters, std::string what = "gradient");

  void add_before_optimizer(ProgramBuilder& builder, bool sharded, std::vector<ProgramBlock>& blocks) const;
  void add_after_optimizer(ProgramBuilder& builder, bool sharded, std::vector<ProgramBlock>& blocks) const;

 private:
  enum class Ring { in_pod, between_pods };
  void add_ring(ProgramBuilder& builder, Ring ring, const std::string& name, std::int64_t rounds,
                std::vector<ProgramBlock>& blocks) const;

  const Pod& pod_;
  std::string what_;
  std::vector<Bytes> in_pod_chunks_;  // that a position sends in a step
  std::vector<Bytes> between_chunks_;
};

// The same as a formula: 2 (Rp - 1) (latency + V / Rp / ring bandwidth), and between pods
// 2 (Q - 1) (GW latency + V / Rp / Q / GW bandwidth); chunks are rounded up to whole elements. Replicas of one IPU form
// one ring over all pods: Rp is all of them, and a step takes as long as its slowest hop, that from pod to pod.
SimTime reduction_time(std::int64_t replicas, const std::vector<PlacedParameters>& parameters,
                       const SystemConstants& system);

}  // namespace podsim::ipu
