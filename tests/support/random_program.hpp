#pragma once
// Random valid platforms and programs, the same for the same seed on every machine: contention, empty transfers, ops
// without duration, simultaneous events, joins, nested repeats, segments that stand in several places.

#include <cstdint>

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

// The same case with every duration and latency halved and every bandwidth doubled; durations must be even.
RandomCase twice_as_fast(const RandomCase& slow);

}  // namespace podsim::test
