#pragma once
// Rows of published RDU measurements as experiments. Columns: id, source, hardware, rdus, nodes, batch, opt_mode,
// metric, value, and what the run was; see configs/references/README.md.

#include "sim/plan/case_reader.hpp"

namespace podsim::rdu {

class RduCaseReader final : public CaseReader {
 public:
  bool accepts(const std::vector<std::string>& columns) const override;
  std::vector<PublishedCase> read(const CaseRow& row) const override;
  std::vector<CaseFeature> features(const Plan& plan) const override;
};

}  // namespace podsim::rdu
