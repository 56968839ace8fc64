#pragma once
// Whether a plan fits its machine, as a value: a sweep records it, a single run exits with 3.

#include <string>
#include <vector>

#include "sim/core/ids.hpp"
#include "sim/core/shared_vector.hpp"
#include "sim/units/bytes.hpp"

namespace podsim {

struct BrokenLimit {
  std::string device;  // where
  std::string limit;   // what, e.g. "tile memory"
  double need = 0;
  double have = 0;
  std::string unit;    // of need and have, e.g. "byte"
  std::string remedy;  // the cheapest change that was found to help; empty: none was tried or none helps
};

struct Verdict {
  std::vector<BrokenLimit> broken;
  bool fits() const { return broken.empty(); }
};

// Memory of one device by category, from the plan alone.
struct MemoryAccountEntry {
  std::string category;
  Bytes bytes;
  bool always_live = true;
};

struct DeviceMemoryAccount {
  std::string memory;  // name of the memory on the platform
  std::string device;
  Bytes capacity;
  Bytes limit;
  SharedVector<MemoryAccountEntry> entries;
  Bytes total() const;
  Bytes always_live() const;
};

struct MemoryAccount {
  std::vector<DeviceMemoryAccount> memories;
};

}  // namespace podsim
