#pragma once
// Floating-point formats narrower than single precision: conversion of a single-precision value, rounded to nearest
// or stochastically. Values stay `float`; a rounded one is a value that the format can hold. Nothing here works under
// -ffast-math: the tests compare bit by bit.

#include <cstdint>

namespace podsim {

enum class NumberFormat { float16, bfloat16, float32 };

// What a finite value becomes that rounds beyond the largest finite one. Infinities and NaN pass through.
enum class OverflowRule { saturate, infinity, not_a_number };

struct FormatRange {
  double largest = 0;          // finite
  double overflow_from = 0;    // magnitudes from here round beyond `largest`
  double smallest_normal = 0;  // below it precision shrinks
  double smallest = 0;         // subnormal
  double flushed_up_to = 0;    // magnitudes up to here round to zero (a tie goes to even)
  double unit_roundoff = 0;    // largest relative error of rounding a normal value to nearest
  int fraction_bits = 0;       // stored ones
};

// IEEE 754-2019 binary16 and binary32, and bfloat16: the upper half of binary32, subnormals kept.
const FormatRange& range_of(NumberFormat format);

// To nearest, ties to even.
float rounded(float value, NumberFormat format, OverflowRule rule);

// Up or down with the probability of the value's place between its neighbours, so that the mean is the value. `draw` is
// uniform in [0, 1). A value beyond `largest` overflows when it is rounded up.
float stochastically_rounded(float value, NumberFormat format, OverflowRule rule, double draw);

// The 16 bits of a value rounded to nearest with infinities on overflow; float16 or bfloat16 only.
std::uint16_t bits_of(float value, NumberFormat format);
// The value of 16 bits; float16 or bfloat16 only.
float value_of(std::uint16_t bits, NumberFormat format);

}  // namespace podsim
