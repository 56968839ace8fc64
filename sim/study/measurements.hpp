#pragma once
// Measurements to fit constants to: the tables that `validate` reads, or a small one of the user's whose columns are
//   metric, value          what was measured ("step_s", "sequences_per_s", …) and how much
//   id, series             both may be absent: a name, and what belongs together when rows are left out
//   anything else          a key of the experiment, such as workload.micro_batch_size; an empty cell sets nothing

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "sim/plan/experiment.hpp"
#include "sim/study/measured_cases.hpp"

namespace podsim {

struct Measurement {
  std::string id;
  std::string series;    // runs of one source
  std::string quantity;  // see PublishedCase
  double measured = 0;   // positive
  Experiment experiment;
  Place place;  // of the measured value, where it is the user's
};

struct Measurements {
  std::vector<Measurement> rows;
  std::vector<std::pair<std::string, std::string>> skipped;  // id and reason
};

// `base`: what rows of a small table change; `overlays`: constant files of the user. Problems go to `diagnostics`.
Measurements read_measurements(const std::vector<ReferenceTable>& tables, const std::optional<Experiment>& base,
                               const std::vector<std::string>& overlays, const Catalog& catalog,
                               const ConfigFiles& configs, Diagnostics& diagnostics);

}  // namespace podsim
