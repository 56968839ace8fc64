#include "sim/study/checkpointing.hpp"

#include <algorithm>
#include <cmath>

namespace podsim {

CheckpointPlan best_checkpoints(const Failures& failures) {
  const double between = failures.between.in_base();
  const double write = failures.checkpoint.in_base();
  const double x = write / (2 * between);
  const double interval = x < 1 ? std::sqrt(2 * write * between) * (1 + std::sqrt(x) / 3 + x / 9) - write : between;
  const double time =
      between * std::exp(failures.restart.in_base() / between) * std::expm1((interval + write) / between);
  return {seconds(interval), std::min(1.0, interval / time)};
}

}  // namespace podsim
