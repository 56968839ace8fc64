#include "models/rdu/resolve_checks.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "models/rdu/compile_graphs.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim::rdu {
namespace {

// Without overflow, for dimensions of any size.
double approximate_weights(const TransformerDescription& model) {
  const auto number = [](std::int64_t count) { return static_cast<double>(count); };
  const double query = number(model.heads) * number(model.head_dim);
  const double keys = number(model.kv_heads) * number(model.head_dim);
  const double layer = number(model.hidden) * (2 * query + 2 * keys + (model.gated ? 3 : 2) * number(model.ffn));
  return number(model.layers) * layer + number(model.vocabulary) * number(model.hidden);
}

}  // namespace

std::string too_many_weights(const TransformerDescription& model) {
  // Times the bytes of a parameter and the models of a node they fit 64 bits.
  constexpr double k_most_weights = 1e13;
  const double weights = approximate_weights(model);
  if (weights <= k_most_weights) return "";
  return fmt::format("about {:.1e} weights are more than the {:.0e} that are simulated", weights, k_most_weights);
}

void check_image(const UnetDescription& model, FamilyContext& context, Diagnostics& diagnostics) {
  const UnetSizes& sizes = model.sizes;
  const std::int64_t multiple = std::int64_t{1} << sizes.depth;
  if (sizes.image_size % multiple != 0) {
    diagnostics.error(context.section.place(), "workload.image_size",
                      fmt::format("{} pixels cannot be halved {} times, once per level", sizes.image_size, sizes.depth),
                      fmt::format("a multiple of {}", multiple));
  }
  if (context.settings.mode != RunMode::training || !context.settings.recompute) return;
  diagnostics.warning(context.section.place(), "workload.recompute",
                      "has no effect: no recomputation is known of image networks on RDUs");
  context.settings.recompute = false;
}

void check_isolated(const FamilyContext& context, Diagnostics& diagnostics) {
  if (context.settings.mode != RunMode::inference) {
    diagnostics.error(context.section.place(), "workload.mode",
                      "is not \"inference\": a single operator is run, not trained",
                      "\"inference\", or a compile command with --inference");
  }
  if (context.settings.micro_batch_size != 1) {
    diagnostics.error(context.section.place(), "workload.micro_batch_size",
                      "a single operator has no samples: its size is its own", "1");
  }
}

void take_isolated_rates(RduPlan& plan) {
  plan.rates.efficiency = plan.constants.isolated.efficiency;
  plan.rates.memory = plan.rates.memory * plan.constants.isolated.memory_efficiency;
  plan.rates.program_load = Duration();
  plan.rates.issue_interval = Duration();
}

std::int64_t read_longest_context(const FamilyContext& context, std::int64_t positions, const std::string& why_idle,
                                  std::vector<ResolvedKey>& resolved, Diagnostics& diagnostics) {
  const std::optional<std::int64_t> written = read_integer(context.section, "longest_context");
  if (!written) return positions;
  const Place& place = context.section.find("longest_context")->place();
  if (!why_idle.empty()) {
    diagnostics.warning(place, "rdu.longest_context", "has no effect: " + why_idle);
    return positions;
  }
  resolved.push_back({"rdu.longest_context", std::to_string(*written), origin_of(place)});
  if (*written <= positions) return std::max<std::int64_t>(1, *written);
  diagnostics.error(place, "rdu.longest_context",
                    fmt::format("{} is more than the model's {} positions", *written, positions),
                    "at most as many, or a larger model.max_position_embeddings");
  return positions;
}

std::int64_t default_parts(const TransformerDescription& model, std::int64_t rdus, const Place& place,
                           Diagnostics& diagnostics) {
  std::string first;
  for (std::int64_t parts = rdus; parts > 1; --parts) {
    if (rdus % parts != 0) continue;
    std::string problem;
    if (cut_weights(model, parts, problem)) {
      if (!first.empty()) {
        diagnostics.warning(place, "rdu.compile", fmt::format("{}: {} of them share the model", first, parts),
                            "--n-chips, to say how many");
      }
      return parts;
    }
    if (first.empty()) first = problem;
  }
  if (!first.empty()) {
    diagnostics.warning(place, "rdu.compile", first + ": one runs the model", "--n-chips, to say how many");
  }
  return 1;
}

void tell_of_copied_heads(const TransformerDescription& model, std::int64_t parts, const Place& place,
                          Diagnostics& diagnostics) {
  if (model.kv_heads % parts == 0) return;
  diagnostics.warning(place, "rdu.compile",
                      fmt::format("{} key-value heads on {} RDUs: each RDU holds {} whole, so that some are held more "
                                  "than once",
                                  model.kv_heads, parts, (model.kv_heads + parts - 1) / parts));
}

}  // namespace podsim::rdu
