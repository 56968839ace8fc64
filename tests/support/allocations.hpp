#pragma once
// Counts allocations: a test binary that includes this replaces the global operator new.

#include <cstdint>

namespace podsim::test {

// How often this thread has called operator new so far.
std::int64_t allocations();

}  // namespace podsim::test
