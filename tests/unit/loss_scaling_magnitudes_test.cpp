// Are the shares that a number format loses those of the closed forms?
#include <doctest/doctest.h>

#include <cmath>
#include <numbers>

#include "models/loss_scaling/magnitudes.hpp"
#include "sim/numerics/normal.hpp"
#include "sim/numerics/sampling.hpp"

using namespace podsim;
using namespace podsim::loss_scaling;

namespace {

// log2 of limits of half precision: largest magnitude flushed, smallest normal, the edges of counting and overflow.
constexpr double k_flush = -25;
constexpr double k_smallest = -24;
constexpr double k_normal = -14;
const double k_edge = std::log2(8188.0);
const double k_largest = std::log2(65504.0);
const double k_overflow = std::log2(65520.0);
constexpr double k_bfloat_flush = -134;
constexpr double k_bfloat_overflow = 128;  // rounded up from 127.997 in the table below

// Distributions (location, spread, scale, share of zeros) with shares of all values, computed with 10 digits from
// complementary error functions in double precision; energies are parts of the sum of squares.
struct LognormalCase {
  double location, spread, scale, zeros;
  double flush, stochastic_flush, subnormal, upper, saturated, overflow;
  double energy_flushed, energy_saturated, bfloat_flush, bfloat_overflow;
};

struct MixtureCase {
  double location, spread, scale, flush, subnormal, upper, overflow;
};

struct TruncatedCase {
  double location, spread, scale, values, end, energy_flushed, energy_saturated;
};

constexpr LognormalCase k_lognormal[] = {
    {-20, 4, 0, 0, 0.1056497737, 0.09830275477, 0.8275430251, 7.931408719e-17, 1.130400658e-19, 1.129494062e-19,
     5.408964771e-12, 0.0002755074824, 5.857141254e-179, 5.725571223e-300},
    {-20, 4, 3, 0, 0.02275013195, 0.02180340693, 0.7506225157, 3.195182641e-14, 7.931408719e-17, 7.925564681e-17,
     2.258360445e-14, 0.003418856575, 2.245131177e-188, 4.968506597e-288},
    {-20, 4, 10, 0, 8.84172852e-05, 9.679835858e-05, 0.1585668366, 4.466823922e-09, 4.020705788e-11, 4.018352225e-11,
     7.348043022e-21, 0.1698782715, 2.695250081e-211, 4.010728967e-261},
    {-20, 4, 15, 0, 2.866515719e-07, 3.597337343e-07, 0.012224186, 3.400489829e-06, 7.612236316e-08, 7.608597131e-08,
     2.673591153e-26, 0.6161381117, 1.758982375e-228, 1.02065719e-242},
    {-20, 4, 20, 0, 2.052263425e-10, 3.026587906e-10, 0.0002326288738, 0.0005773825681, 3.169482477e-05,
     3.168302978e-05, 2.066642467e-32, 0.9388696212, 2.409838695e-246, 5.452080604e-225},
    {-20, 4, 24, 0, 2.083858159e-13, 3.545786645e-13, 3.397672916e-06, 0.01223006481, 0.001350678922, 0.001350288378,
     8.722677173e-38, 0.9945416435, 4.010728967e-261, 2.695250081e-211},
    {-24, 3, 0, 0, 0.3694413402, 0.3367508048, 0.6301295995, 3.004540414e-35, 7.429772388e-41, 7.41808201e-41,
     3.524287092e-06, 2.274374583e-20, 1.241407832e-294, 0.0},
    {-24, 3, 12, 0, 7.343423837e-06, 1.021047174e-05, 0.2524851941, 3.93768063e-17, 5.141012031e-21, 5.135316437e-21,
     1.013665196e-17, 1.144353489e-07, 0.0, 0.0},
    {-14, 3, 7, 0, 9.86587645e-10, 1.884647359e-09, 0.009815327642, 1.31048702e-11, 8.842356722e-15, 8.834267315e-15,
     1.512610571e-24, 0.0002261277726, 0.0, 0.0},
    {-14, 3, 0, 0.5, 6.143319498e-05, 7.649759172e-05, 0.2499385668, 5.655026901e-20, 3.818973322e-24, 3.814446709e-24,
     2.527216292e-15, 2.596258039e-09, 0.0, 0.0},
    {-30, 5, 0, 0, 0.8413447461, 0.8105455488, 0.157968116, 3.990702119e-18, 1.792097524e-20, 1.790922644e-20,
     1.501155618e-09, 0.01165280643, 2.164045147e-96, 1.846036235e-219},
    {-30, 5, 15, 0, 0.02275013195, 0.02142786781, 0.5565095775, 1.072630641e-08, 2.825686989e-10, 2.824422082e-10,
     2.101890978e-19, 0.7677975114, 1.669885102e-125, 3.359367286e-180},
    {-22.2163, 3.5, 12, 0, 1.200476976e-05, 1.479281739e-05, 0.1398238431, 1.64435529e-11, 3.439220205e-14,
     3.436583165e-14, 5.634786772e-20, 0.004168109821, 2.769164628e-274, 0.0},
    {-10, 2, 0, 0, 3.190891673e-14, 2.054383918e-13, 0.02275013195, 6.622748105e-31, 6.14540942e-39, 6.131269015e-39,
     4.682857667e-25, 7.500289917e-25, 0.0, 0.0},
};
constexpr MixtureCase k_mixture[] = {
    {-13.8236, 0.0, 0, 0.000344753278, 0.6234492, 0.0, 0.0},
    {-13.8236, 0.25, 0, 0.00034996851, 0.624785997, 0.0, 0.0},
    {-16.25, 0.0, 0, 0.00185322098, 0.998144812, 0.0, 0.0},
    {-16.25, 0.75, 0, 0.00212134613, 0.990235099, 0.0, 0.0},
    {-9.9136, 1.75, 0, 4.78617769e-05, 0.0914669985, 0.0, 0.0},
    {-9.9136, 1.75, 17, 3.65156397e-10, 7.47475144e-07, 0.00050373435, 5.52856501e-07},
    {-20, 1.0, 0, 0.0316693421, 0.968330573, 0.0, 0.0},
    {-20, 1.0, 12, 7.74032474e-06, 0.0158400445, 0.0, 0.0},
    {-20, 3.0, 12, 5.28847347e-05, 0.0694987436, 2.4902533e-12, 1.63675741e-15},
    {-24, 0.5, 0, 0.397590365, 0.602409635, 0.0, 0.0},
    {-24, 0.5, 20, 4.04010278e-07, 0.000827008827, 0.0, 0.0},
};
constexpr TruncatedCase k_truncated[] = {
    {-20, 3, 0, 1000000.0, 4.7534243, 3.9316853e-09, 0.0},
    {-20, 3, 10, 1000000.0, 4.7534243, 3.6217305e-20, 0.0},
    {-20, 3, 20, 1000000.0, 4.7534243, 5.6862031e-36, 0.0},
    {-20, 4, 15, 100000000.0, 5.6120012, 5.0767055e-26, 0.27111004},
    {-24, 3, 0, 1000000.0, 4.7534243, 4.8683048e-06, 0.0},
    {-24, 3, 27, 1000000.0, 4.7534243, 1.200374e-41, 0.21379705},
};

Magnitudes lognormal(double location, double spread) {
  return {MagnitudeShape::lognormal, location, spread};
}

Magnitudes mixture(double location, double spread) {
  return {MagnitudeShape::gaussian_mixture, location, spread};
}

// Equal to `digits` relative; what is smaller than double precision holds counts as zero.
bool near(double value, double expected, double relative = 1e-6) {
  if (expected < 1e-290) return value < 1e-280;
  return std::abs(value - expected) <= relative * expected;
}

}  // namespace

