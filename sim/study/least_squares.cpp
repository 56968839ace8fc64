#include "sim/study/least_squares.hpp"

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <unsupported/Eigen/LevenbergMarquardt>

#include "sim/core/check.hpp"

namespace podsim {
namespace {

constexpr double k_step = 1e-3;           // of the differences that stand for derivatives
constexpr double k_no_effect = 1e-9;      // of a parameter on the residuals
constexpr double k_illegal = 1e6;         // a residual no legal parameters have, so that the search turns back
constexpr int k_most_evaluations = 4000;  // those for derivatives counted
constexpr double k_tolerance = 1e-10;     // of the sum of squares and of the parameters, relative

class Residuals : public Eigen::DenseFunctor<double> {
 public:
  explicit Residuals(const LeastSquaresProblem& problem)
      : Eigen::DenseFunctor<double>(static_cast<int>(problem.parameters),
                                    static_cast<int>(problem.residuals + problem.parameters)),
        problem_(problem),
        rows_(static_cast<Eigen::Index>(problem.residuals)) {}

  int operator()(const Eigen::VectorXd& free, Eigen::VectorXd& residuals) const {
    const Eigen::VectorXd parameters = bounded(free);
    const std::optional<Eigen::VectorXd> known = at(parameters);
    residuals.head(rows_) = known ? *known : Eigen::VectorXd::Constant(rows_, k_illegal);
    residuals.tail(inputs()) = problem_.hold * parameters;
    return evaluations_ > k_most_evaluations ? -1 : 0;
  }

  int df(const Eigen::VectorXd& free, Eigen::MatrixXd& jacobian) const {
    const Eigen::VectorXd parameters = bounded(free);
    const std::optional<Eigen::VectorXd> here = at(parameters);
    PODSIM_CHECK(here.has_value(), "derivatives where the parameters are not legal");
    jacobian.setZero();
    for (int p = 0; p < inputs(); ++p) {
      const double share = parameters[p] / problem_.limit;
      const double slope = 1 - share * share;  // of the bounded parameter
      jacobian.col(p).head(rows_) = slope * forward(parameters, *here, p);
      jacobian(rows_ + p, p) = slope * problem_.hold;
    }
    return evaluations_ > k_most_evaluations ? -1 : 0;
  }

  Eigen::VectorXd bounded(const Eigen::VectorXd& free) const {
    return problem_.limit * (free / problem_.limit).array().tanh().matrix();
  }

  std::optional<Eigen::VectorXd> at(const Eigen::VectorXd& parameters) const {
    ++evaluations_;
    const std::optional<std::vector<double>> residuals =
        problem_.evaluate(std::vector<double>(parameters.begin(), parameters.end()));
    if (!residuals) return std::nullopt;
    return Eigen::Map<const Eigen::VectorXd>(residuals->data(), rows_);
  }

  // Differences to both sides; to one where the other is not legal.
  Eigen::MatrixXd central_jacobian(const Eigen::VectorXd& parameters, const Eigen::VectorXd& here) const {
    Eigen::MatrixXd jacobian(rows_, inputs());
    for (int p = 0; p < inputs(); ++p) {
      const auto up = moved(parameters, p, k_step);
      const auto down = moved(parameters, p, -k_step);
      if (up && down) {
        jacobian.col(p) = (*up - *down) / (2 * k_step);
      } else {
        jacobian.col(p) = forward(parameters, here, p);
      }
    }
    return jacobian;
  }

  int evaluations() const { return evaluations_; }

 private:
  std::optional<Eigen::VectorXd> moved(Eigen::VectorXd parameters, int p, double by) const {
    parameters[p] += by;
    return at(parameters);
  }

  Eigen::VectorXd forward(const Eigen::VectorXd& parameters, const Eigen::VectorXd& here, int p) const {
    for (const double step : {k_step, -k_step}) {
      if (const auto there = moved(parameters, p, step)) return (*there - here) / step;
    }
    return Eigen::VectorXd::Zero(rows_);
  }

