#pragma once
// Non-linear least squares: Levenberg and Marquardt's method (Moré 1978, as in MINPACK, by Eigen), and what the data
// say of the result.
//
// A parameter p is searched for within ±limit as p = limit · tanh(u / limit), so that no step leaves the bounds.

#include <functional>
#include <optional>
#include <vector>

namespace podsim {

struct LeastSquaresProblem {
  std::size_t parameters = 0;
  std::size_t residuals = 0;  // at least as many
  double limit = 1;           // of the size of a parameter; all start from 0
  double hold = 1e-3;         // of each parameter as a further residual: what no residual shows stays near its start
  // Empty: the parameters are not legal. Those that the search begins from are.
  std::function<std::optional<std::vector<double>>(const std::vector<double>&)> evaluate;
};

// A combination of parameters, largest part ±1, along which no residual says enough.
struct UnknownDirection {
  std::vector<double> parts;
  double largest_effect = 0;  // on any residual, of moving by 1 along it
};

struct LeastSquaresFit {
  std::vector<double> parameters;
  std::vector<double> residuals;
  std::vector<std::vector<double>> jacobian;  // residual by parameter, at the result: central differences
  // s · sqrt(diagonal of (JᵀJ)⁻¹), s² = Σ r² / (residuals - parameters); empty where the data say nothing of the
  // parameter, and of all without a residual to spare.
  std::vector<std::optional<double>> standard_errors;
  std::vector<std::vector<double>> correlations;  // of parameters with a standard error; 0 beside others
  std::vector<UnknownDirection> unknown;
  bool converged = false;
  int evaluations = 0;
};

// Directions whose standard error is above `unknown_from`, or that move no residual at all, are unknown.
LeastSquaresFit fit_least_squares(const LeastSquaresProblem& problem, double unknown_from);

}  // namespace podsim
