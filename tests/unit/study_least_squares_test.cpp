// The fit against problems whose answer is known, and what it says of parameters that the residuals do not show.

#include <doctest/doctest.h>

#include <cmath>

#include "sim/study/least_squares.hpp"

using namespace podsim;

namespace {

// Residuals a + b · x - y of a line through three points.
LeastSquaresProblem line(const std::vector<double>& y) {
  LeastSquaresProblem problem;
  problem.parameters = 2;
  problem.residuals = y.size();
  problem.limit = 100;
  problem.evaluate = [y](const std::vector<double>& p) -> std::optional<std::vector<double>> {
    std::vector<double> residuals;
    for (std::size_t x = 0; x < y.size(); ++x) residuals.push_back(p[0] + p[1] * static_cast<double>(x) - y[x]);
    return residuals;
  };
  return problem;
}

}  // namespace

TEST_CASE("least squares: a line has the textbook's values and errors") {
  // y = 0, 1, 1 at x = 0, 1, 2: slope 1/2, height 1/6; Σ r² = 1/6 over one spare residual;
  // variance of the slope s² / Σ (x - 1)² = 1/12, of the height s² · Σ x² / (n Σ (x - 1)²) = 5/36.
  const LeastSquaresFit fit = fit_least_squares(line({0, 1, 1}), 10);
  CHECK(fit.converged);
  CHECK(fit.parameters[0] == doctest::Approx(1.0 / 6).epsilon(1e-6));
  CHECK(fit.parameters[1] == doctest::Approx(0.5).epsilon(1e-6));
  REQUIRE(fit.standard_errors[1].has_value());
  CHECK(*fit.standard_errors[0] == doctest::Approx(std::sqrt(5.0 / 36)).epsilon(1e-6));
  CHECK(*fit.standard_errors[1] == doctest::Approx(std::sqrt(1.0 / 12)).epsilon(1e-6));
  // -mean(x) / sqrt(mean(x²)) = -1 / sqrt(5/3).
  CHECK(fit.correlations[0][1] == doctest::Approx(-1 / std::sqrt(5.0 / 3)).epsilon(1e-6));
  CHECK(fit.unknown.empty());
}

TEST_CASE("least squares: without a residual to spare there are no errors") {
  const LeastSquaresFit fit = fit_least_squares(line({1, 3}), 10);
  CHECK(fit.parameters[1] == doctest::Approx(2).epsilon(1e-6));
  CHECK_FALSE(fit.standard_errors[0].has_value());
}

TEST_CASE("least squares: a sum shows neither of its parts") {
  LeastSquaresProblem problem;
  problem.parameters = 2;
  problem.residuals = 3;
  problem.limit = 3;
  problem.evaluate = [](const std::vector<double>& p) -> std::optional<std::vector<double>> {
    return std::vector<double>{p[0] + p[1] - 1, p[0] + p[1] - 1.1, p[0] + p[1] - 0.9};
  };
  const LeastSquaresFit fit = fit_least_squares(problem, 0.7);
  CHECK(fit.parameters[0] + fit.parameters[1] == doctest::Approx(1).epsilon(1e-6));
  REQUIRE(fit.unknown.size() == 1);
  CHECK(fit.unknown[0].parts[0] == doctest::Approx(-fit.unknown[0].parts[1]));
  CHECK(fit.unknown[0].largest_effect == doctest::Approx(0).epsilon(1e-9));
  CHECK_FALSE(fit.standard_errors[0].has_value());
}

TEST_CASE("least squares: the search stays within its limit and where parameters are legal") {
  LeastSquaresProblem problem;
  problem.parameters = 1;
  problem.residuals = 2;
  problem.limit = 2;
  problem.evaluate = [](const std::vector<double>& p) -> std::optional<std::vector<double>> {
    return std::vector<double>{p[0] - 5, p[0] - 5.2};
  };
  const LeastSquaresFit bounded = fit_least_squares(problem, 10);
  CHECK(bounded.parameters[0] > 1.9);
  CHECK(bounded.parameters[0] <= 2);

  problem.limit = 100;
  const auto free = problem.evaluate;
  problem.evaluate = [free](const std::vector<double>& p) -> std::optional<std::vector<double>> {
    return p[0] > 1.5 ? std::nullopt : free(p);
  };
  const LeastSquaresFit walled = fit_least_squares(problem, 10);
  CHECK(walled.parameters[0] <= 1.5);
  CHECK(walled.parameters[0] > 1);
}
