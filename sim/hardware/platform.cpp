#include "sim/hardware/platform.hpp"

#include <cmath>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

template <class TypedId, class T>
TypedId append(SharedVector<T>& items, T item) {
  items.push_back(std::move(item));
  return TypedId(static_cast<std::uint32_t>(items.size() - 1));
}

}  // namespace

DeviceId Platform::add(Device device) {
  return append<DeviceId>(devices_, std::move(device));
}

MemoryId Platform::add(Memory memory) {
  PODSIM_CHECK(memory.limit <= memory.capacity, memory.name + ": a limit above the capacity");
  return append<MemoryId>(memories_, std::move(memory));
}

LinkId Platform::add(Link link) {
  const double rate = link.bandwidth.in_base();
  PODSIM_CHECK(std::isfinite(rate) && rate > 0, link.name + ": a link needs a bandwidth above 0");
  return append<LinkId>(links_, std::move(link));
}

RouteId Platform::add(Route route) {
  PODSIM_CHECK(!route.links.empty(), route.name + ": a route needs a link");
  for (const LinkId link : route.links) PODSIM_CHECK(link.index() < links_.size(), route.name + ": unknown link");
  return append<RouteId>(routes_, std::move(route));
}

}  // namespace podsim
