#pragma once
// Constant loss scales that are known to train, against the recommended windows of their models.

#include <optional>
#include <string>
#include <vector>

#include "models/loss_scaling/trajectory.hpp"
#include "sim/config/config_files.hpp"
#include "sim/plan/catalog.hpp"

namespace podsim::loss_scaling {

struct PublishedScale {
  std::string id;
  std::string source;
  double scale = 1;
  Window window;
  bool inside() const;
};

struct PublishedSummary {
  std::size_t count = 0;
  std::size_t inside = 0;
  double median_width = 0;                 // octaves
  std::optional<double> rank_correlation;  // Spearman's, of the windows' centres and the published scales
};

// The rows of loss_scaling/published-scales.csv; half partial sums, default limits. Throws ConfigError about a row that
// cannot be read.
std::vector<PublishedScale> published_scales(const Catalog& catalog, const ConfigFiles& configs);

PublishedSummary summary_of(const std::vector<PublishedScale>& scales);

}  // namespace podsim::loss_scaling