TEST_CASE("magnitudes: shares of log-normal values") {
  for (const LognormalCase& row : k_lognormal) {
    CAPTURE(row.location);
    CAPTURE(row.scale);
    const Magnitudes m = scaled(lognormal(row.location, row.spread), row.scale);
    const double nonzero = 1 - row.zeros;
    CHECK(near(nonzero * share_at_most(m, k_flush), row.flush));
    CHECK(near(nonzero * share_flushed_stochastically(m, k_smallest), row.stochastic_flush));
    CHECK(near(nonzero * (share_at_most(m, k_normal) - share_at_most(m, k_flush)), row.subnormal));
    CHECK(near(nonzero * share_at_least(m, k_edge), row.upper));
    CHECK(near(nonzero * share_at_least(m, k_largest), row.saturated));
    CHECK(near(nonzero * share_at_least(m, k_overflow), row.overflow));
    CHECK(near(nonzero * share_at_most(m, k_bfloat_flush), row.bfloat_flush));
    CHECK(near(nonzero * share_at_least(m, k_bfloat_overflow), row.bfloat_overflow));
    const EnergyShares energy = energy_shares(m, k_flush, k_largest);
    CHECK(near(energy.flushed, row.energy_flushed));
    CHECK(near(energy.saturated, row.energy_saturated));
  }
}

