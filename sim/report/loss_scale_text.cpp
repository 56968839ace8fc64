#include "sim/report/loss_scale_text.hpp"

#include <fmt/format.h>

#include "sim/report/human.hpp"

namespace podsim {
namespace {

std::string reached(const LossScaleOutlook& outlook) {
  if (outlook.limit_cycle) {
    return fmt::format("from {} to a cycle of {} and {}", human_power(outlook.initial_scale),
                       human_power(outlook.limit_cycle->first), human_power(outlook.limit_cycle->second));
  }
  if (!outlook.reached_scale) return fmt::format("from {} to infinity", human_power(outlook.initial_scale));
  if (*outlook.reached_scale == outlook.initial_scale) return human_power(outlook.initial_scale);
  return fmt::format("from {} to {}", human_power(outlook.initial_scale), human_power(*outlook.reached_scale));
}

bool holds_outside(const LossScaleOutlook& outlook) {
  return outlook.verdict == ScaleVerdict::holds && outlook.reached_scale && outlook.window->feasible() &&
         !outlook.window->contains(*outlook.reached_scale);
}

std::string window_in_short(const ScaleWindow& window) {
  if (!window.feasible()) return "no constant scale would do";
  return fmt::format("recommended constant 2^{} to 2^{}", window.low_log2, window.high_log2);
}

std::string window_at_length(const ScaleWindow& window) {
  if (!window.feasible()) {
    return fmt::format("no constant scale would do: {} needs at least 2^{}, {} at most 2^{}", window.low_tensor,
                       window.low_log2, window.high_tensor, window.high_log2);
  }
  return fmt::format("{} ({} flushes below, {} overflows above)", window_in_short(window),
                     window.low_tensor.empty() ? "nothing" : window.low_tensor,
                     window.high_tensor.empty() ? "nothing" : window.high_tensor);
}

std::string updates_followed(const LossScaleOutlook& outlook) {
  std::string text = fmt::format("{} updates followed", grouped(outlook.updates));
  if (outlook.first_overflow_update) {
    text += fmt::format(", the first overflow in update {}", grouped(*outlook.first_overflow_update));
  }
  if (outlook.ended_update) {
    return text + fmt::format("; training ends in update {}", grouped(*outlook.ended_update));
  }
  return text + fmt::format("; of the last {}: {} skipped, {} applied with clipped values",
                            grouped(outlook.last_updates), human_share(outlook.skipped_share),
                            human_share(outlook.saturated_share));
}

}  // namespace

std::string loss_scale_headline(const std::optional<LossScaleOutlook>& outlook) {
  if (!outlook) return "";
  std::string text = outlook->scheme + (outlook->experimental ? " (experimental)" : "");
  if (!outlook->window) return text + fmt::format(": {} gradients need no loss scale", outlook->number_format);
  const std::string cost = outlook->cost_left_out.empty() ? "" : "; its cost is " + outlook->cost_left_out;
  const std::string verdict(name(outlook->verdict));
  const bool chosen = outlook->initial_origin.starts_with("default: the middle") && outlook->window->feasible();
  if (chosen) {
    return text + fmt::format(", not stated: {} in the middle of the recommended 2^{} to 2^{}; {}{}", reached(*outlook),
                              outlook->window->low_log2, outlook->window->high_log2, verdict, cost);
  }
  if (holds_outside(*outlook)) {
    return text + fmt::format(" {}; holds, outside the recommended window (constant 2^{} to 2^{}){}", reached(*outlook),
                              outlook->window->low_log2, outlook->window->high_log2, cost);
  }
  return text + " " + reached(*outlook) + "; " + verdict + "; " + window_in_short(*outlook->window) + cost;
}

std::vector<std::string> loss_scale_paragraphs(const Report& report) {
  if (!report.loss_scaling) return {};
  const LossScaleOutlook& outlook = *report.loss_scaling;
  std::vector<std::string> paragraphs{
      fmt::format("{} gradients, overflow: {}; {} of their non-zero values flush, {} are subnormal",
                  outlook.number_format, outlook.overflow, human_share(outlook.flushed_share),
                  human_share(outlook.subnormal_share)),
      updates_followed(outlook)};
  if (report.throughput && report.throughput->effective_samples_per_s) {
    const bool clips = outlook.saturated_share > 0;
    paragraphs.push_back(fmt::format(
        "effective throughput {}{} samples/s: of updates neither skipped nor clipped{}", clips ? "at least " : "",
        human_number(*report.throughput->effective_samples_per_s), clips ? "; clipped ones are applied" : ""));
  }
  if (outlook.window) paragraphs.push_back(window_at_length(*outlook.window));
  if (!outlook.limiting_tensor.empty()) {
    paragraphs.push_back(outlook.limiting_tensor + " has the most large values at the scales used");
  }
  for (const std::string& note : outlook.notes) paragraphs.push_back(note);
  return paragraphs;
}

}  // namespace podsim
