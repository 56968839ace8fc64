// The commands, checked against the machine and each other.

#include <fmt/format.h>

#include "models/rdu/resolve/resolution.hpp"
#include "sim/config/key_spec.hpp"
#include "sim/plan/settings_reader.hpp"

namespace podsim::rdu {
namespace {

// "sn30" of "sn30", "sn40" of "sn40l-8".
std::string arch_of(const std::string& system) {
  std::string name = system.substr(system.rfind('/') + 1);
  name = name.substr(0, name.find_first_of("-."));
  return name == "sn40l" ? "sn40" : name;
}

void record_commands(Resolution& resolution) {
  for (const auto& [key, text] : resolution.commands.texts) {
    resolution.record(key, toml_string(text), resolution.origin(key.c_str(), ""));
  }
  for (const auto& [name, value] : resolution.commands.defines) {
    resolution.record("define." + name, toml_string(value), resolution.origin("define", ""));
  }
}

// A launch line inside a batch job does not say how many ranks there are; rdu.replicas does.
void settle_ranks(const Resolution& resolution, LaunchCommand& launch) {
  Argument<std::int64_t>& ranks = launch.ranks;
  if (ranks.given) return;
  if (launch.nodes.given && launch.ranks_per_node.given && sound(launch.nodes) && sound(launch.ranks_per_node)) {
    ranks = launch.ranks_per_node;
    ranks.value *= launch.nodes.value;
    return;
  }
  const std::optional<std::int64_t> replicas = read_integer(resolution.context.section, "replicas");
  if (replicas) {
    ranks.value = *replicas;
    ranks.place = resolution.place_of("replicas");
  } else {
    ranks.valid = !resolution.compile().data_parallel.value;
  }
}

}  // namespace

void read_and_check_commands(Resolution& resolution) {
  Commands& commands = resolution.commands;
  Diagnostics& diagnostics = resolution.diagnostics;
  commands = read_commands(resolution.context.section, diagnostics);
  if (!commands.compile) return;
  record_commands(resolution);
  const RduConstants& constants = resolution.plan->constants;
  const std::string release =
      resolution.choose("release", constants.o1_enabling_flag ? "1.17" : "1.18", "default of the software");
  const std::optional<Release> parsed = parse_release(release);
  if (!parsed) {
    diagnostics.error(resolution.place_of("release"), "rdu.release", fmt::format("\"{}\" is no release", release),
                      "a text such as \"1.17\"");
    return;
  }
  const FamilyContext& context = resolution.context;
  resolution.system = {context.system,        arch_of(context.system), context.nodes,
                       constants.system.rdus, constants.chip.tiles,    parsed};
  if (commands.compile_given) check_compile(*commands.compile, resolution.system, diagnostics);
  if (!commands.launch) return;
  settle_ranks(resolution, *commands.launch);
  check_launch(*commands.launch, resolution.system, diagnostics);
  if (commands.compile_given) check_pair(*commands.compile, *commands.launch, resolution.system, diagnostics);
}

}  // namespace podsim::rdu
