#pragma once
// A followed loss scale as a page: its trajectory, and what is lost of each gradient.

#include <vector>

#include "models/loss_scaling/analysis.hpp"
#include "models/loss_scaling/published.hpp"
#include "sim/plan/plan.hpp"
#include "sim/report/page.hpp"

namespace podsim {

// For each name the tensor of the layer that loses most.
std::vector<loss_scaling::TensorHistory> worst_of_each(const std::vector<loss_scaling::TensorHistory>& tensors);

// `facts`: the lines of the text report.
Page loss_scale_page(const Plan& plan, const loss_scaling::Analysis& analysis, std::vector<PageFact> facts);

// Constant scales known to train, inside or outside their recommended windows.
Page published_scales_page(const std::vector<loss_scaling::PublishedScale>& scales);

}  // namespace podsim
