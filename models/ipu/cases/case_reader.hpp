#pragma once
// Published measurements of IPU systems as experiments. Three kinds of table, told apart by their header:
//   rates:          id, hardware, system, model_config, micro_batch, replication, …, metric, value
//   memory points:  id, hardware, model_config, micro_batch, replication_factor, …, expected (fits, does_not_fit or
//                   max_fits_next_does_not with varied_parameter and next_value: then the row is two cases)
//   operators:      target, name, kind, …, reference_cycles: see operators/operator_case.hpp
// Cells that decide the run (micro-batch, replicas, accumulation, placement, length, model) are never guessed: the row
// is skipped when one is missing. Every other empty cell takes a default, which the case names. Prose is not read.

#include "sim/plan/case_reader.hpp"

namespace podsim::ipu {

class IpuCaseReader final : public CaseReader {
 public:
  bool accepts(const std::vector<std::string>& columns) const override;
  std::vector<PublishedCase> read(const CaseRow& row) const override;
  std::vector<CaseFeature> features(const Plan& plan) const override;
};

}  // namespace podsim::ipu
