#include "models/ipu/lowering/pod.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "sim/core/check.hpp"

namespace podsim::ipu {
namespace {

class PodBuilder {
 public:
  PodBuilder(const PodShape& shape, const Pipeline& pipeline, const IpuConstants& constants)
      : shape_(shape), pipeline_(pipeline), constants_(constants) {}

  Pod build() {
    for (std::int64_t ipu = 0; ipu < shape_.ipus; ++ipu) add_ipu(ipu);
    for (std::int64_t machine = 0; machine < machines(); ++machine) add_machine(machine);
    for (std::int64_t replica = 0; replica < shape_.replicas; ++replica) add_replica(replica);
    add_rings();
    return std::move(pod_);
  }

 private:
  std::int64_t machines() const {
    const std::int64_t per_machine = constants_.system.ipus_per_machine;
    return (shape_.ipus + per_machine - 1) / per_machine;
  }
  std::int64_t machine_of(std::int64_t ipu) const { return ipu / constants_.system.ipus_per_machine; }

  void add_ipu(std::int64_t ipu) {
    const std::string name = fmt::format("ipu{}", ipu);
    const DeviceId device = pod_.platform.add(Device{name});
    const Bytes capacity = constants_.chip.tile_memory * constants_.chip.tiles;
    sram_.push_back(pod_.platform.add(Memory{name + ".sram", device, capacity, usable_memory(constants_)}));
    host_ports_.push_back(pod_.platform.add(Link{name + ".host_port", constants_.system.links.host_bandwidth}));
  }

  // Machines are spread evenly over the hosts of their system, in order.
  std::int64_t host_of(std::int64_t machine) const {
    const SystemConstants& system = constants_.system;
    const std::int64_t node = machine / system.machines;
    return node * system.hosts + machine % system.machines * system.hosts / system.machines;
  }

  void add_machine(std::int64_t machine) {
    add_host_link(machine);
    if (!constants_.system.has_streaming_memory) return;
    const std::string name = fmt::format("machine{}", machine);
    const Bytes capacity = constants_.system.links.streaming_memory;
    streaming_memory_.push_back(
        pod_.platform.add(Memory{name + ".streaming_memory", DeviceId::none(), capacity, capacity}));
    streaming_ports_.push_back(
        pod_.platform.add(Link{name + ".streaming_port", constants_.system.links.streaming_bandwidth}));
  }

  // Machines behind one link are neighbours on one host.
  void add_host_link(std::int64_t machine) {
    const bool new_host = machine == 0 || host_of(machine) != host_of(machine - 1);
    if (new_host || machines_on_link_ == constants_.system.links.machines_per_host_link) {
      links_of_host_ = new_host ? 0 : links_of_host_ + 1;
      const std::string name = fmt::format("host{}.link{}", host_of(machine), links_of_host_);
      host_link_ = pod_.platform.add(Link{name, constants_.system.links.host_link_bandwidth});
      machines_on_link_ = 0;
    }
    ++machines_on_link_;
    host_links_.push_back(host_link_);
  }

  void add_replica(std::int64_t replica) {
    ReplicaResources resources;
    const std::int64_t first = replica * shape_.ipus_per_replica;
    for (std::int64_t position = 0; position < shape_.ipus_per_replica; ++position) {
      const auto ipu = static_cast<std::size_t>(first + position);
      resources.ipus.push_back(DeviceId(static_cast<std::uint32_t>(ipu)));
      resources.sram.push_back(sram_[ipu]);
      if (!constants_.system.has_streaming_memory) continue;
      const auto machine = static_cast<std::size_t>(machine_of(first + position));
      resources.streaming_memory.push_back(streaming_memory_[machine]);
      const std::string name = fmt::format("ipu{}-streaming", ipu);
      resources.streaming.push_back(add_route(resources, name, {streaming_ports_[machine]}, SimTime()));
    }
    add_host_input(resources, first);
    if (shape_.host_process) {
      const std::string name = fmt::format("host_process-replica{}", replica);
      const LinkId share = pod_.platform.add(Link{name, *shape_.host_process});
      resources.host_process = add_route(resources, name, {share}, SimTime());
    }
    if (shape_.host_results) add_host_output(resources, first);
    add_copies(resources, first);
    if (shape_.norm_replicas > 1) add_norm_hops(resources, replica);
    pod_.replicas.push_back(std::move(resources));
  }

  void add_host_input(ReplicaResources& resources, std::int64_t first) {
    const auto machine = static_cast<std::size_t>(machine_of(first));
    resources.host_input = add_route(resources, fmt::format("host-ipu{}", first),
                                     {host_links_[machine], host_ports_[static_cast<std::size_t>(first)]}, SimTime());
  }

