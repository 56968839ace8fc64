#pragma once
// The pods that a run uses, as a platform: IPUs with their SRAM, a link per pipeline copy, ring hops shared by all
// pipeline positions, host links, and one Streaming Memory port per IPU-Machine. Replicas fill pod after pod; none
// straddles two.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "models/ipu/ipu_constants.hpp"
#include "models/ipu/lowering/pipeline.hpp"
#include "sim/hardware/platform.hpp"
#include "sim/program/program.hpp"

namespace podsim::ipu {

// What one replica uses, by pipeline position (IPU of the replica) or stage boundary.
struct ReplicaResources {
  std::vector<DeviceId> ipus;
  std::vector<MemoryId> sram;
  RouteId host_input;                      // host to the first IPU
  RouteId host_process;                    // what makes the replica's samples ready; none where its pace is no limit
  RouteId host_output;                     // last forward stage to the host; none where results are not modelled
  std::vector<RouteId> forward_copies;     // from forward stage s to s + 1
  std::vector<RouteId> backward_copies;    // from the backward of s + 1 to that of s
  std::vector<RouteId> streaming;          // Streaming Memory of the IPU's machine; empty where there is none
  std::vector<MemoryId> streaming_memory;  // by position: of the IPU's machine; empty where there is none
  std::vector<RouteId> norm_hops;          // by position: to the next replica that shares its norms; empty: none
  std::vector<LinkId> links;               // all of the above, in a fixed order: equal replicas pair up by index
};

struct Pod {
  Platform platform;
  std::vector<ReplicaResources> replicas;
  std::int64_t replicas_in_pod = 1;   // as many in every pod
  std::vector<RouteId> ring_hops;     // by replica: to the next in its pod; empty with one replica in a pod
  std::vector<RouteId> gateway_hops;  // by replica: to the same rank in the next pod; empty with one pod

  std::int64_t next_in_pod(std::int64_t replica) const;
  std::int64_t next_between_pods(std::int64_t replica) const;
};

// How many replicas a ring joins before another one joins the rings: those of a pod, or all of them; at most
// `replicas`.
std::int64_t replicas_in_pod(std::int64_t replicas, std::int64_t ipus_per_replica, const SystemConstants& system);

struct PodShape {
  std::int64_t replicas = 1;
  std::int64_t ipus_per_replica = 1;
  std::int64_t ipus = 1;                  // reserved in all: at least replicas × ipus_per_replica
  bool host_results = false;              // whether results go back to the host, each way of a host link for itself
  std::int64_t norm_replicas = 1;         // consecutive ones that share the statistics of their norms
  std::optional<Bandwidth> host_process;  // a replica's share of the process that makes its samples ready
  friend bool operator==(const PodShape&, const PodShape&) = default;
};

Pod build_pod(const PodShape& shape, const Pipeline& pipeline, const IpuConstants& constants);

// Which replicas need simulating: replicas that share a link with no other group and look like the first group do what
// it does. Without folding, or where a difference is found (`reason` then says which), all are simulated.
struct ReplicaFold {
  std::vector<std::size_t> simulated;
  FoldMap map;  // identity when all are simulated
  bool folded = false;
  std::string reason;  // why not, when not
};

// `slowdown` by device index: factors on the duration of a device's own work.
ReplicaFold fold_replicas(const Pod& pod, const std::vector<double>& slowdown, bool wanted);

}  // namespace podsim::ipu
