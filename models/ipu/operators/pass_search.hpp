#pragma once
// All splits of all variants of one pass, as the Pareto front of temporary bytes against cycles.

#include <cstdint>
#include <vector>

#include "models/ipu/operators/pass_plan.hpp"

namespace podsim::ipu {

struct PassCandidate {
  std::int64_t temporary = 0;
  Cycles cycles;
  PassVariant variant;
  PassSplit split;
};

using PassFront = std::vector<PassCandidate>;  // temporary ascending, cycles descending; never empty

PassFront search_passes(const PassConstants& constants, const ChipConstants& chip, const PassShape& shape,
                        AmpMode mode);

}  // namespace podsim::ipu
