#include "models/loss_scaling/trajectory.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>

#include "models/loss_scaling/share_tables.hpp"
#include "sim/numerics/sampling.hpp"

namespace podsim::loss_scaling {
namespace {

constexpr double k_far_octaves = 300;
constexpr double k_never = std::numeric_limits<double>::infinity();

bool is_tracked(const GradientTensor& tensor, bool products_only) {
  return !tensor.accumulator && (tensor.product || !products_only);
}

// All tensors that one process moves: counts over them are functions of one number.
struct Group {
  Group(const GradientModel& model, Drift drift_of_group, double edge, const FormatLimits& limits, bool products_only,
        ShareTables& shares)
      : drift(drift_of_group),
        at_edge([&model, &shares, drift_of_group, edge, products_only](double octaves) {
          double sum = 0;
          for (const GradientTensor& tensor : model.tensors) {
            if (tensor.drift != drift_of_group || !is_tracked(tensor, products_only)) continue;
            sum += values_per_update(tensor, model) * shares.at_least(tensor, edge, octaves);
          }
          return sum;
        }),
        no_overflow([&model, &shares, drift_of_group, limits](double octaves) {
          double sum = 0;
          for (const GradientTensor& tensor : model.tensors) {
            if (tensor.drift != drift_of_group) continue;
            const double share = std::min(shares.at_least(tensor, limits.overflow, octaves), 1 - 1e-16);
            sum -= values_per_update(tensor, model) * std::log1p(-share);
          }
          return sum;
        }) {}

  Drift drift;
  LazyTable at_edge;            // expected number of tracked values at or above the edge
  LazyTable no_overflow;        // -log of the probability that no value overflows
  std::vector<double> history;  // octaves of every update
};

// Noise common to all tensors, and spikes.
class Disturbance {
 public:
  Disturbance(const GradientProcess& process, Statistics statistics, std::uint64_t seed)
      : process_(process), drawn_(statistics == Statistics::sampled), seed_(seed) {}

  double octaves(std::int64_t update) {
    if (!drawn_) return 0;
    Random random = keyed_random(seed_, {1, static_cast<std::uint64_t>(update)});
    const double rho = process_.noise_correlation;
    noise_ = rho * noise_ + std::sqrt(1 - rho * rho) * process_.noise * draw_normal(random);
    if (spike_left_ > 0) --spike_left_;
    if (random.unit() < process_.spike_probability) {
      height_ = draw_exponential(random, process_.spike_height);
      spike_left_ = 1 + std::floor(draw_exponential(random, std::max(process_.spike_length - 1, 1e-9)));
    }
    return noise_ + (spike_left_ > 0 ? height_ : 0);
  }

 private:
  const GradientProcess& process_;
  bool drawn_;
  std::uint64_t seed_;
  double noise_ = 0;
  double height_ = 0;
  double spike_left_ = 0;
};

class Follower {
 public:
  Follower(const GradientModel& model, LossScaleController& controller, const TrajectorySettings& settings)
      : model_(model),
        controller_(controller),
        settings_(settings),
        limits_(limits_of(settings.format)),
        edge_(std::log2(controller.edge())) {
    for (const Drift drift : {Drift::loss, Drift::hidden}) {
      groups_.emplace_back(model, drift, edge_, limits_, settings.products_only, shares_);
    }
    for (const GradientTensor& tensor : model.tensors) {
      if (is_tracked(tensor, settings.products_only)) tracked_ += tensor.values * model.micro_batches;
    }
  }

  Trajectory follow() {
    Disturbance disturbance(model_.process, settings_.statistics, settings_.seed);
    for (std::int64_t update = 0; update < settings_.updates && result_.failure.empty(); ++update) {
      step(update, disturbance.octaves(update));
    }
    finish();
    return std::move(result_);
  }

