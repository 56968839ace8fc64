#pragma once
// One operator on one IPU, as text in and as a report out: see operator_text.hpp for the text. Of an experiment its
// machine, constants, workload.precision, ipu.enable_half_partials and ipu.matmul_proportion have an effect.

#include <optional>

#include "sim/plan/operator_estimate.hpp"

namespace podsim::ipu {

std::optional<OperatorEstimate> answer(const OperatorQuery& query, Diagnostics& diagnostics);

}  // namespace podsim::ipu