TEST_CASE("magnitudes: shares of Gaussian scale mixtures") {
  for (const MixtureCase& row : k_mixture) {
    CAPTURE(row.location);
    CAPTURE(row.spread);
    CAPTURE(row.scale);
    const Magnitudes m = scaled(mixture(row.location, row.spread), row.scale);
    CHECK(near(share_at_most(m, k_flush), row.flush));
    CHECK(near(share_at_most(m, k_normal) - share_at_most(m, k_flush), row.subnormal));
    CHECK(near(share_at_least(m, k_edge), row.upper));
    CHECK(near(share_at_least(m, k_overflow), row.overflow));
  }
}

TEST_CASE("magnitudes: the energy of a finite log-normal tensor ends at its expected largest value") {
  for (const TruncatedCase& row : k_truncated) {
    CAPTURE(row.scale);
    CHECK(-normal_quantile(1 / row.values) == doctest::Approx(row.end).epsilon(1e-7));
    const Magnitudes m = scaled(lognormal(row.location, row.spread), row.scale);
    const EnergyShares energy = energy_shares(m, k_flush, k_largest, row.values);
    CHECK(near(energy.flushed, row.energy_flushed));
    CHECK(near(energy.saturated, row.energy_saturated));
  }
}

TEST_CASE("magnitudes: draws of a mixture have its shares, moments and lost direction") {
  constexpr int k_draws = 400'000;
  Magnitudes m = mixture(-16, 1.5);
  m.largest_deviation = 1;
  Random random(2);
  double logs = 0;
  double flushed = 0;
  double stochastic = 0;
  double large = 0;
  double squares = 0;
  double product = 0;
  double rounded_squares = 0;
  constexpr double k_low = -19;
  constexpr double k_high = -15;
  for (int i = 0; i < k_draws; ++i) {
    double u = draw_normal(random);
    while (u > m.largest_deviation) u = draw_normal(random);
    const double value = std::abs(std::exp2(m.location + m.spread * u) * draw_normal(random));
    logs += std::log2(value);
    flushed += value <= std::exp2(k_low);
    stochastic += std::max(0.0, 1 - value / std::exp2(k_low));
    large += value >= std::exp2(k_high);
    const double kept = value <= std::exp2(k_low) ? 0 : std::min(value, std::exp2(k_high));
    squares += value * value;
    product += value * kept;
    rounded_squares += kept * kept;
  }
  // Shares: five binomial deviations. The direction: squares have heavy tails, five percent.
  const auto close = [](double count, double share) {
    return std::abs(count / k_draws - share) < 5 * std::sqrt(share / k_draws);
  };
  CHECK(close(flushed, share_at_most(m, k_low)));
  CHECK(close(stochastic, share_flushed_stochastically(m, k_low)));
  CHECK(close(large, share_at_least(m, k_high)));
  const double lost = 1 - product / std::sqrt(squares * rounded_squares);
  CHECK(direction_loss(m, k_low, k_high) == doctest::Approx(lost).epsilon(0.05));
  // A normal distribution cut one deviation above its mean has its mean phi(1) / Phi(1) lower.
  const double cut = std::exp(-0.5) / std::sqrt(2 * std::numbers::pi) / normal_cdf(1);
  CHECK(logs / k_draws == doctest::Approx(-16 - 1.5 * cut + k_gaussian_mean).epsilon(0.001));
}