  void add_host_output(ReplicaResources& resources, std::int64_t first) {
    const std::int64_t ipu = first + pipeline_.forward().back().ipu;
    const std::int64_t host_link = machine_of(ipu) / constants_.system.links.machines_per_host_link;
    const auto [shared, added] = result_links_.try_emplace(host_link);
    if (added) {
      shared->second = pod_.platform.add(
          Link{fmt::format("host_link{}.results", host_link), constants_.system.links.host_link_bandwidth});
    }
    const LinkId port =
        pod_.platform.add(Link{fmt::format("ipu{}.result_port", ipu), constants_.system.links.host_output_bandwidth});
    resources.host_output = add_route(resources, fmt::format("ipu{}-host", ipu), {port, shared->second}, SimTime());
  }

  void add_copies(ReplicaResources& resources, std::int64_t first) {
    const SimTime latency = to_sim_time(constants_.system.links.message_latency);
    for (int stage = 0; stage + 1 < pipeline_.forward_stages(); ++stage) {
      const auto& stages = pipeline_.forward();
      const std::int64_t from = first + stages[static_cast<std::size_t>(stage)].ipu;
      const std::int64_t to = first + stages[static_cast<std::size_t>(stage) + 1].ipu;
      for (const bool forward : {true, false}) {
        const std::string name =
            forward ? fmt::format("ipu{}-ipu{}", from, to) : fmt::format("ipu{}-ipu{}.gradient", to, from);
        const LinkId link = pod_.platform.add(Link{name, constants_.system.links.neighbour_bandwidth});
        auto& routes = forward ? resources.forward_copies : resources.backward_copies;
        routes.push_back(add_route(resources, name, {link}, latency));
      }
    }
  }

  // A ring of the replicas that share their norms, by position. Its links belong to both ends, so that folding keeps
  // the replicas of a ring together.
  void add_norm_hops(ReplicaResources& resources, std::int64_t replica) {
    const std::int64_t group = shape_.norm_replicas;
    const std::int64_t first = replica - replica % group;
    const std::int64_t next = first + (replica - first + 1) % group;
    for (std::int64_t position = 0; position < shape_.ipus_per_replica; ++position) {
      const std::string name = fmt::format("norms.ipu{}-ipu{}", replica * shape_.ipus_per_replica + position,
                                           next * shape_.ipus_per_replica + position);
      const LinkConstants& links = constants_.system.links;
      const LinkId link = pod_.platform.add(Link{name, links.neighbour_bandwidth});
      resources.norm_hops.push_back(add_route(resources, name, {link}, to_sim_time(links.norm_exchange_latency)));
      norm_links_.push_back(link);
    }
    // The hop that arrives: in a group, the one of the member before; it closes with the last member.
    const auto positions = static_cast<std::size_t>(shape_.ipus_per_replica);
    if (replica > first) {
      const std::size_t before = norm_links_.size() - 2 * positions;
      resources.links.insert(resources.links.end(), norm_links_.begin() + static_cast<std::ptrdiff_t>(before),
                             norm_links_.begin() + static_cast<std::ptrdiff_t>(before + positions));
    }
  }

  // GW-Links hang on machines, so every rank of a pod has a hop of its own to the next pod. Like a hop inside a pod it
  // takes what two links carry, whatever the length of the pipeline; the factor is that between their kinds.
  void add_rings() {
    const LinkConstants& links = constants_.system.links;
    pod_.replicas_in_pod = replicas_in_pod(shape_.replicas, shape_.ipus_per_replica, constants_.system);
    for (std::int64_t replica = 0; pod_.replicas_in_pod > 1 && replica < shape_.replicas; ++replica) {
      const std::int64_t next = pod_.next_in_pod(replica);
      const bool leaves = pod_of(replica) != pod_of(next);
      pod_.ring_hops.push_back(add_hop(fmt::format("ring.replica{}-replica{}", replica, next),
                                       leaves ? links.gateway_bandwidth : links.ring_bandwidth, links.ring_latency));
    }
    for (std::int64_t replica = 0; pod_.replicas_in_pod < shape_.replicas && replica < shape_.replicas; ++replica) {
      pod_.gateway_hops.push_back(
          add_hop(fmt::format("gateway.replica{}-replica{}", replica, pod_.next_between_pods(replica)),
                  links.gateway_bandwidth, links.gateway_latency));
    }
  }

  std::int64_t pod_of(std::int64_t replica) const {
    return replica * shape_.ipus_per_replica / constants_.system.ipus_per_pod;
  }

  RouteId add_hop(const std::string& name, Bandwidth bandwidth, Duration latency) {
    const LinkId link = pod_.platform.add(Link{name, bandwidth});
    return pod_.platform.add(Route{name, {link}, to_sim_time(latency)});
  }

  RouteId add_route(ReplicaResources& resources, std::string name, std::vector<LinkId> links, SimTime latency) {
    resources.links.insert(resources.links.end(), links.begin(), links.end());
    return pod_.platform.add(Route{std::move(name), std::move(links), latency});
  }

