#include "models/rdu/resolve.hpp"

#include <fmt/format.h>

#include <array>
#include <optional>
#include <span>
#include <stdexcept>
#include <string>
#include <utility>

#include "models/rdu/compile_graphs.hpp"
#include "models/rdu/partition.hpp"
#include "models/rdu/rdu_keys.hpp"
#include "models/rdu/resolve/resolution.hpp"
#include "sim/config/key_spec.hpp"

namespace podsim::rdu {
namespace {

constexpr double k_most_bytes = 4e18;  // of one kind, so that sums fit 64 bits

// The constant of the user that makes sections small; else the model is too large.
void refuse_sections(Resolution& resolution, const TooManySections& error) {
  static constexpr std::array k_weights = {"cost.section.resident_forward",
                                           "cost.section.resident_backward",
                                           "cost.section.resident_update",
                                           "chip.tiles",
                                           "chip.pmus",
                                           "chip.pmu_memory"};
  static constexpr std::array k_units = {"cost.section.operators"};
  const std::span<const char* const> names =
      error.fills == SectionFill::weights ? std::span<const char* const>(k_weights) : k_units;
  for (const char* name : names) {
    const std::optional<ConstantId> id = resolution.context.constants.find(name);
    if (!id) continue;
    const Constant& constant = resolution.context.constants[*id];
    if (constant.confidence != "user") continue;
    resolution.diagnostics.error(constant.place, name, fmt::format("{} {}", constant.text, error.what()),
                                 "sections that hold more");
    return;
  }
  resolution.too_large(fmt::format("its step {}", error.what()));
}

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
  } catch (const TooManySections& error) {
    refuse_sections(resolution, error);
    return false;
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
  warn_of_idle_settings(resolution);
  warn_of_idle_parts(resolution);
  fill_rates(*resolution.plan);
  if (!build_graphs(resolution)) return nullptr;
  warn_of_idle_rules(resolution);
  resolution.plan->constant_ids = reader.read_ids();
  return std::move(resolution.plan);
}

}  // namespace podsim::rdu
