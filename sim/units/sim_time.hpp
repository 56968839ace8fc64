#pragma once
// Simulated time in whole picoseconds: what programs, engines and reports count in, so that equal runs are
// equal as text. Range: 106 days either way.

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
  friend constexpr SimTime operator+(SimTime a, SimTime b) { return SimTime(a.picoseconds_ + b.picoseconds_); }
  friend constexpr SimTime operator-(SimTime a, SimTime b) { return SimTime(a.picoseconds_ - b.picoseconds_); }
  friend constexpr SimTime operator*(SimTime a, std::int64_t k) { return SimTime(a.picoseconds_ * k); }
  friend constexpr SimTime operator*(std::int64_t k, SimTime a) { return a * k; }
  constexpr SimTime& operator+=(SimTime b) {
    picoseconds_ += b.picoseconds_;
    return *this;
  }
  constexpr SimTime& operator-=(SimTime b) {
    picoseconds_ -= b.picoseconds_;
    return *this;
  }

 private:
  std::int64_t picoseconds_ = 0;
};

// The one rounding from a modelled duration to simulated time: to the nearest picosecond, halves away from zero.
// Throws std::range_error when the duration is negative, not finite or out of range: a fault of the caller's model.
SimTime to_sim_time(Duration duration);

}  // namespace podsim
