#pragma once
// The standard normal distribution.

namespace podsim {

// P(z <= x), and P(z > x) without the loss of 1 - P.
double normal_cdf(double x);
double normal_tail(double x);

// The x with P(z <= x) = p; p in (0, 1), or PODSIM_CHECK fails. Accurate to some units in the last place of p.
double normal_quantile(double p);

}  // namespace podsim
