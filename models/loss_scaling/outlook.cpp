#include "models/loss_scaling/outlook.hpp"

#include <algorithm>
#include <cmath>

namespace podsim::loss_scaling {
namespace {

std::string initial_origin(const Analysis& analysis) {
  for (const ResolvedKey& key : analysis.resolved) {
    if (key.path == "loss_scaling.initial") return key.origin;
  }
  return "default of the mode";
}

std::optional<double> finite(float scale) {
  return std::isfinite(scale) ? std::optional(static_cast<double>(scale)) : std::nullopt;
}

LossScaleOutlook outlook_of(const Analysis& analysis) {
  const Trajectory& t = analysis.trajectory;
  const LastUpdates last = last_updates(t);
  LossScaleOutlook outlook;
  outlook.scheme = analysis.mode;
  outlook.experimental = analysis.experimental;
  outlook.number_format = analysis.format;
  outlook.overflow = analysis.overflow;
  outlook.updates = static_cast<std::int64_t>(t.scales.size());
  outlook.last_updates = last.updates;
  outlook.initial_scale = static_cast<double>(t.scales.front());
  outlook.initial_origin = initial_origin(analysis);
  outlook.reached_scale = finite(t.scales.back());
  outlook.limit_cycle = analysis.limit_cycle;
  outlook.ramp_updates = t.ramp_updates;
  outlook.first_overflow_update = t.first_overflow;
  outlook.ended_update = ended_update(t);
  outlook.skipped_share = last.share(last.skipped);
  outlook.saturated_share = last.share(last.saturated);
  outlook.flushed_share = t.flushed_share;
  outlook.subnormal_share = t.subnormal_share;
  if (analysis.needs_scale()) {
    const Window& w = analysis.window;
    outlook.window = ScaleWindow{w.low, w.high, w.low_tensor, w.high_tensor};
  }
  outlook.limiting_tensor = t.limiting_tensor;
  outlook.verdict = verdict_of(analysis);
  outlook.notes = analysis.notes;
  if (analysis.cost_left_out) outlook.cost_left_out = analysis.cost;
  return outlook;
}

// Where a run's time and memory are not those of its mode.
void warn_of_costs(const Analysis& analysis, const Plan& plan, const Value& document, Diagnostics& warnings) {
  if (analysis.mode != "popart_als" || plan.family->name() != "ipu") return;
  const Value* mode = document.find("loss_scaling.mode");
  const Value* period = document.find("loss_scaling.update_period");
  if (!analysis.in_program && mode != nullptr) {
    warnings.warning(mode->place(), "loss_scaling.mode",
                     "time and memory of this run hold no histograms: a key of the IPU's own turns them on",
                     "ipu.auto_loss_scaling = true");
  } else if (period != nullptr && read_integer(document, "loss_scaling.update_period").value_or(1) > 1) {
    warnings.warning(period->place(), "loss_scaling.update_period",
                     "acts on the scale alone: the time of this run holds the histograms of every update");
  }
}

}  // namespace

ScaleVerdict verdict_of(const Analysis& analysis) {
  const Trajectory& t = analysis.trajectory;
  if (t.runaway) return ScaleVerdict::runaway;
  const LastUpdates last = last_updates(t);
  const double lost = last.share(last.skipped) + last.share(last.saturated);
  if (ended_update(t) || lost > analysis.lost_limit) return ScaleVerdict::overflows;
  constexpr double k_most = 0.5;
  const bool flushes = std::any_of(t.tensors.begin(), t.tensors.end(), [](const TensorHistory& tensor) {
    return tensor.bounds_window && tensor.flushed.median > k_most;
  });
  return flushes ? ScaleVerdict::flushes : ScaleVerdict::holds;
}

std::optional<LossScaleOutlook> outlook_for(const Plan& plan, const Value& document, const Catalog& catalog,
                                            const ConfigFiles& configs, Diagnostics& warnings) {
  const std::string reason = nothing_to_scale(plan).reason;
  if (!reason.empty()) {
    const Value* section = document.find("loss_scaling");
    if (section != nullptr) warnings.warning(section->place(), "loss_scaling", "has no effect: " + reason);
    return std::nullopt;
  }
  const Analysis analysis = analyse(plan, document, catalog, configs);
  warnings.append(analysis.warnings);
  warn_of_costs(analysis, plan, document, warnings);
  return outlook_of(analysis);
}

}  // namespace podsim::loss_scaling
