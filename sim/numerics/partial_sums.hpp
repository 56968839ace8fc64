#pragma once
// Dot products as a matrix unit forms them: chunks of a few products are summed exactly, the running sum is kept in
// the format of the partial sums and rounded behind each chunk.

#include <cstddef>
#include <span>

#include "sim/numerics/number_format.hpp"

namespace podsim {

struct Accumulation {
  NumberFormat partials = NumberFormat::float32;
  int chunk = 16;  // products behind which the running sum is rounded; at least 1
  OverflowRule rule = OverflowRule::saturate;
};

// The last running sum. Operands are of equal length, or PODSIM_CHECK fails. A chunk is summed in single precision from
// its first product on; with float32 partials nothing else is rounded.
float dot_product(std::span<const float> a, std::span<const float> b, const Accumulation& accumulation);

// The running sum after one more chunk.
float accumulate(float sum, float chunk, const Accumulation& accumulation);

// Relative error (root mean square) of a sum of `length` terms, from the rounding behind each chunk alone; a mantissa
// spread evenly on a logarithmic scale. Terms of random sign: e sqrt(n/2); of one sign: e sqrt(n/3); n chunks.
double incoherent_sum_error(double length, const Accumulation& accumulation);
double coherent_sum_error(double length, const Accumulation& accumulation);

// Terms of one sign and size after which rounding to nearest leaves the running sum where it is: 1 / roundoff chunks.
double stagnation_length(const Accumulation& accumulation);

}  // namespace podsim
