#pragma once
// Draws of common distributions from the generators of sim/core: the same on every machine up to the last bits of the
// library's exp, log and cos. Streams are keyed, so that a draw depends on what it is for and not on what was drawn
// before.

#include <cstdint>
#include <initializer_list>

#include "sim/core/random.hpp"

namespace podsim {

// A generator of its own for each (seed, keys).
Random keyed_random(std::uint64_t seed, std::initializer_list<std::uint64_t> keys);

// Mean 0, standard deviation 1 (Box and Muller 1958; the second value is not kept).
double draw_normal(Random& random);

// Positive, with this mean.
double draw_exponential(Random& random, double mean);

// A count with this mean, at least 0 and finite: Poisson below a mean of 50 (products of uniform draws), the rounded
// normal of equal mean and variance above.
double draw_count(Random& random, double mean);

}  // namespace podsim
