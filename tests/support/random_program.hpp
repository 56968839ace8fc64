#pragma once
// Random valid platforms and programs, the same for the same seed on every machine: contention, empty transfers, ops
// without duration, simultaneous events, joins, deep and wide graphs, folds, nested repeats, segments that stand in
// several places.

#include <cstdint>
#include <vector>

#include "sim/hardware/platform.hpp"
#include "sim/program/program.hpp"

namespace podsim::test {

struct RandomCase {
  Platform platform;
  Program program;
};

struct RandomLimits {
  std::uint32_t devices = 6;
  std::uint32_t links = 8;
  std::uint32_t segments = 5;
  std::uint32_t ops = 40;  // per segment
};

RandomCase random_case(std::uint64_t seed, RandomLimits limits = {});

// `count` seeds from `first` on; or the one in the environment variable PODSIM_SEED, to look at a failure again.
std::vector<std::uint64_t> seeds(std::uint64_t first, std::uint64_t count);

// The same segment with its ops in another order.
struct Renumbered {
  Segment segment;
  std::vector<OpId> id;  // by old id: the new one
};
Renumbered renumbered(const Segment& segment, std::uint64_t seed);

// The same case with every duration and latency halved and every bandwidth doubled; durations must be even.
RandomCase twice_as_fast(const RandomCase& slow);

}  // namespace podsim::test
