#pragma once
// Simulated time in whole picoseconds: what programs, engines and reports count in, so that equal runs are
// equal as text. Range: 106 days either way; sums and products beyond it throw std::range_error.

#include <compare>
#include <cstdint>

#include "sim/units/quantity.hpp"

namespace podsim {

class SimTime {
 public:
  constexpr SimTime() = default;
  constexpr explicit SimTime(std::int64_t picoseconds) : picoseconds_(picoseconds) {}
  constexpr std::int64_t picoseconds() const { return picoseconds_; }
  constexpr Duration duration() const { return seconds(static_cast<double>(picoseconds_) * 1e-12); }

  friend constexpr auto operator<=>(SimTime, SimTime) = default;
  friend constexpr SimTime operator+(SimTime a, SimTime b) { return a += b; }
  friend constexpr SimTime operator-(SimTime a, SimTime b) { return a -= b; }
  friend constexpr SimTime operator*(SimTime a, std::int64_t k) {
    std::int64_t product = 0;
    if (__builtin_mul_overflow(a.picoseconds_, k, &product)) throw_out_of_range();
    return SimTime(product);
  }
  friend constexpr SimTime operator*(std::int64_t k, SimTime a) { return a * k; }
  constexpr SimTime& operator+=(SimTime b) {
    if (__builtin_add_overflow(picoseconds_, b.picoseconds_, &picoseconds_)) throw_out_of_range();
    return *this;
  }
  constexpr SimTime& operator-=(SimTime b) {
    if (__builtin_sub_overflow(picoseconds_, b.picoseconds_, &picoseconds_)) throw_out_of_range();
    return *this;
  }

 private:
  [[noreturn]] static void throw_out_of_range();

  std::int64_t picoseconds_ = 0;
};

// The one rounding from a modelled duration to simulated time: to the nearest picosecond, halves away from zero.
// Throws std::range_error when the duration is negative, not finite or out of range.
SimTime to_sim_time(Duration duration);

}  // namespace podsim
