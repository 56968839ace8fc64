#pragma once
// Sizes that every operator list counts with.

#include <cstdint>
#include <initializer_list>
#include <stdexcept>

namespace podsim::rdu {

inline constexpr std::int64_t k_bf16_bytes = 2;
inline constexpr std::int64_t k_single_bytes = 4;  // labels too

// Throws std::range_error beyond 64 bits.
inline std::int64_t product(std::initializer_list<std::int64_t> factors) {
  std::int64_t result = 1;
  for (const std::int64_t factor : factors) {
    if (__builtin_mul_overflow(result, factor, &result)) {
      throw std::range_error("the dimensions of the model exceed 64-bit counts");
    }
  }
  return result;
}

}  // namespace podsim::rdu
