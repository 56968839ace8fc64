#pragma once
// An exact count of bytes: whether something fits is decided to the byte.

#include <compare>
#include <cstdint>

#include "sim/units/quantity.hpp"

namespace podsim {

class Bytes {
 public:
  constexpr Bytes() = default;
  constexpr explicit Bytes(std::int64_t count) : count_(count) {}
  constexpr std::int64_t count() const { return count_; }
  // The floating counterpart, for rates.
  constexpr DataSize size() const { return data_bytes(static_cast<double>(count_)); }

  friend constexpr auto operator<=>(Bytes, Bytes) = default;
  friend constexpr Bytes operator+(Bytes a, Bytes b) { return Bytes(a.count_ + b.count_); }
  friend constexpr Bytes operator-(Bytes a, Bytes b) { return Bytes(a.count_ - b.count_); }
  friend constexpr Bytes operator*(Bytes a, std::int64_t k) { return Bytes(a.count_ * k); }
  friend constexpr Bytes operator*(std::int64_t k, Bytes a) { return a * k; }
  constexpr Bytes& operator+=(Bytes b) {
    count_ += b.count_;
    return *this;
  }
  constexpr Bytes& operator-=(Bytes b) {
    count_ -= b.count_;
    return *this;
  }

 private:
  std::int64_t count_ = 0;
};

// The one way back from a computed size: rounds up to whole bytes. Throws std::range_error beyond 2^63.
Bytes round_up_bytes(DataSize size);

}  // namespace podsim