 private:
  void step(std::int64_t update, double disturbance) {
    const float scale = controller_.scale();
    result_.scales.push_back(scale);
    const double scaling = std::log2(static_cast<double>(scale)) + disturbance;
    GradientCounts counts;
    double log_clean = 0;
    for (Group& group : groups_) {
      const double octaves = scaling + drift_of(model_.process, group.drift, static_cast<double>(update));
      // An infinite scale stays a number; nothing is left to lose beyond.
      group.history.push_back(std::clamp(octaves, -k_far_octaves, k_far_octaves));
      counts.at_or_above += group.at_edge(octaves);
      log_clean += group.no_overflow(octaves);
    }
    const double probability = -std::expm1(-log_clean);
    result_.expected_overflows += probability;
    bool overflow = probability > 0.5;
    if (settings_.statistics == Statistics::sampled) {
      Random random = keyed_random(settings_.seed, {2, static_cast<std::uint64_t>(update)});
      overflow = random.unit() < probability;
      counts.at_or_above = std::min(draw_count(random, counts.at_or_above), tracked_);
    }
    counts.below = tracked_ - counts.at_or_above;
    counts.non_finite = overflow && settings_.overflow != OverflowRule::saturate;
    if (overflow) {
      ++result_.overflowed_updates;
      if (!result_.first_overflow) result_.first_overflow = update + 1;
    }
    const bool applied = controller_.finish_update(counts);
    UpdateOutcome outcome = UpdateOutcome::clean;
    if (!applied) {
      outcome = UpdateOutcome::skipped;
      ++result_.skipped_updates;
    } else if (overflow && settings_.overflow == OverflowRule::saturate) {
      outcome = UpdateOutcome::saturated;
      ++result_.saturated_updates;
    } else if (overflow) {
      outcome = UpdateOutcome::broken;
    }
    result_.outcomes.push_back(outcome);
    result_.failure = controller_.failure();
  }

  void finish() {
    count_changes();
    for (Group& group : groups_) std::sort(group.history.begin(), group.history.end());
    double most = 0;
    double values = 0;
    for (const GradientTensor& tensor : model_.tensors) {
      TensorHistory history = history_of(tensor);
      if (!tensor.accumulator) {
        const double nonzero = values_per_update(tensor, model_);
        values += nonzero;
        result_.flushed_share += nonzero * history.flushed.median;
        result_.subnormal_share += nonzero * history.subnormal.median;
      }
      const double large = history.at_edge.median * values_per_update(tensor, model_);
      if (is_tracked(tensor, settings_.products_only) && large > most) {
        most = large;
        result_.limiting_tensor = tensor.name;
      }
      result_.tensors.push_back(std::move(history));
    }
    if (values > 0) {
      result_.flushed_share /= values;
      result_.subnormal_share /= values;
    }
    result_.update_loss = update_loss();
  }

  const std::vector<double>& octaves_of(const GradientTensor& tensor) const {
    return groups_[tensor.drift == Drift::loss ? 0 : 1].history;
  }

  TensorHistory history_of(const GradientTensor& tensor) {
    const std::vector<double>& octaves = octaves_of(tensor);
    const double points[] = {octaves.front(), octaves[octaves.size() / 2], octaves.back()};
    TensorHistory history{tensor.name, tensor.layer, tensor.values, tensor.bounds_window, {}, {}, {}, {}};
    const auto range = [&points](const auto& share) {
      const double values[] = {share(points[0]), share(points[1]), share(points[2])};
      return Range{std::min(values[0], values[2]), values[1], std::max(values[0], values[2])};
    };
    history.flushed = range([&](double x) { return shares_.flushed(tensor, limits_, settings_.stochastic, x); });
    history.subnormal = range([&](double x) {
      return shares_.at_most(tensor, limits_.normal, x) - shares_.at_most(tensor, limits_.flush, x);
    });
    history.at_edge = range([&](double x) { return shares_.at_least(tensor, edge_, x); });
    history.overflowed = range([&](double x) { return shares_.at_least(tensor, limits_.overflow, x); });
    return history;
  }

