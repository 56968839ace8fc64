#include "models/rdu/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "models/rdu/command/command_checks.hpp"

namespace podsim::rdu {
namespace {

class NodeBuilder {
 public:
  explicit NodeBuilder(const RduPlan& plan) : plan_(plan), setup_(plan.setup), constants_(plan.constants) {}

  Node build() {
    for (std::int64_t replica = 0; replica < setup_.replicas; ++replica) {
      auto& parts = node_.replicas.emplace_back();
      for (std::int64_t part = 0; part < setup_.parts; ++part) parts.push_back(add_part(replica, part));
    }
    add_node_networks();
    for (std::int64_t replica = 0; replica < setup_.replicas; ++replica) add_hops(replica);
    return std::move(node_);
  }

 private:
  PartResources add_part(std::int64_t replica, std::int64_t part) {
    const ChipConstants& chip = constants_.chip;
    const double share = static_cast<double>(setup_.tiles_per_part) / static_cast<double>(chip.tiles);
    PartResources own;
    const std::string name = part_name(plan_, replica, part);
    own.device = node_.platform.add(Device{name});
    const Bytes ddr = chip.ddr.capacity_of(share);
    own.ddr = node_.platform.add(Memory{name + ".ddr", own.device, ddr, ddr});
    own.ddr_port = add_route(name + "-ddr", chip.ddr.bandwidth * (share * reached()), SimTime());
    own.port = own.ddr_port;
    if (chip.hbm) {
      const Bytes hbm = chip.hbm->capacity_of(share);
      own.hbm = node_.platform.add(Memory{name + ".hbm", own.device, hbm, hbm});
      own.port = add_route(name + "-hbm", hbm_bandwidth() * (share * reached()), SimTime());
    }
    const Duration loads = plan_.rates.program_load + plan_.rates.argument_load;
    const Duration left = std::max(Duration(), plan_.rates.issue_interval - loads);
    own.issue = add_route(name + "-host.launch", constants_.chip.host_link, to_sim_time(left));
    own.host_copy = add_route(name + "-host.gradients", constants_.chip.host_link, SimTime());
    return own;
  }

  // Of the off-chip bandwidth, by an operator alone.
  double reached() const { return plan_.isolated ? constants_.isolated.memory_efficiency : 1.0; }

  Bandwidth hbm_bandwidth() const {
    const ServingConstants& serving = constants_.serving;
    double usable = setup_.fused_generation ? serving.hbm_efficiency : 1.0;
    if (setup_.fused_generation && setup_.legacy_endpoint) usable *= serving.legacy_efficiency;
    return constants_.chip.hbm->bandwidth * usable;
  }

  std::int64_t node_of(std::int64_t replica) const { return replica / setup_.copies_per_node; }

  void add_node_networks() {
    const std::int64_t nodes = node_of(setup_.replicas - 1) + 1;
    const SystemConstants& system = constants_.system;
    for (std::int64_t node = 0; nodes > 1 && node < nodes; ++node) {
      node_networks_.push_back(add_route(fmt::format("node{}.network", node),
                                         system.node_network * static_cast<double>(system.hosts), SimTime()));
    }
  }

  // The part of a reduction that streaming hides is bandwidth that a hop seems to have more.
  void add_hops(std::int64_t replica) {
    const auto own_replica = static_cast<std::size_t>(replica);
    const auto next_replica = static_cast<std::size_t>((replica + 1) % setup_.replicas);
    for (std::size_t part = 0; part < node_.replicas[own_replica].size(); ++part) {
      PartResources& own = node_.replicas[own_replica][part];
      const std::string& name = node_.platform[own.device].name;
      if (setup_.parts > 1) {
        const std::size_t next = (part + 1) % node_.replicas[own_replica].size();
        const std::string& other = node_.platform[node_.replicas[own_replica][next].device].name;
        own.peer = add_route(fmt::format("{}-{}.peer", name, other),
                             constants_.chip.peer_link / constants_.system.exposed_reduction, SimTime());
      }
      const std::int64_t here = node_of(replica);
      if (here != node_of((replica + 1) % setup_.replicas)) {
        own.network = node_networks_[static_cast<std::size_t>(here)];
      } else if (setup_.replicas > 1) {
        const std::string& other = node_.platform[node_.replicas[next_replica][part].device].name;
        own.network = add_route(fmt::format("{}-{}.network", name, other), constants_.system.network, SimTime());
      }
    }
  }

