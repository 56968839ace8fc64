#pragma once
// The nodes that a run uses, as a platform. A copy of the model (a replica, one process) has one or more parts: RDUs,
// or halves of an RDU. Each part has a port to its off-chip memory, a hop to the next part of its replica, a hop to the
// same part of the next replica, a way to its host, and the pace at which that host launches sections. Replicas fill
// the nodes one after another; what leaves a node shares its network.

#include <cstdint>
#include <string>
#include <vector>

#include "models/rdu/rdu_plan.hpp"
#include "sim/hardware/platform.hpp"
#include "sim/program/program.hpp"

namespace podsim::rdu {

struct PartResources {
  DeviceId device;
  MemoryId ddr;
  MemoryId hbm;       // none where there is none
  RouteId port;       // to the off-chip memory that holds the tensors of a step: HBM, else DDR
  RouteId ddr_port;   // to DDR
  RouteId issue;      // latency alone: what is left of the host's launch interval once a section has been loaded
  RouteId peer;       // to the next part of the replica; none with one part
  RouteId network;    // to the same part of the next replica, over the node's own network when that is in another node;
                      // none with one replica
  RouteId host_copy;  // gradients to the host and back
};

struct Node {
  Platform platform;
  std::vector<std::vector<PartResources>> replicas;  // by replica, then part
};

// `plan.setup` and `plan.constants` must be complete.
Node build_node(const RduPlan& plan);

// "rdu3" or, of a part of one, "rdu3-tiles4-7"; RDUs are counted through all nodes.
std::string part_name(const RduPlan& plan, std::int64_t replica, std::int64_t part);

// How many copies of the model a node holds; 0 when one needs more.
std::int64_t room_of_node(const RduSetup& setup, const RduConstants& constants);

// Replicas do the same: the first stands for all, unless some part is slowed down or `wanted` is false.
struct ReplicaFold {
  std::vector<std::size_t> simulated;
  FoldMap map;
  bool folded = false;
  std::string reason;  // why not, when not
};
ReplicaFold fold_replicas(const Node& node, const std::vector<double>& slowdown, bool wanted);

}  // namespace podsim::rdu
