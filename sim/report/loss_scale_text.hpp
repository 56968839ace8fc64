#pragma once
// The loss scale of a training in the report for people.

#include <optional>
#include <string>
#include <vector>

#include "sim/report/report.hpp"

namespace podsim {

// One line for the head: scheme, scales, verdict, window; empty without a loss scale.
std::string loss_scale_headline(const std::optional<LossScaleOutlook>& outlook);

// Paragraphs for a section of its own, unwrapped; empty without a loss scale.
std::vector<std::string> loss_scale_paragraphs(const Report& report);

}  // namespace podsim
