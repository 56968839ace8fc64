#include "models/loss_scaling/share_tables.hpp"

#include <algorithm>

namespace podsim::loss_scaling {
namespace {

// erfc(2^x / sqrt(2)) is 0 in double precision from here.
constexpr double k_no_tail = 6;

bool has_closed_form(const Magnitudes& m) {
  return m.shape == MagnitudeShape::lognormal || m.spread == 0;
}

}  // namespace

// Functions of limit - location.
struct ShareTables::Curves {
  explicit Curves(const Magnitudes& m)
      : spread(m.spread),
        largest_deviation(m.largest_deviation),
        points(scale_points(m.spread, m.largest_deviation)),
        at_most([this](double x) { return share_at_most(points, x); }),
        at_least([this](double x) { return share_at_least(points, x); }),
        flushed_stochastically([this](double x) { return share_flushed_stochastically(points, x); }) {}
  Curves(const Curves&) = delete;
  Curves& operator=(const Curves&) = delete;

  double spread;
  double largest_deviation;
  std::vector<ScalePoint> points;
  LazyTable at_most;
  LazyTable at_least;
  LazyTable flushed_stochastically;
};

ShareTables::ShareTables() = default;
ShareTables::~ShareTables() = default;

ShareTables::Curves& ShareTables::curves_of(const Magnitudes& magnitudes) {
  const auto same = [&magnitudes](const std::unique_ptr<Curves>& known) {
    return known->spread == magnitudes.spread && known->largest_deviation == magnitudes.largest_deviation;
  };
  const auto found = std::find_if(curves_.begin(), curves_.end(), same);
  if (found != curves_.end()) return **found;
  curves_.push_back(std::make_unique<Curves>(magnitudes));
  return *curves_.back();
}

double ShareTables::at_most(const GradientTensor& tensor, double limit, double octaves) {
  return mean_over_components(tensor, octaves, [&](const Magnitudes& m) {
    return has_closed_form(m) ? share_at_most(m, limit) : curves_of(m).at_most(limit - m.location);
  });
}

double ShareTables::at_least(const GradientTensor& tensor, double limit, double octaves) {
  if (limit > tensor.bound + octaves) return 0;
  return mean_over_components(tensor, octaves, [&](const Magnitudes& m) {
    if (has_closed_form(m)) return share_at_least(m, limit);
    if (limit - m.location > m.spread * m.largest_deviation + k_no_tail) return 0.0;
    return curves_of(m).at_least(limit - m.location);
  });
}

double ShareTables::flushed(const GradientTensor& tensor, const FormatLimits& limits, bool stochastic, double octaves) {
  if (!stochastic) return at_most(tensor, limits.flush, octaves);
  return mean_over_components(tensor, octaves, [&](const Magnitudes& m) {
    return has_closed_form(m) ? share_flushed_stochastically(m, limits.smallest)
                              : curves_of(m).flushed_stochastically(limits.smallest - m.location);
  });
}

}  // namespace podsim::loss_scaling