  void count_changes() {
    const std::vector<float>& scales = result_.scales;
    std::int64_t rises_at_end = 0;
    std::vector<std::pair<float, float>> changes;  // from, to; the last ones
    result_.ramp_updates = static_cast<std::int64_t>(scales.size());
    for (std::size_t i = 1; i < scales.size(); ++i) {
      if (scales[i] == scales[i - 1]) continue;
      const bool rise = scales[i] > scales[i - 1];
      if (!rise && result_.falls == 0) result_.ramp_updates = static_cast<std::int64_t>(i);
      rise ? ++result_.rises : ++result_.falls;
      rises_at_end = rise ? rises_at_end + 1 : 0;
      changes.emplace_back(scales[i - 1], scales[i]);
    }
    constexpr float k_far = 0x1p100F;
    result_.runaway = rises_at_end >= 64 || (!scales.empty() && scales.back() > k_far);
    // Four changes at the end, back and forth.
    const std::size_t n = changes.size();
    if (n < 4 || changes[n - 1] != changes[n - 3] || changes[n - 2] != changes[n - 4]) return;
    if (changes[n - 1].first != changes[n - 2].second || changes[n - 2].first != changes[n - 1].second) return;
    result_.cycle = std::minmax(changes[n - 1].first, changes[n - 1].second);
  }

  double update_loss() const {
    if (result_.skipped_updates > 0) {
      return static_cast<double>(result_.skipped_updates) / static_cast<double>(result_.scales.size());
    }
    double worst = 0;
    for (const GradientTensor& tensor : model_.tensors) {
      const bool weight = tensor.name.ends_with("_weight_gradient") && !tensor.accumulator;
      if (!weight || !tensor.bounds_window || tensor.components.size() != 1) continue;
      const std::vector<double>& octaves = octaves_of(tensor);
      const Magnitudes at_median = scaled(tensor.components.front().magnitudes, octaves[octaves.size() / 2]);
      worst = std::max(worst, direction_loss(at_median, limits_.flush, limits_.overflow));
    }
    return worst;
  }

