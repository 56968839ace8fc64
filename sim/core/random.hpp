#pragma once
// Seeded random numbers, the same on every machine: the distributions of the standard library differ between
// libraries, these draws are exact integer arithmetic. Not for secrets.

#include <array>
#include <bit>
#include <cstdint>

#include "sim/core/check.hpp"

namespace podsim {

// SplitMix64 (Steele, Lea, Flood 2014): spreads a seed; also good as a small generator of its own.
class SplitMix64 {
 public:
  explicit constexpr SplitMix64(std::uint64_t seed) : state_(seed) {}
  constexpr std::uint64_t next() {
    std::uint64_t z = (state_ += 0x9e3779b97f4a7c15);
    z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
    z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
    return z ^ (z >> 31);
  }

 private:
  std::uint64_t state_;
};

// xoshiro256** 1.0 (Blackman, Vigna 2018), seeded through SplitMix64.
class Random {
 public:
  explicit constexpr Random(std::uint64_t seed) {
    SplitMix64 spread(seed);
    for (std::uint64_t& word : state_) word = spread.next();
  }

  constexpr std::uint64_t next() {
    const std::uint64_t result = std::rotl(state_[1] * 5, 7) * 9;
    const std::uint64_t shifted = state_[1] << 17;
    state_[2] ^= state_[0];
    state_[3] ^= state_[1];
    state_[1] ^= state_[2];
    state_[0] ^= state_[3];
    state_[2] ^= shifted;
    state_[3] = std::rotl(state_[3], 45);
    return result;
  }

  // Uniform in [0, count), without bias; count > 0.
  constexpr std::uint64_t below(std::uint64_t count) {
    PODSIM_CHECK(count > 0, "a draw from nothing");
    const std::uint64_t rejected = (0 - count) % count;  // 2^64 mod count
    std::uint64_t draw = next();
    while (draw < rejected) draw = next();
    return draw % count;
  }

  // Uniform in [low, high], both included; low <= high.
  constexpr std::int64_t between(std::int64_t low, std::int64_t high) {
    PODSIM_CHECK(low <= high, "a draw from an empty range");
    const std::uint64_t span = static_cast<std::uint64_t>(high) - static_cast<std::uint64_t>(low);
    const std::uint64_t draw = span == UINT64_MAX ? next() : below(span + 1);
    return static_cast<std::int64_t>(static_cast<std::uint64_t>(low) + draw);
  }

  // Uniform in [0, 1): a multiple of 2^-53.
  constexpr double unit() { return static_cast<double>(next() >> 11) * 0x1p-53; }

 private:
  std::array<std::uint64_t, 4> state_{};
};

}  // namespace podsim
