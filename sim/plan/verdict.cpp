#include "sim/plan/verdict.hpp"

namespace podsim {

Bytes DeviceMemoryAccount::total() const {
  Bytes sum;
  for (const MemoryAccountEntry& entry : entries) sum += entry.bytes;
  return sum;
}

Bytes DeviceMemoryAccount::always_live() const {
  Bytes sum;
  for (const MemoryAccountEntry& entry : entries) {
    if (entry.always_live) sum += entry.bytes;
  }
  return sum;
}

}  // namespace podsim
