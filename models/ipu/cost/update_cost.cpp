#include "models/ipu/cost/update_cost.hpp"

namespace podsim::ipu {

Duration optimizer_time(const PlacedParameters& parameters, const std::string& optimizer,
                        const IpuConstants& constants) {
  constexpr double k_single_per_half = 2.0;  // a pass over float32 moves twice the bytes of one over float16
  const CostConstants& cost = constants.cost;
  const bool half_moment = constants.operators && (optimizer == "sgd-momentum" || optimizer == "lars");
  std::int64_t launches = optimizer == "lamb" ? cost.optimizer_launches_lamb : cost.optimizer_launches_other;
  double half_passes = cost.optimizer_passes * k_single_per_half;
  if (half_moment) {
    launches = optimizer == "lars" ? cost.optimizer_launches_lars : cost.optimizer_launches_momentum;
    half_passes = cost.optimizer_passes_momentum;
  }
  const auto tiles = static_cast<double>(constants.chip.tiles);
  const Cycles passes = cost.pass * half_passes * (static_cast<double>(parameters.sharded_elements) / tiles);
  const Cycles overhead = cost.launch * static_cast<double>(launches * parameters.tensors);
  return (passes + overhead) / constants.chip.clock;
}

}  // namespace podsim::ipu
