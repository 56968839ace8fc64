#include <fmt/format.h>

#include <algorithm>
#include <string_view>
#include <utility>

#include "models/rdu/command/check_helpers.hpp"
#include "models/rdu/command/command_checks.hpp"

namespace podsim::rdu {
namespace {

std::string file_of(const std::string& path) {
  return path.substr(path.rfind('/') + 1);
}

// Each part behind a slash, without "." and empty ones.
std::string normal_path(const std::string& path) {
  std::string normal;
  std::size_t begin = 0;
  while (begin < path.size()) {
    const std::size_t end = std::min(path.find('/', begin), path.size());
    const std::string_view part = std::string_view(path).substr(begin, end - begin);
    if (!part.empty() && part != ".") normal.append("/").append(part);
    begin = end + 1;
  }
  return normal;
}

void check_flag_on_both(const Argument<bool>& compiled, const Argument<bool>& launched, const char* name,
                        Diagnostics& diagnostics, const std::pair<const char*, const char*>& what) {
  if (!compiled.valid || !launched.valid || compiled.value == launched.value) return;
  const Argument<bool>& there = compiled.value ? compiled : launched;
  const Argument<bool>& missing = compiled.value ? launched : compiled;
  const char* const problem = compiled.value ? what.first : what.second;
  diagnostics.error(missing.place, name, problem,
                    fmt::format("{} in both commands; it stands at {}", name, origin_text(there.place)));
}

void check_same(const CompileCommand& compile, const LaunchCommand& launch, Diagnostics& diagnostics) {
  for (const FlagOccurrence& used : launch.line.flags) {
    if (!used.flag->same_at_run || !used.valid || used.values.empty() || !used.shipped_in.empty()) continue;
    const FlagOccurrence* fixed = compile.line.find(used.flag->key.path);
    if (fixed == nullptr || !fixed->valid || fixed->values.empty()) continue;
    const Word& now = used.values.front();
    const Word& then = fixed->values.front();
    if (now.text == then.text || !now.unset.empty() || !then.unset.empty()) continue;
    diagnostics.error(now.place, used.name,
                      fmt::format("is {}, but the PEF is compiled for {}: its shapes are static", now.text, then.text),
                      fmt::format("{}, or a new compile", then.text));
  }
}

void check_pef(const CompileCommand& compile, const LaunchCommand& launch, Diagnostics& diagnostics) {
  const PefPath expected = expected_pef(compile);
  if (!usable(launch.pef) || launch.pef.value.empty() || compile.pef_name.unset || !compile.pef_name.valid) return;
  if (expected.name_is_default) return;
  const std::string given_file = file_of(launch.pef.value);
  if (given_file != expected.file) {
    if (given_file.find('$') != std::string::npos || given_file.find('<') != std::string::npos) return;
    refuse(launch.pef, diagnostics, fmt::format("is {}, but the compile makes {}", given_file, expected.file),
           expected.text());
    return;
  }
  if (launch.pef.unset || expected.unset) return;
  const std::string given = normal_path(launch.pef.value);
  const std::string wanted = normal_path(expected.text());
  const bool same = given.ends_with(wanted) || wanted.ends_with(given);
  if (!same) {
    warn(launch.pef, diagnostics, "is not where the compile leaves the PEF", expected.text());
  }
}

void check_replicas(const CompileCommand& compile, const LaunchCommand& launch, const CommandSystem& system,
                    Diagnostics& diagnostics) {
  const Argument<std::int64_t>& ranks = launch.ranks;
  if (!ranks.valid) return;
  const bool data_parallel = compile.data_parallel.value && launch.data_parallel.value;
  if (data_parallel && compile.world_size.valid && ranks.value < compile.world_size.value) {
    diagnostics.error(ranks.place, ranks.name,
                      fmt::format("{} rank{}, but the PEF is compiled for a world size of {}", ranks.value,
                                  ranks.value == 1 ? "" : "s", compile.world_size.value),
                      fmt::format("at least {}", compile.world_size.value));
  }
  if (!compile.n_chips.valid || !compile.num_tiles.valid || !launch.nodes.valid) return;
  if (launch.nodes.value > system.nodes) return;  // reported by check_launch
  const CopySize size = copy_size(compile, system);
  const std::int64_t nodes = launch.nodes.known ? launch.nodes.value : system.nodes;
  const std::int64_t room = copies_per_node(size, system) * nodes;
  if (ranks.value <= room || room == 0) return;
  diagnostics.error(
      ranks.place, ranks.name,
      fmt::format("{} copies of {} RDU{} with {} tiles each do not fit {} node{} of {}", ranks.value, size.rdus,
                  size.rdus == 1 ? "" : "s", size.tiles, nodes, nodes == 1 ? "" : "s", system.name),
      fmt::format("at most {}", room));
}

}  // namespace

void check_launch(const LaunchCommand& command, const CommandSystem& system, Diagnostics& diagnostics) {
  const bool zoo = command.line.spelling == Spelling::overrides;
  if (!command.action.empty() && !command.pef.known) {
    diagnostics.error(command.line.place, zoo ? "samba_run.pef" : "--pef", "is missing",
                      "the PEF that the compile made");
  }
  if (zoo && usable(command.pef) && !command.pef.unset && !command.pef.value.starts_with("/")) {
    warn(command.pef, diagnostics, "Model Zoo does not find a relative path", "an absolute path");
  }
  if (usable(command.nodes) && command.nodes.value > system.nodes) {
    diagnostics.error(command.nodes.place, command.nodes.name,
                      fmt::format("{} nodes, but the system has {}", command.nodes.value, system.nodes),
                      fmt::format("at most {}, or system.nodes = {}", system.nodes, command.nodes.value));
  }
  if (command.reduce_on_rdu.value && !command.data_parallel.value) {
    warn(command.reduce_on_rdu, diagnostics, "has no effect without --data-parallel");
  }
  if (command.ranks.valid && command.ranks.value > 1 && !command.data_parallel.value && !command.inference.value &&
      !command.action.empty()) {
    diagnostics.warning(
        command.ranks.place, command.ranks.name,
        fmt::format("{} ranks without --data-parallel train each a model of its own", command.ranks.value));
  }
  const bool measures = command.action == "measure-performance" && command.data_parallel.value;
  if (measures && !command.world_size.known) {
    warn(command.data_parallel, diagnostics, "measure-performance asks for the world size",
         fmt::format("-ws {}", command.ranks.value));
  }
  if (usable(command.world_size) && command.ranks.valid && command.world_size.given &&
      command.world_size.value > command.ranks.value) {
    refuse(command.world_size, diagnostics,
           fmt::format("{} is more than the {} rank{}", command.world_size.value, command.ranks.value,
                       command.ranks.value == 1 ? "" : "s"),
           fmt::format("at most {}", command.ranks.value));
  }
  const EnvironmentVariable* affinity = command.environment("SF_RNT_TILE_AFFINITY");
  if (affinity != nullptr && (command.uses(LauncherKind::srun) || command.uses(LauncherKind::sbatch))) {
    diagnostics.warning(affinity->value.place, affinity->name, "fails under Slurm, which assigns the tiles itself",
                        "no affinity here");
  }
}

void check_pair(const CompileCommand& compile, const LaunchCommand& launch, const CommandSystem& system,
                Diagnostics& diagnostics) {
  check_replicas(compile, launch, system, diagnostics);
  if (launch.action.empty()) return;  // sbatch and sambatune alone tell nothing of the program
  check_flag_on_both(compile.data_parallel, launch.data_parallel, "--data-parallel", diagnostics,
                     {"the PEF has gradient reduction, but the run does not use it",
                      "the run reduces gradients, but the PEF has no sections for it"});
  check_flag_on_both(compile.inference, launch.inference, "--inference", diagnostics,
                     {"a PEF for inference cannot train", "a PEF for training cannot be used for inference"});
  check_same(compile, launch, diagnostics);
  check_pef(compile, launch, diagnostics);
}

}  // namespace podsim::rdu
