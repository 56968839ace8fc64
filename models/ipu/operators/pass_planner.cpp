#include "models/ipu/operators/pass_planner.hpp"

#include <algorithm>
#include <mutex>

#include "models/ipu/operators/pass_cost.hpp"
#include "sim/core/check.hpp"

namespace podsim::ipu {

PassPlanner::PassPlanner(const ChipConstants& chip, const PassConstants& constants)
    : chip_(chip), constants_(constants) {}

PassPlan PassPlanner::plan(const PassShape& shape, const PassExecution& execution) const {
  const std::shared_ptr<const PassFront> candidates = front(shape, execution.mode);
  return expand(shape, execution.mode, *fastest(*candidates, execution.proportion));
}

PassPlan PassPlanner::leanest_plan(const PassShape& shape, const PassExecution& execution, double tolerance) const {
  const std::shared_ptr<const PassFront> candidates = front(shape, execution.mode);
  auto at = fastest(*candidates, execution.proportion);
  const Cycles limit = at->cycles * (1.0 + tolerance);
  while (at != candidates->begin() && std::prev(at)->cycles <= limit) --at;
  return expand(shape, execution.mode, *at);
}

std::shared_ptr<const PassFront> PassPlanner::front(const PassShape& shape, AmpMode mode) const {
  constexpr std::size_t k_most = 20'000;  // some 2 KB each
  const Key key{shape, mode};
  {
    const std::shared_lock lock(mutex_);
    if (const auto found = fronts_.find(key); found != fronts_.end()) return found->second;
  }
  PODSIM_CHECK(shape.groups > 0 && shape.positions() > 0 && shape.in_channels > 0 && shape.out_channels > 0 &&
                   shape.kernel_height > 0 && shape.kernel_width > 0,
               "an empty pass");
  auto made = std::make_shared<const PassFront>(search_passes(constants_, chip_, shape, mode));
  const std::unique_lock lock(mutex_);
  if (fronts_.size() >= k_most) fronts_.clear();
  return fronts_.try_emplace(key, std::move(made)).first->second;
}

PassFront::const_iterator PassPlanner::fastest(const PassFront& front, double proportion) const {
  const double bound = proportion * chip_.tile_memory.size().in_base();
  const auto after = std::partition_point(front.begin(), front.end(), [bound](const PassCandidate& c) {
    return static_cast<double>(c.temporary) <= bound;
  });
  return after == front.begin() ? after : std::prev(after);
}

PassPlan PassPlanner::expand(const PassShape& shape, AmpMode mode, const PassCandidate& candidate) const {
  const PassMode& of_mode = constants_.modes[static_cast<std::size_t>(mode)];
  const PassPricer pricer(constants_, mode, chip_.tiles, reshape(shape, candidate.variant, of_mode));
  PassPlan plan;
  plan.variant = candidate.variant;
  plan.split = candidate.split;
  plan.share = pricer.share(candidate.split);
  plan.input_channels = plan.share.input_grains * pricer.shape().input_grain;
  plan.output_channels = plan.share.output_grains * of_mode.output_grain;
  plan.cost = pricer.price(candidate.split, plan.share);
  return plan;
}

}  // namespace podsim::ipu