TEST_CASE("magnitudes: the log-normal of equal mean and deviation loses far less at the bottom") {
  // log2 |g| of a Gaussian has a long left tail; the share below c falls with c itself, not with a Gaussian of log c.
  const Magnitudes gaussian = mixture(-13.8236, 0.25);
  const Magnitudes normal = as_lognormal(gaussian);
  CHECK(normal.location == doctest::Approx(-14.74).epsilon(1e-4));
  CHECK(normal.spread == doctest::Approx(1.6218).epsilon(1e-4));
  CHECK(share_at_most(gaussian, k_flush) > 1e5 * share_at_most(normal, k_flush));
  // An octave of scale halves the flushed share of a Gaussian.
  CHECK(share_at_most(scaled(gaussian, 1), k_flush) / share_at_most(gaussian, k_flush) ==
        doctest::Approx(0.5).epsilon(1e-5));
}

TEST_CASE("magnitudes: mean and deviation of the logarithm of a normal value") {
  constexpr double k_euler = std::numbers::egamma;
  CHECK(k_gaussian_mean == doctest::Approx(-(k_euler + std::numbers::ln2) / (2 * std::numbers::ln2)).epsilon(1e-8));
  CHECK(k_gaussian_deviation ==
        doctest::Approx(std::numbers::pi / (2 * std::numbers::sqrt2 * std::numbers::ln2)).epsilon(1e-7));
}

// Gradients of a network of four pre-norm blocks without attention, its first update without a scale, in half
// precision: how many values became zero. Shapes from mean and deviation of log2 |g| alone.
TEST_CASE(
    "magnitudes: a mixture predicts what half precision flushed in a small network, a log-normal shape does not") {
  struct Case {
    const char* tensor;
    double values, zeros, mean, deviation, flushed, mixture, lognormal;
  };
  for (const Case& row : {Case{"output weights", 32768, 0, -10.83, 2.37, 6.104e-05, 4.771e-05, 1.12e-09},
                          Case{"stream behind block 4", 16384, 0, -14.74, 1.61, 4.272e-4, 3.468e-4, 9.29e-11},
                          Case{"hidden of block 3", 65536, 0.503, -17.25, 1.63, 1.749e-3, 2.006e-3, 9.94e-07},
                          Case{"norm of block 3", 16384, 0, -16.75, 1.61, 9.155e-4, 1.397e-3, 1.49e-07},
                          Case{"hidden of block 2", 65536, 0.491, -17.19, 1.61, 1.528e-3, 1.895e-3, 6.14e-07},
                          Case{"hidden of block 1", 65536, 0.499, -17.16, 1.61, 1.706e-3, 1.856e-3, 5.59e-07},
                          Case{"hidden of block 0", 65536, 0.501, -17.16, 1.63, 1.925e-3, 1.885e-3, 7.55e-07}}) {
    CAPTURE(row.tensor);
    const double variance = row.deviation * row.deviation - k_gaussian_deviation * k_gaussian_deviation;
    const Magnitudes shape = mixture(row.mean - k_gaussian_mean, std::sqrt(variance));
    const double share = share_at_most(shape, k_flush);
    // The table's means and deviations have two decimals; its measured shares count few values.
    CHECK(share == doctest::Approx(row.mixture).epsilon(0.02));
    CHECK(share_at_most(lognormal(row.mean, row.deviation), k_flush) / row.lognormal ==
          doctest::Approx(1).epsilon(0.2));
    const double counted = row.values * (1 - row.zeros) * row.flushed;
    CHECK(std::abs(counted - row.values * (1 - row.zeros) * share) < 3 * std::sqrt(counted) + 1);
  }
}

TEST_CASE("magnitudes: the probability of any overflow among many values") {
  CHECK(any_of(1e-9, 1e6) == doctest::Approx(0.0009995001671).epsilon(1e-9));
  CHECK(any_of(1e-9, 1e9) == doctest::Approx(0.632120559).epsilon(1e-9));
  CHECK(any_of(1e-7, 1e7) == doctest::Approx(0.6321205772).epsilon(1e-9));
  CHECK(any_of(1e-12, 1e10) == doctest::Approx(0.009950166251).epsilon(1e-9));
  CHECK(any_of(3e-8, 336e6) == doctest::Approx(0.9999580906).epsilon(1e-9));
  CHECK(any_of(0, 1e9) == 0);
  CHECK(any_of(1, 5) == 1);
  CHECK(any_of(1, 0) == 0);
}