  const GradientModel& model_;
  LossScaleController& controller_;
  TrajectorySettings settings_;
  FormatLimits limits_;
  double edge_;
  double tracked_ = 0;  // values per update, zeros too
  ShareTables shares_;
  std::vector<Group> groups_;
  Trajectory result_;
};

// The smallest and the largest drift over some updates; both processes are monotonic or nearly so.
std::pair<double, double> drift_range(const GradientProcess& process, Drift drift, std::int64_t updates) {
  double lowest = k_never;
  double highest = -k_never;
  for (double update = 0; update < static_cast<double>(updates); update = std::max(update + 1, update * 1.1)) {
    const double octaves = drift_of(process, drift, update);
    lowest = std::min(lowest, octaves);
    highest = std::max(highest, octaves);
  }
  return {lowest, highest};
}

// The tensor without the parts that hold next to nothing of its sum of squares; shares are of what remains.
GradientTensor without_negligible(GradientTensor tensor, double negligible) {
  const auto energy = [](const GradientComponent& component) {
    const double spread = component.magnitudes.spread * std::numbers::ln2;
    return component.share * std::exp2(2 * component.magnitudes.location) * std::exp(2 * spread * spread);
  };
  double whole = 0;
  for (const GradientComponent& component : tensor.components) whole += energy(component);
  std::erase_if(tensor.components, [&](const GradientComponent& part) { return energy(part) < negligible * whole; });
  double shares = 0;
  for (const GradientComponent& component : tensor.components) shares += component.share;
  for (GradientComponent& component : tensor.components) component.share /= shares;
  return tensor;
}

constexpr int k_lowest_scale = -120;
constexpr int k_highest_scale = 127;

}  // namespace

LastUpdates last_updates(const Trajectory& trajectory) {
  const auto begin = trajectory.outcomes.begin() + static_cast<std::ptrdiff_t>(trajectory.outcomes.size() / 2);
  const auto end = trajectory.outcomes.end();
  return {end - begin, std::count(begin, end, UpdateOutcome::skipped),
          std::count(begin, end, UpdateOutcome::saturated)};
}

std::optional<std::int64_t> ended_update(const Trajectory& trajectory) {
  const auto begin = trajectory.outcomes.begin();
  const auto broken = std::find(begin, trajectory.outcomes.end(), UpdateOutcome::broken);
  if (broken != trajectory.outcomes.end()) return broken - begin + 1;
  if (!trajectory.failure.empty()) return static_cast<std::int64_t>(trajectory.outcomes.size());
  return std::nullopt;
}

Trajectory follow(const GradientModel& model, LossScaleController& controller, const TrajectorySettings& settings) {
  return Follower(model, controller, settings).follow();
}

Window recommended_window(const GradientModel& model, const WindowSettings& settings) {
  const FormatLimits limits = limits_of(settings.format);
  Window window{k_lowest_scale, k_highest_scale, {}, {}};
  ShareTables shares;
  const std::pair<double, double> drifts[] = {drift_range(model.process, Drift::loss, settings.updates),
                                              drift_range(model.process, Drift::hidden, settings.updates)};
  const auto drift_of_tensor = [&drifts](const GradientTensor& tensor) {
    return drifts[tensor.drift == Drift::loss ? 0 : 1];
  };
  for (const GradientTensor& whole : model.tensors) {
    if (!whole.bounds_window) continue;
    const GradientTensor tensor = without_negligible(whole, settings.negligible);
    const double drift = drift_of_tensor(tensor).first;
    while (window.low < k_highest_scale &&
           shares.flushed(tensor, limits, settings.stochastic, window.low + drift) > settings.flush_limit) {
      ++window.low;
      window.low_tensor = tensor.name;
    }
  }
  // A hard bound holds whatever the noise: no room is needed above it.
  const auto overflows = [&](const GradientTensor& tensor, int scale) {
    const double drift = drift_of_tensor(tensor).second;
    const double room = std::isinf(tensor.bound) ? settings.headroom : 0;
    const double share = shares.at_least(tensor, limits.overflow, scale + drift + room);
    return -values_per_update(tensor, model) * std::log1p(-std::min(share, 1 - 1e-16));
  };
  const double accepted = -std::log1p(-settings.overflow_limit);
  const auto too_high = [&](int scale) {
    double sum = 0;
    double most = 0;
    for (const GradientTensor& tensor : model.tensors) {
      const double part = overflows(tensor, scale);
      sum += part;
      if (part > most) window.high_tensor = tensor.name;
      most = std::max(most, part);
    }
    return sum > accepted;
  };
  int fits = k_lowest_scale;
  int exceeds = k_highest_scale + 1;
  while (exceeds - fits > 1) {
    const int middle = fits + (exceeds - fits) / 2;
    (too_high(middle) ? exceeds : fits) = middle;
  }
  // Names the tensor just above the window, if the search did not end at its own limit.
  if (!too_high(exceeds)) window.high_tensor.clear();
  window.high = fits;
  return window;
}

double balanced_scale(const GradientModel& model, double edge, double threshold, bool products_only) {
  const double limit = std::log2(edge);
  ShareTables shares;
  const auto too_high = [&](double scale) {
    double large = 0;
    double all = 0;
    for (const GradientTensor& tensor : model.tensors) {
      if (!is_tracked(tensor, products_only)) continue;
      large += values_per_update(tensor, model) * shares.at_least(tensor, limit, scale);
      all += tensor.values * model.micro_batches;
    }
    return large > threshold * all;
  };
  double low = k_lowest_scale;
  double high = k_highest_scale;
  for (int i = 0; i < 50; ++i) {
    const double middle = (low + high) / 2;
    (too_high(middle) ? high : low) = middle;
  }
  return low;
}

}  // namespace podsim::loss_scaling