  const LeastSquaresProblem& problem_;
  Eigen::Index rows_;  // residuals of the problem itself
  mutable int evaluations_ = 0;
};

std::vector<double> listed(const Eigen::VectorXd& values) {
  return {values.begin(), values.end()};
}

UnknownDirection direction_of(const Eigen::VectorXd& parts, const Eigen::MatrixXd& jacobian) {
  Eigen::Index largest = 0;
  parts.cwiseAbs().maxCoeff(&largest);
  const Eigen::VectorXd scaled = parts / parts[largest];
  return {listed(scaled), (jacobian * scaled).cwiseAbs().maxCoeff()};
}

// Standard errors, correlations and what stays unknown, from the derivatives at the result.
void judge(const Eigen::MatrixXd& jacobian, const Eigen::VectorXd& residuals, double unknown_from,
           LeastSquaresFit& fit) {
  const Eigen::Index parameters = jacobian.cols();
  const Eigen::JacobiSVD<Eigen::MatrixXd> parts(jacobian, Eigen::ComputeThinU | Eigen::ComputeThinV);
  const Eigen::VectorXd& sizes = parts.singularValues();
  const Eigen::Index spare = residuals.size() - parameters;
  const double variance = spare > 0 ? residuals.squaredNorm() / static_cast<double>(spare) : 0;
  const double least = std::max(k_no_effect, 1e-7 * sizes.maxCoeff());
  Eigen::MatrixXd covariance = Eigen::MatrixXd::Zero(parameters, parameters);
  Eigen::VectorXd hidden = Eigen::VectorXd::Zero(parameters);  // share of a parameter in what no residual shows
  for (Eigen::Index k = 0; k < parameters; ++k) {
    const Eigen::VectorXd direction = parts.matrixV().col(k);
    const bool shows = sizes[k] > least;
    if (shows) covariance += variance / (sizes[k] * sizes[k]) * direction * direction.transpose();
    if (!shows) hidden += direction.cwiseAbs2();
    if (!shows || std::sqrt(variance) / sizes[k] > unknown_from) {
      fit.unknown.push_back(direction_of(direction, jacobian));
    }
  }
  fit.standard_errors.resize(static_cast<std::size_t>(parameters));
  fit.correlations.assign(static_cast<std::size_t>(parameters),
                          std::vector<double>(static_cast<std::size_t>(parameters), 0));
  constexpr double k_most_hidden = 1e-3;
  const auto known = [&](Eigen::Index p) { return spare > 0 && hidden[p] < k_most_hidden; };
  for (Eigen::Index p = 0; p < parameters; ++p) {
    if (!known(p)) continue;
    fit.standard_errors[static_cast<std::size_t>(p)] = std::sqrt(covariance(p, p));
    for (Eigen::Index q = 0; q < parameters; ++q) {
      const double product = std::sqrt(covariance(p, p) * covariance(q, q));
      const double correlation = p == q ? 1 : product > 0 ? covariance(p, q) / product : 0;
      if (known(q)) fit.correlations[static_cast<std::size_t>(p)][static_cast<std::size_t>(q)] = correlation;
    }
  }
}

}  // namespace

LeastSquaresFit fit_least_squares(const LeastSquaresProblem& problem, double unknown_from) {
  PODSIM_CHECK(problem.parameters > 0 && problem.residuals >= problem.parameters, "more parameters than residuals");
  Residuals functor(problem);
  Eigen::LevenbergMarquardt<Residuals> search(functor);
  search.setFtol(k_tolerance);
  search.setXtol(k_tolerance);
  search.setFactor(1);  // the first step is to move the residuals by about 1 at most
  Eigen::VectorXd free = Eigen::VectorXd::Zero(static_cast<Eigen::Index>(problem.parameters));
  const auto status = search.minimize(free);
  LeastSquaresFit fit;
  fit.converged = status > 0 && status != Eigen::LevenbergMarquardtSpace::TooManyFunctionEvaluation &&
                  status != Eigen::LevenbergMarquardtSpace::UserAsked;
  const Eigen::VectorXd parameters = functor.bounded(free);
  const std::optional<Eigen::VectorXd> residuals = functor.at(parameters);
  PODSIM_CHECK(residuals.has_value(), "a search that ends where the parameters are not legal");
  const Eigen::MatrixXd jacobian = functor.central_jacobian(parameters, *residuals);
  fit.parameters = listed(parameters);
  fit.residuals = listed(*residuals);
  for (Eigen::Index r = 0; r < jacobian.rows(); ++r) fit.jacobian.push_back(listed(jacobian.row(r)));
  judge(jacobian, *residuals, unknown_from, fit);
  fit.evaluations = functor.evaluations();
  return fit;
}

}  // namespace podsim
