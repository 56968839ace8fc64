#include <fmt/format.h>

#include <algorithm>

#include "models/rdu/command/check_helpers.hpp"
#include "models/rdu/command/command_checks.hpp"
#include "models/rdu/command/model_zoo.hpp"
#include "sim/units/counts.hpp"

namespace podsim::rdu {
namespace {

constexpr Release k_o1_without_enabling{1, 18, 0};  // the first release that takes -o1 alone
constexpr std::int64_t k_tiles_of_one_chip = 4;
constexpr std::int64_t k_compile_world_size = 2;

bool is_zoo(const CompileCommand& command) {
  return command.line.spelling == Spelling::overrides;
}

// The machine that is compiled for.
std::string target_arch(const CompileCommand& command, const CommandSystem& system) {
  return command.arch.value == "native" ? system.arch : command.arch.value;
}

void check_levels(const CompileCommand& command, Diagnostics& diagnostics) {
  for (std::size_t i = 1; i < command.levels.size(); ++i) {
    diagnostics.error(command.levels[i].place, command.levels[i].name,
                      fmt::format("{} is given already", command.levels.front().name), "one optimisation level");
  }
}

void check_level_options(const CompileCommand& command, const CommandSystem& system, Diagnostics& diagnostics) {
  if (command.levels.size() > 1 || !command.optimization_level.valid) return;
  const bool o1 = command.optimization_level.value == OptimizationLevel::o1;
  const std::string level(to_text(command.optimization_level.value));
  if (usable(command.optimization_rules) && !o1) {
    refuse(command.optimization_rules, diagnostics, "fusion rules are read with -o1 only; the level is " + level,
           "-o1");
  }
  if (command.enable_hypersection.value && command.optimization_level.value != OptimizationLevel::o3) {
    refuse(command.enable_hypersection, diagnostics, "works with -o3 only; the level is " + level, "-o3");
  }
  if (command.o1_experimental_opts.given && command.o1_experimental_opts.value && !o1) {
    warn(command.o1_experimental_opts, diagnostics, "has no effect without -o1");
  }
  const bool must_enable = o1 && system.release && *system.release < k_o1_without_enabling;
  if (must_enable && !command.o1_experimental_opts.value) {
    refuse(command.optimization_level, diagnostics,
           fmt::format("SambaFlow {} takes -o1 only together with its enabling flag", to_text(*system.release)),
           "--o1-experimental-opts beside it, or release 1.18 or later");
  }
}

void check_batch(const CompileCommand& command, Diagnostics& diagnostics) {
  const Argument<std::int64_t>& batch = command.batch_size;
  const Argument<std::int64_t>& micro = command.microbatch_size;
  if (usable(micro) && batch.valid && batch.value % micro.value != 0) {
    refuse(micro, diagnostics, fmt::format("{} does not divide the batch of {}", micro.value, batch.value),
           "a divisor of the batch");
  }
  const Argument<std::int64_t>* per_device = command.shape("per-device-train-batch-size");
  if (per_device != nullptr && per_device->valid && usable(batch) && per_device->value != batch.value) {
    refuse(*per_device, diagnostics,
           fmt::format("{} is not the batch of {}, which is {}", per_device->value, batch.name, batch.value),
           std::to_string(batch.value));
  }
  if (usable(command.num_spatial_batches) && command.num_spatial_batches.value > 1 &&
      command.mapping.value != Mapping::spatial && command.mapping.valid) {
    warn(command.num_spatial_batches, diagnostics, "has no effect without --mapping spatial");
  }
}

void check_tiles_and_chips(const CompileCommand& command, const CommandSystem& system, Diagnostics& diagnostics) {
  const Argument<std::int64_t>& tiles = command.num_tiles;
  if (usable(tiles) && tiles.value > system.tiles_per_rdu) {
    refuse(tiles, diagnostics, fmt::format("{} tiles are more than an RDU of {} has", tiles.value, system.name),
           fmt::format("at most {}", system.tiles_per_rdu));
  }
  const Argument<std::int64_t>& chips = command.n_chips;
  if (!usable(chips)) return;
  if (chips.value > system.rdus_per_node) {
    refuse(chips, diagnostics,
           fmt::format("{} RDUs are more than a node of {} has, and one copy stays within a node", chips.value,
                       system.name),
           fmt::format("at most {}; --data-parallel goes beyond a node", system.rdus_per_node));
  }
  const bool split = command.tensor_parallel.value != TensorParallel::none || command.model_parallel.value;
  if (chips.value > 1 && command.tensor_parallel.valid && !split) {
    const std::string problem = "several RDUs, but nothing says how the model is split";
    const std::string expected = "--tensor-parallel batch or weight";
    if (is_zoo(command)) {
      warn(chips, diagnostics, problem, expected);
    } else {
      refuse(chips, diagnostics, problem, expected);
    }
  }
}

// Shapes are static: no share may hold a sample more than another.
void check_shares(const Argument<std::int64_t>& batch, const CopySize& size, const CommandSystem& system,
                  Diagnostics& diagnostics) {
  if (batch.value % size.batch_shares() == 0) return;
  if (!size.rdus_share_batch) {
    refuse(batch, diagnostics,
           fmt::format("a batch of {} is odd, but {} shares it between {}", batch.value, system.name, size.sharers()),
           "an even batch, or --num-tiles 4");
    return;
  }
  std::string expected = fmt::format("a multiple of {}", size.batch_shares());
  if (size.halves_batch) expected += fmt::format(", or of {} with --num-tiles 4", size.rdus);
  refuse(batch, diagnostics, fmt::format("a batch of {} cannot be shared by {}", batch.value, size.sharers()),
         std::move(expected));
}

void check_tensor_parallel(const CompileCommand& command, const CommandSystem& system, Diagnostics& diagnostics) {
  const CopySize size = copy_size(command, system);
  const Argument<std::int64_t>& batch = command.batch_size;
  const Argument<std::int64_t>& chips = command.n_chips;
  if (usable(batch) && !(is_zoo(command) && size.halves_batch)) check_shares(batch, size, system, diagnostics);
  const bool splits = usable(command.tensor_parallel) && command.tensor_parallel.value != TensorParallel::none;
  const bool one_die = system.arch == "sn10" || system.arch == "sn20";
  if (splits && one_die && chips.valid && chips.value == 1) {
    warn(command.tensor_parallel, diagnostics, "has nothing to split on one RDU", "--n-chips of 2 or more");
  }
  // What a file of the user's own sets is not known.
  const bool tiles_known = command.num_tiles.known || shipped_config(command.line) != nullptr;
  const bool zoo_on_sn30 = is_zoo(command) && target_arch(command, system) == "sn30";
  if (zoo_on_sn30 && tiles_known && command.num_tiles.valid && command.num_tiles.value != 4) {
    refuse(command.num_tiles, diagnostics,
           "Model Zoo has no tensor parallelism on SN30, which the compiler uses with other than 4 tiles", "4");
  }
}

void check_target(const CompileCommand& command, const CommandSystem& system, Diagnostics& diagnostics) {
  if (usable(command.arch) && command.arch.value != "native" && command.arch.value != system.arch) {
    refuse(command.arch, diagnostics, fmt::format("a PEF for {} does not run on {}", command.arch.value, system.name),
           fmt::format("{} or native, and a new compile", system.arch));
  }
  const Argument<std::string>& target = command.target_version;
  if (usable(target) && !target.unset) {
    const std::optional<Release> version = parse_release(target.value);
    if (!version) {
      refuse(target, diagnostics, fmt::format("\"{}\" is no version", target.value), "MAJOR.MINOR.PATCH");
    } else if (system.release &&
               Release{version->major, version->minor, 0} > Release{system.release->major, system.release->minor, 0}) {
      refuse(
          target, diagnostics,
          fmt::format("the runtime of SambaFlow {} refuses a PEF for {}", to_text(*system.release), to_text(*version)),
          to_text(*system.release) + " or older");
    }
  }
  for (const FlagOccurrence& used : command.line.flags) {
    const bool too_new = used.flag->since && system.release && *system.release < *used.flag->since;
    if (!too_new || !used.shipped_in.empty()) continue;
    diagnostics.error(used.place, used.name, fmt::format("SambaFlow {} does not know it", to_text(*system.release)),
                      "release " + to_text(*used.flag->since) + " or later");
  }
}

void check_data_parallel(const CompileCommand& command, Diagnostics& diagnostics) {
  const Argument<std::int64_t>& world = command.world_size;
  if (!command.data_parallel.value) {
    if (world.given) warn(world, diagnostics, "has no effect without --data-parallel");
    return;
  }
  if (!world.valid) return;
  if (!world.known && !is_zoo(command)) {
    warn(command.data_parallel, diagnostics, "no world size is given", "-ws 2; the launcher says how many copies run");
  } else if (world.known && world.value != k_compile_world_size) {
    warn(world, diagnostics,
         fmt::format("{} is only the least number of copies; the launcher says how many run", world.value),
         "2 at compile");
  }
  if (command.inference.value) {
    warn(command.data_parallel, diagnostics, "inference has no gradients to reduce; copies run side by side");
  }
}

void check_rest(const CompileCommand& command, Diagnostics& diagnostics) {
  if (command.mac_v1.value && command.mac_v2.value) {
    refuse(command.mac_v2, diagnostics, "--mac-v1 is given too", "one of them");
  }
  const std::string& mode = command.compiler_mode.value;
  if (usable(command.compiler_mode) && !command.compiler_mode.unset && mode != "nlp") {
    warn(command.compiler_mode, diagnostics, fmt::format("\"{}\" is no published mode", mode), "nlp");
  }
  if (command.verbose.value && !command.output_folder.known) {
    warn(command.verbose, diagnostics, "the PEF's name is not printed last then", "--output-folder beside it");
  }
  if (command.inference.value && command.grad_accumulation_steps.given) {
    warn(command.grad_accumulation_steps, diagnostics, "has no effect on inference");
  }
  const Argument<std::vector<double>>& factors = command.resources_scaling_factors;
  if (!usable(factors) || factors.value.empty()) return;
  if (factors.value.size() == 4) {
    warn(factors, diagnostics,
         "four factors are read as forward, backward, gradient norm, optimizer; their order is not documented");
  }
  if (command.inference.value && command.inference.valid && factors.given) {
    warn(factors, diagnostics, "inference has a forward graph only; the other factors have no effect");
  }
}

}  // namespace

CopySize copy_size(const CompileCommand& command, const CommandSystem& system) {
  CopySize size;
  size.rdus = command.n_chips.valid ? command.n_chips.value : 1;
  const Argument<std::int64_t>& tiles = command.num_tiles;
  const bool told = tiles.valid && tiles.value != k_tiles_by_compiler;
  const bool one_chip = command.n_chips.given && size.rdus == 1;
  size.tiles = one_chip ? std::min(k_tiles_of_one_chip, system.tiles_per_rdu) : system.tiles_per_rdu;
  if (told) size.tiles = tiles.value;
  const bool mode = command.tensor_parallel.known && command.tensor_parallel.value != TensorParallel::batch;
  size.halves_batch =
      target_arch(command, system) == "sn30" && tiles.valid && size.tiles > k_tiles_of_one_chip && !mode;
  const bool by_batch = command.tensor_parallel.valid && command.tensor_parallel.value == TensorParallel::batch;
  size.rdus_share_batch = size.rdus > 1 && (by_batch || size.halves_batch);
  return size;
}

std::string CopySize::sharers() const {
  if (!halves_batch) return counted(rdus, "RDU");
  return rdus_share_batch ? fmt::format("the {} halves of {}", batch_shares(), counted(rdus, "RDU"))
                          : "the two halves of an RDU";
}

std::int64_t copies_per_node(const CopySize& size, const CommandSystem& system) {
  const std::int64_t beside_each_other = system.tiles_per_rdu / std::max<std::int64_t>(1, size.tiles);
  return system.rdus_per_node / std::max<std::int64_t>(1, size.rdus) * beside_each_other;
}

void check_compile(const CompileCommand& command, const CommandSystem& system, Diagnostics& diagnostics) {
  check_levels(command, diagnostics);
  check_level_options(command, system, diagnostics);
  check_batch(command, diagnostics);
  check_tiles_and_chips(command, system, diagnostics);
  check_tensor_parallel(command, system, diagnostics);
  check_data_parallel(command, diagnostics);
  check_target(command, system, diagnostics);
  check_rest(command, diagnostics);
}

}  // namespace podsim::rdu
