#include "models/ipu/ipu_constants.hpp"

#include <cmath>

namespace podsim::ipu {

Bytes usable_memory(const IpuConstants& constants) {
  const Bytes capacity = constants.chip.tile_memory * constants.chip.tiles;
  return Bytes(static_cast<std::int64_t>(std::floor(capacity.size().in_base() * constants.memory.usable_fraction)));
}

}  // namespace podsim::ipu
