#pragma once
// What a program runs on: compute devices, memories, one-way links and routes over them. Immutable once built, ids
// are dense, names are for reports. It knows no engine and no market name.

#include <string>
#include <vector>

#include "sim/core/ids.hpp"
#include "sim/core/shared_vector.hpp"
#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"
#include "sim/units/sim_time.hpp"

namespace podsim {

// A device executes its local ops one at a time, in program order.
struct Device {
  std::string name;
};

struct Memory {
  std::string name;
  DeviceId device;  // whose memory it is; none when several devices share it
  Bytes capacity;   // what is built in
  Bytes limit;      // what a program may fill; at most the capacity
};

// One direction of a physical connection, or the port of a memory. Transfers that overlap on it share it fairly
// (max-min).
struct Link {
  std::string name;
  Bandwidth bandwidth;
};

// The way of one transfer: a fixed latency, then a flow over all links at once.
struct Route {
  std::string name;
  std::vector<LinkId> links;  // without repetition; at least one
  SimTime latency;
};

class Platform {
 public:
  DeviceId add(Device device);
  MemoryId add(Memory memory);
  // The bandwidth must be finite and above 0.
  LinkId add(Link link);
  RouteId add(Route route);

  const std::vector<Device>& devices() const { return devices_.get(); }
  const std::vector<Memory>& memories() const { return memories_.get(); }
  const std::vector<Link>& links() const { return links_.get(); }
  const std::vector<Route>& routes() const { return routes_.get(); }
  const Device& operator[](DeviceId id) const { return devices_[id.index()]; }
  const Memory& operator[](MemoryId id) const { return memories_[id.index()]; }
  const Link& operator[](LinkId id) const { return links_[id.index()]; }
  const Route& operator[](RouteId id) const { return routes_[id.index()]; }
  // Whether one is a copy of the other, or both of a third: then they are equal.
  bool is_copy_of(const Platform& other) const {
    return devices_.identity() == other.devices_.identity() && memories_.identity() == other.memories_.identity() &&
           links_.identity() == other.links_.identity() && routes_.identity() == other.routes_.identity();
  }

 private:
  SharedVector<Device> devices_;
  SharedVector<Memory> memories_;
  SharedVector<Link> links_;
  SharedVector<Route> routes_;
};

}  // namespace podsim
