// How RDUs share a copy of the model, how many copies there are, and that the nodes have room for them.

#include <fmt/format.h>

#include <algorithm>

#include "models/rdu/compile_graphs.hpp"
#include "models/rdu/node.hpp"
#include "models/rdu/resolve/resolution.hpp"
#include "sim/config/key_spec.hpp"
#include "sim/units/counts.hpp"

namespace podsim::rdu {
namespace {

// How many RDUs of a node share the weights for generation when the command does not say: all, or the largest part of
// them that divides the model, which is told.
std::int64_t default_parts(Resolution& resolution) {
  const std::int64_t rdus = resolution.plan->constants.system.rdus;
  const auto tell = [&](const std::string& text) {
    resolution.diagnostics.warning(resolution.compile().line.place, "rdu.compile", text, "--n-chips, to say how many");
  };
  std::string first;
  for (std::int64_t parts = rdus; parts > 1; --parts) {
    if (rdus % parts != 0) continue;
    std::string problem;
    if (cut_weights(resolution.plan->model, parts, problem)) {
      if (!first.empty()) tell(fmt::format("{}: {} of them share the model", first, parts));
      return parts;
    }
    if (first.empty()) first = problem;
  }
  if (!first.empty()) tell(first + ": one runs the model");
  return 1;
}

void read_parts(Resolution& resolution) {
  resolution.plan->nodes = resolution.context.nodes;
  const CompileCommand& compile = resolution.compile();
  const ChipConstants& chip = resolution.chip();
  RduSetup& setup = resolution.setup();
  setup.level = compile.optimization_level.value;
  setup.tensor_parallel = compile.tensor_parallel.value;
  const CopySize size = copy_size(compile, resolution.system);
  setup.parts = size.rdus;
  setup.tiles_per_part = std::min(size.tiles, chip.tiles);
  if (setup.fused_generation) {
    if (!compile.n_chips.given) setup.parts = default_parts(resolution);
    setup.tiles_per_part = chip.tiles;
    if (setup.parts > 1) setup.tensor_parallel = TensorParallel::weight;
  } else if (size.halves_batch) {
    setup.tensor_parallel = TensorParallel::batch;
    setup.halves = true;
    setup.parts = size.rdus * chip.dies;
    setup.tiles_per_part = size.tiles / chip.dies;
  }
  if (resolution.plan->isolated) {
    setup.parts = 1;
    setup.halves = false;
  }
  if (setup.parts > 1 && setup.tensor_parallel == TensorParallel::none && compile.tensor_parallel.valid) {
    resolution.diagnostics.error(compile.n_chips.place, "rdu.compile",
                                 fmt::format("{} RDUs for one copy without a way to share it", setup.parts),
                                 "--tensor-parallel batch or weight");
  }
}

// Whether the number of copies is known.
bool read_number_of_copies(Resolution& resolution) {
  const CompileCommand& compile = resolution.compile();
  const std::optional<LaunchCommand>& launch = resolution.commands.launch;
  RduSetup& setup = resolution.setup();
  const std::optional<std::int64_t> written = read_integer(resolution.context.section, "replicas");
  std::string origin = resolution.origin("replicas", "default");
  if (written) {
    setup.replicas = *written;
  } else if (launch && launch->ranks.given && !sound(launch->ranks)) {
    return false;  // reported
  } else if (launch && launch->ranks.given) {
    setup.replicas = launch->ranks.value;
    origin = launch->ranks.origin;
  } else if (compile.data_parallel.value && resolution.training()) {
    resolution.diagnostics.error(compile.data_parallel.place, "rdu.replicas",
                                 "is missing: a data-parallel program runs as many copies as it is launched with",
                                 "rdu.replicas, or a launch command with its number of ranks");
    return false;
  }
  resolution.record("replicas", std::to_string(setup.replicas), origin);
  setup.reduces_gradients = resolution.training() && compile.data_parallel.value;
  if (resolution.training() && written && setup.replicas > 1 && !setup.reduces_gradients) {
    resolution.diagnostics.warning(resolution.place_of("replicas"), "rdu.replicas",
                                   "copies without --data-parallel train a model each: nothing is reduced among them");
  }
  return true;
}

// Copies fill one node after another, unless the launch command spreads them.
std::int64_t spread_over_nodes(const Resolution& resolution, std::int64_t in_a_node) {
  const std::int64_t room = std::max<std::int64_t>(1, in_a_node);
  const std::optional<LaunchCommand>& launch = resolution.commands.launch;
  if (!launch) return room;
  const auto told = [](const Argument<std::int64_t>& count) { return count.known && sound(count) && count.value > 0; };
  const std::int64_t replicas = std::max<std::int64_t>(1, resolution.plan->setup.replicas);
  std::int64_t copies = room;
  if (told(launch->ranks_per_node)) {
    copies = launch->ranks_per_node.value;
  } else if (told(launch->nodes)) {
    copies = (replicas + launch->nodes.value - 1) / launch->nodes.value;
  }
  // As many as all of them need anyway.
  const std::int64_t least = (replicas + resolution.context.nodes - 1) / resolution.context.nodes;
  return std::clamp(copies, std::min(least, room), room);
}

// Where the number of copies is said.
Place place_of_copies(const Resolution& resolution) {
  const std::optional<LaunchCommand>& launch = resolution.commands.launch;
  if (resolution.context.section.find("replicas") != nullptr) return resolution.place_of("replicas");
  return launch && launch->ranks.given ? launch->ranks.place : resolution.compile().line.place;
}

void check_room(Resolution& resolution) {
  RduSetup& setup = resolution.setup();
  const FamilyContext& context = resolution.context;
  const std::int64_t of_node = resolution.plan->constants.system.rdus * resolution.chip().tiles;
  const std::int64_t per_replica = setup.parts * setup.tiles_per_part;
  const std::int64_t in_a_node = room_of_node(setup, resolution.plan->constants);
  const std::int64_t most = in_a_node * context.nodes;
  setup.copies_per_node = spread_over_nodes(resolution, in_a_node);
  if (setup.replicas >= 1 && setup.replicas <= most) return;
  const std::int64_t asked = setup.replicas;
  setup.replicas = 1;     // for the checks that follow
  if (asked < 1) return;  // reported
  const bool written = context.section.find("replicas") != nullptr;
  resolution.diagnostics.error(
      written ? resolution.place_of("replicas") : resolution.compile().line.place, "rdu.replicas",
      fmt::format("{} of {} tiles each need {} tiles; {} of {} {} {}", asked, per_replica,
                  static_cast<double>(asked) * static_cast<double>(per_replica), counted(context.nodes, "node"),
                  context.system, context.nodes == 1 ? "has" : "have", of_node * context.nodes),
      most >= 1 ? fmt::format("at most {}, or more in system.nodes", most) : "more in system.nodes");
}

// A key-value head is not cut: with fewer of them than RDUs some hold the same.
void tell_of_copied_heads(Resolution& resolution) {
  const std::int64_t heads = resolution.plan->model.kv_heads;
  const std::int64_t parts = resolution.setup().parts;
  if (heads % parts == 0) return;
  resolution.diagnostics.warning(
      resolution.compile().n_chips.place, "rdu.compile",
      fmt::format("{} key-value heads on {} RDUs: each RDU holds {} whole, so that some are held more than once", heads,
                  parts, (heads + parts - 1) / parts));
}

void share_model(Resolution& resolution) {
  RduPlan& plan = *resolution.plan;
  plan.share = plan.model;
  const RduSetup& setup = plan.setup;
  const Place& place = resolution.compile().n_chips.place;
  if (plan.unet && setup.tensor_parallel == TensorParallel::weight && setup.parts > 1) {
    resolution.diagnostics.error(place, "rdu.compile", "the kernels of an image network are not cut over RDUs",
                                 "--tensor-parallel batch");
    return;
  }
  if (setup.tensor_parallel != TensorParallel::weight || setup.parts == 1 || plan.model.layers == 0) return;
  std::string problem;
  const auto share = cut_weights(plan.model, setup.parts, problem);
  if (!share) {
    resolution.diagnostics.error(place, "rdu.compile", problem, "a number of RDUs that divides them");
    return;
  }
  plan.share = *share;
  tell_of_copied_heads(resolution);
}

}  // namespace

void read_layout(Resolution& resolution) {
  read_parts(resolution);
  if (read_number_of_copies(resolution)) check_room(resolution);
  share_model(resolution);
}

void warn_of_idle_parts(Resolution& resolution) {
  const RduSetup& setup = resolution.setup();
  const std::int64_t most = room_of_node(setup, resolution.plan->constants) * resolution.context.nodes;
  if (setup.replicas >= most || resolution.plan->isolated) return;
  const std::int64_t tiles = resolution.chip().tiles;
  const std::int64_t in_an_rdu = tiles / setup.tiles_per_part;
  const std::int64_t parts = resolution.plan->constants.system.rdus * in_an_rdu * resolution.context.nodes;
  const std::string kind = in_an_rdu == 1 ? "RDUs"
                           : setup.tiles_per_part * 2 == tiles
                               ? "halves of RDUs"
                               : fmt::format("groups of {} tiles", setup.tiles_per_part);
  resolution.diagnostics.warning(
      place_of_copies(resolution), "rdu.replicas",
      fmt::format("{} of {} {} stay idle with {} of {}", parts - setup.replicas * setup.parts, parts, kind,
                  counted(setup.replicas, "copy"), setup.parts),
      fmt::format("up to {}", most));
}

void check_slowdown(Resolution& resolution) {
  const RduSetup& setup = resolution.setup();
  const RduPlan& plan = *resolution.plan;
  const std::int64_t devices = setup.replicas * setup.parts;
  std::vector<double>& slowdown = resolution.plan->slowdown;
  slowdown.assign(static_cast<std::size_t>(devices), 1.0);
  for (const auto& [device, factor] : resolution.context.slowdown) {
    bool known = false;
    for (std::int64_t i = 0; i < devices; ++i) {
      if (device != part_name(plan, i / setup.parts, i % setup.parts)) continue;
      slowdown[static_cast<std::size_t>(i)] = factor;
      known = true;
    }
    if (known) continue;
    resolution.diagnostics.error(resolution.context.section.place(), "system.slowdown." + device, "no such device",
                                 fmt::format("such as {}", part_name(plan, 0, 0)));
  }
}

}  // namespace podsim::rdu
