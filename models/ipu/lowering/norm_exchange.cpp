#include "models/ipu/lowering/norm_exchange.hpp"

#include "sim/core/check.hpp"

namespace podsim::ipu {
namespace {

Bytes part(Bytes statistics, std::int64_t replicas) {
  return Bytes((statistics.count() + replicas - 1) / replicas);
}

std::int64_t steps(std::int64_t replicas) {
  return 2 * (replicas - 1);
}

}  // namespace

NormExchange::NormExchange(const Pod& pod, const RunSetup& setup)
    : pod_(pod), group_(setup.distributed_batch_norm_replicas) {}

void NormExchange::add(SegmentBuilder& segment, const ReplicaResources& replica, std::size_t position,
                       Bytes statistics) {
  const auto ipus = static_cast<std::int64_t>(replica.ipus.size());
  const std::int64_t index = static_cast<std::int64_t>(replica.ipus.front().index()) / ipus;
  const std::int64_t first = index - index % group_;
  const std::int64_t next = first + (index - first + 1) % group_;
  const DeviceId device = replica.ipus[position];
  Track& track = tracks_[device];
  track.next = pod_.replicas[static_cast<std::size_t>(next)].ipus[position];
  track.sends.emplace_back();
  track.after.push_back(OpId::none());
  for (std::int64_t step = 0; step < steps(group_); ++step) {
    const OpId send = segment.transfer(device, track.next, replica.norm_hops[position], part(statistics, group_),
                                       CostCategory::collective, "norm statistics");
    segment.chain(send);
    track.sends.back().push_back(send);
  }
}

void NormExchange::follow(DeviceId device, OpId op) {
  const auto track = tracks_.find(device);
  if (track == tracks_.end() || track->second.after.back().valid()) return;
  track->second.after.back() = op;
}

void NormExchange::close(SegmentBuilder& segment) {
  for (const auto& [device, track] : tracks_) {
    const Track& next = tracks_.at(track.next);
    PODSIM_CHECK(next.sends.size() == track.sends.size(), "replicas that share other norms");
    for (std::size_t exchange = 0; exchange < track.sends.size(); ++exchange) {
      const std::vector<OpId>& sends = track.sends[exchange];
      for (std::size_t step = 0; step + 1 < sends.size(); ++step) {
        segment.depend(sends[step], next.sends[exchange][step + 1]);
      }
      if (next.after[exchange].valid()) segment.depend(sends.back(), next.after[exchange]);
    }
  }
  tracks_.clear();
}

SimTime norm_exchange_time(Bytes statistics, const RunSetup& setup, const LinkConstants& links) {
  const std::int64_t replicas = setup.distributed_batch_norm_replicas;
  if (statistics == Bytes() || replicas == 1) return SimTime();
  const SimTime sent = to_sim_time(part(statistics, replicas).size() / links.neighbour_bandwidth);
  return steps(replicas) * (to_sim_time(links.norm_exchange_latency) + sent);
}

}  // namespace podsim::ipu
