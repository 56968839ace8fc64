#pragma once
// Physical quantities as types: a wrong formula does not compile. Five exponents: time (s), data (byte),
// work (FLOP; a multiply-add counts as two), energy (J), cycle. Values are doubles in base units.
// Exact byte counts and simulated instants have their own integer types (bytes.hpp, sim_time.hpp).

#include <compare>
#include <type_traits>

namespace podsim {

template <int Time, int Data, int Work, int Energy, int Cycle>
class Quantity {
 public:
  constexpr Quantity() = default;
  // The value in base units (seconds, bytes, FLOP, joules, cycles and their products).
  static constexpr Quantity base(double value) { return Quantity(value); }
  constexpr double in_base() const { return value_; }

  friend constexpr auto operator<=>(Quantity, Quantity) = default;
  friend constexpr Quantity operator+(Quantity a, Quantity b) { return base(a.value_ + b.value_); }
  friend constexpr Quantity operator-(Quantity a, Quantity b) { return base(a.value_ - b.value_); }
  friend constexpr Quantity operator*(Quantity a, double k) { return base(a.value_ * k); }
  friend constexpr Quantity operator*(double k, Quantity a) { return base(a.value_ * k); }
  friend constexpr Quantity operator/(Quantity a, double k) { return base(a.value_ / k); }
  constexpr Quantity& operator+=(Quantity b) {
    value_ += b.value_;
    return *this;
  }
  constexpr Quantity& operator-=(Quantity b) {
    value_ -= b.value_;
    return *this;
  }

 private:
  constexpr explicit Quantity(double value) : value_(value) {}
  double value_ = 0.0;
};

template <int T1, int D1, int W1, int E1, int C1, int T2, int D2, int W2, int E2, int C2>
constexpr auto operator*(Quantity<T1, D1, W1, E1, C1> a, Quantity<T2, D2, W2, E2, C2> b) {
  if constexpr (T1 + T2 == 0 && D1 + D2 == 0 && W1 + W2 == 0 && E1 + E2 == 0 && C1 + C2 == 0) {
    return a.in_base() * b.in_base();
  } else {
    return Quantity<T1 + T2, D1 + D2, W1 + W2, E1 + E2, C1 + C2>::base(a.in_base() * b.in_base());
  }
}

template <int T1, int D1, int W1, int E1, int C1, int T2, int D2, int W2, int E2, int C2>
constexpr auto operator/(Quantity<T1, D1, W1, E1, C1> a, Quantity<T2, D2, W2, E2, C2> b) {
  if constexpr (T1 == T2 && D1 == D2 && W1 == W2 && E1 == E2 && C1 == C2) {
    return a.in_base() / b.in_base();
  } else {
    return Quantity<T1 - T2, D1 - D2, W1 - W2, E1 - E2, C1 - C2>::base(a.in_base() / b.in_base());
  }
}

using Duration = Quantity<1, 0, 0, 0, 0>;        // s
using DataSize = Quantity<0, 1, 0, 0, 0>;        // byte, not necessarily whole
using Bandwidth = Quantity<-1, 1, 0, 0, 0>;      // byte/s
using FlopCount = Quantity<0, 0, 1, 0, 0>;       // FLOP
using FlopRate = Quantity<-1, 0, 1, 0, 0>;       // FLOP/s
using Energy = Quantity<0, 0, 0, 1, 0>;          // J
using Power = Quantity<-1, 0, 0, 1, 0>;          // W
using Cycles = Quantity<0, 0, 0, 0, 1>;          // clock cycles
using Clock = Quantity<-1, 0, 0, 0, 1>;          // cycle/s
using BytesPerCycle = Quantity<0, 1, 0, 0, -1>;  // byte/cycle

constexpr Duration seconds(double value) {
  return Duration::base(value);
}
constexpr DataSize data_bytes(double value) {
  return DataSize::base(value);
}
constexpr Bandwidth bytes_per_second(double value) {
  return Bandwidth::base(value);
}
constexpr FlopCount flop(double value) {
  return FlopCount::base(value);
}
constexpr FlopRate flop_per_second(double value) {
  return FlopRate::base(value);
}
constexpr Energy joules(double value) {
  return Energy::base(value);
}
constexpr Power watts(double value) {
  return Power::base(value);
}
constexpr Cycles cycles(double value) {
  return Cycles::base(value);
}
constexpr Clock hertz(double value) {
  return Clock::base(value);
}

}  // namespace podsim