  RouteId add_route(const std::string& name, Bandwidth bandwidth, SimTime latency) {
    const LinkId link = node_.platform.add(Link{name, bandwidth});
    return node_.platform.add(Route{name, {link}, latency});
  }

  const RduPlan& plan_;
  const RduSetup& setup_;
  const RduConstants& constants_;
  Node node_;
  std::vector<RouteId> node_networks_;  // out of each; none with one node
};

}  // namespace

Node build_node(const RduPlan& plan) {
  return NodeBuilder(plan).build();
}

std::string part_name(const RduPlan& plan, std::int64_t replica, std::int64_t part) {
  const RduSetup& setup = plan.setup;
  const std::int64_t tiles_of_chip = plan.constants.chip.tiles;
  const std::int64_t node = replica / setup.copies_per_node;
  const std::int64_t first = (replica % setup.copies_per_node * setup.parts + part) * setup.tiles_per_part;
  const std::int64_t rdu = node * plan.constants.system.rdus + first / tiles_of_chip;
  if (setup.tiles_per_part == tiles_of_chip) return fmt::format("rdu{}", rdu);
  const std::int64_t tile = first % tiles_of_chip;
  if (setup.tiles_per_part == 1) return fmt::format("rdu{}-tile{}", rdu, tile);
  return fmt::format("rdu{}-tiles{}-{}", rdu, tile, tile + setup.tiles_per_part - 1);
}

std::int64_t room_of_node(const RduSetup& setup, const RduConstants& constants) {
  const std::int64_t dies = setup.halves ? constants.chip.dies : 1;
  CommandSystem system;
  system.rdus_per_node = constants.system.rdus;
  system.tiles_per_rdu = constants.chip.tiles;
  CopySize size;
  size.tiles = setup.tiles_per_part * dies;
  size.rdus = setup.parts / dies;
  return copies_per_node(size, system);
}

ReplicaFold fold_replicas(const Node& node, const std::vector<double>& slowdown, bool wanted) {
  ReplicaFold fold;
  fold.map = unfolded(node.platform);
  fold.simulated.resize(node.replicas.size());
  std::iota(fold.simulated.begin(), fold.simulated.end(), std::size_t{0});
  if (!wanted || node.replicas.size() == 1) return fold;
  const std::size_t parts = node.replicas.front().size();
  FoldMap map = fold.map;
  for (std::size_t replica = 1; replica < node.replicas.size(); ++replica) {
    for (std::size_t part = 0; part < parts; ++part) {
      const PartResources& own = node.replicas[replica][part];
      const PartResources& model = node.replicas.front()[part];
      if (slowdown[own.device.index()] != slowdown[model.device.index()]) {
        fold.reason = node.platform[own.device].name + " has another speed";
        return fold;
      }
      map.device_representative[own.device.index()] = model.device;
      map.memory_representative[own.ddr.index()] = model.ddr;
      if (own.hbm.valid()) map.memory_representative[own.hbm.index()] = model.hbm;
      const auto pair = [&](RouteId route, RouteId other) {
        if (!route.valid()) return;
        map.link_representative[node.platform[route].links.front().index()] = node.platform[other].links.front();
      };
      pair(own.port, model.port);
      pair(own.ddr_port, model.ddr_port);
      pair(own.issue, model.issue);
      pair(own.peer, model.peer);
      pair(own.host_copy, model.host_copy);
      // The ring between replicas is run as it is.
    }
  }
  fold.simulated = {0};
  fold.map = std::move(map);
  fold.folded = true;
  return fold;
}

}  // namespace podsim::rdu
