#pragma once
// Batch norms over several replicas: behind each norm, in every phase, the replicas of a group reduce the sums of its
// channels in a ring, 2 (n - 1) steps of a latency and statistics / n bytes each. A replica goes on when the last step
// has reached it.

#include <map>
#include <vector>

#include "models/ipu/ipu_plan.hpp"
#include "models/ipu/lowering/pod.hpp"
#include "sim/program/builder.hpp"

namespace podsim::ipu {

// The exchanges of one segment. Replicas are added one after the other; `close` orders them against each other.
class NormExchange {
 public:
  NormExchange(const Pod& pod, const RunSetup& setup);

  bool needed() const { return group_ > 1; }
  // Behind the norm that the device ran last.
  void add(SegmentBuilder& segment, const ReplicaResources& replica, std::size_t position, Bytes statistics);
  // Tells what the device does next.
  void follow(DeviceId device, OpId op);
  void close(SegmentBuilder& segment);

 private:
  struct Track {
    DeviceId next;                         // where its sums go
    std::vector<std::vector<OpId>> sends;  // by exchange, in steps
    std::vector<OpId> after;               // by exchange: the first op behind it; none at the end of a segment
  };

  const Pod& pod_;
  std::int64_t group_;
  std::map<DeviceId, Track> tracks_;
};

// The same as a formula; nothing for what is no shared norm.
SimTime norm_exchange_time(Bytes statistics, const RunSetup& setup, const LinkConstants& links);

}  // namespace podsim::ipu