  const PodShape& shape_;
  const Pipeline& pipeline_;
  const IpuConstants& constants_;
  Pod pod_;
  std::vector<MemoryId> sram_;
  std::vector<MemoryId> streaming_memory_;
  std::vector<LinkId> host_ports_;
  std::vector<LinkId> host_links_;  // by machine
  LinkId host_link_;
  std::int64_t machines_on_link_ = 0;
  std::int64_t links_of_host_ = 0;
  std::vector<LinkId> streaming_ports_;
  std::vector<LinkId> norm_links_;               // by replica and position
  std::map<std::int64_t, LinkId> result_links_;  // by host link
};

// Groups of replicas connected by common links, each ascending, in the order of their first replica.
std::vector<std::vector<std::size_t>> connected_groups(const Pod& pod) {
  std::vector<std::size_t> group_of(pod.replicas.size());
  std::iota(group_of.begin(), group_of.end(), std::size_t{0});
  std::vector<std::size_t> owner(pod.platform.links().size(), SIZE_MAX);
  for (std::size_t replica = 0; replica < pod.replicas.size(); ++replica) {
    for (const LinkId link : pod.replicas[replica].links) {
      std::size_t& first = owner[link.index()];
      if (first == SIZE_MAX) first = replica;
      const std::size_t from = group_of[replica];
      const std::size_t to = group_of[first];
      if (from != to) std::replace(group_of.begin(), group_of.end(), std::max(from, to), std::min(from, to));
    }
  }
  std::vector<std::vector<std::size_t>> groups;
  std::map<std::size_t, std::size_t> index;
  for (std::size_t replica = 0; replica < group_of.size(); ++replica) {
    const auto [place, added] = index.emplace(group_of[replica], groups.size());
    if (added) groups.emplace_back();
    groups[place->second].push_back(replica);
  }
  return groups;
}

// Lets `group` be represented by `model`; says why it cannot, or nothing.
std::string represent(const Pod& pod, const std::vector<double>& slowdown, const std::vector<std::size_t>& model,
                      const std::vector<std::size_t>& group, FoldMap& map) {
  if (group.size() != model.size()) return "they share links in groups of different size";
  std::map<LinkId, LinkId> pairs;
  for (std::size_t member = 0; member < group.size(); ++member) {
    const ReplicaResources& own = pod.replicas[group[member]];
    const ReplicaResources& other = pod.replicas[model[member]];
    for (std::size_t position = 0; position < own.ipus.size(); ++position) {
      const DeviceId device = own.ipus[position];
      if (slowdown[device.index()] != slowdown[other.ipus[position].index()]) {
        return pod.platform[device].name + " has another speed";
      }
      map.device_representative[device.index()] = other.ipus[position];
      map.memory_representative[own.sram[position].index()] = other.sram[position];
    }
    for (std::size_t position = 0; position < own.streaming_memory.size(); ++position) {
      map.memory_representative[own.streaming_memory[position].index()] = other.streaming_memory[position];
    }
    for (std::size_t i = 0; i < own.links.size(); ++i) {
      const LinkId link = own.links[i];
      if (pairs.emplace(link, other.links[i]).first->second != other.links[i]) {
        return pod.platform[link].name + " is shared in another way";
      }
      map.link_representative[link.index()] = other.links[i];
    }
  }
  return {};
}

}  // namespace

std::int64_t Pod::next_in_pod(std::int64_t replica) const {
  const std::int64_t first = replica - replica % replicas_in_pod;
  return first + (replica - first + 1) % replicas_in_pod;
}

std::int64_t Pod::next_between_pods(std::int64_t replica) const {
  return (replica + replicas_in_pod) % static_cast<std::int64_t>(replicas.size());
}

std::int64_t replicas_in_pod(std::int64_t replicas, std::int64_t ipus_per_replica, const SystemConstants& system) {
  if (system.links.one_ring) return replicas;
  return std::clamp<std::int64_t>(system.ipus_per_pod / ipus_per_replica, 1, replicas);
}

Pod build_pod(const PodShape& shape, const Pipeline& pipeline, const IpuConstants& constants) {
  return PodBuilder(shape, pipeline, constants).build();
}

ReplicaFold fold_replicas(const Pod& pod, const std::vector<double>& slowdown, bool wanted) {
  ReplicaFold fold;
  fold.map = unfolded(pod.platform);
  std::vector<std::size_t> all(pod.replicas.size());
  std::iota(all.begin(), all.end(), std::size_t{0});
  fold.simulated = all;
  if (!wanted) return fold;

  const std::vector<std::vector<std::size_t>> groups = connected_groups(pod);
  FoldMap map = fold.map;
  for (std::size_t group = 1; group < groups.size(); ++group) {
    fold.reason = represent(pod, slowdown, groups[0], groups[group], map);
    if (!fold.reason.empty()) return fold;
  }
  if (groups.size() == 1) {
    if (pod.replicas.size() > 1) fold.reason = "all of them share links";
    return fold;
  }
  fold.simulated = groups[0];
  fold.map = std::move(map);
  fold.folded = true;
  return fold;
}

}  // namespace podsim::ipu
