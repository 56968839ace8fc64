#include "models/rdu/resolve.hpp"

#include <stdexcept>
#include <utility>

#include "models/rdu/compile_graphs.hpp"
#include "models/rdu/rdu_keys.hpp"
#include "models/rdu/resolve/resolution.hpp"
#include "sim/config/key_spec.hpp"

namespace podsim::rdu {
namespace {

constexpr double k_most_bytes = 4e18;  // of one kind, so that sums fit 64 bits

bool build_graphs(Resolution& resolution) {
  RduPlan& plan = *resolution.plan;
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  const double cache = 4.0 * number(plan.model.layers) * number(plan.model.kv_width()) *
                       number(plan.setup.static_length) * number(plan.setup.batch);
  if (plan.setup.run == RunMode::generation && cache > k_most_bytes) {
    resolution.too_large("the key-value cache exceeds 64-bit byte counts");
    return false;
  }
  try {
    compile_graphs(plan, resolution.context.settings);
    return true;
  } catch (const std::range_error& error) {
    resolution.too_large(error.what());
    return false;
  }
}

}  // namespace

std::unique_ptr<RduPlan> resolve_plan(FamilyContext& context, Diagnostics& diagnostics,
                                      std::shared_ptr<CompiledGraphs> known_graphs) {
  check_keys(context.section, "rdu", rdu_keys(), diagnostics);
  Resolution resolution(context, diagnostics);
  resolution.plan->known_graphs = std::move(known_graphs);
  ConstantReader reader(context.constants);
  resolution.plan->constants = read_rdu_constants(reader);
  read_and_check_commands(resolution);
  if (!resolution.commands.compile) return nullptr;
  read_model(resolution);
  read_layout(resolution);
  read_run(resolution);
  read_generation(resolution);
  read_rules(resolution);
  check_slowdown(resolution);
  if (diagnostics.has_errors()) return nullptr;
  warn_of_idle_parts(resolution);
  fill_rates(*resolution.plan);
  if (!build_graphs(resolution)) return nullptr;
  warn_of_idle_rules(resolution);
  resolution.plan->constant_ids = reader.read_ids();
  return std::move(resolution.plan);
}

}  // namespace podsim::rdu
