#pragma once
// The commands of an [rdu] section: where their text comes from, what they say of the shared sections.

#include <map>
#include <optional>
#include <string>

#include "models/rdu/command/compile_command.hpp"
#include "models/rdu/command/launch_command.hpp"
#include "sim/config/value.hpp"

namespace podsim::rdu {

struct Commands {
  std::optional<CompileCommand> compile;  // empty: none could be read
  std::optional<LaunchCommand> launch;    // empty: none given, or none could be read
  bool compile_given = false;
  Defines defines;
  std::map<std::string, std::string> texts;  // of "compile" and "launch", as written or as their file holds them
};

// Reads `compile`, `launch` and `define`; without `compile` a command with nothing but defaults. All problems go to
// `diagnostics`.
Commands read_commands(const Value& section, Diagnostics& diagnostics);

// Writes batch, sequence length and mode of the commands into [workload] of `document` where it does not give them; two
// that differ are an error. Problems within the commands are not told here.
void fill_workload(Value& document, Diagnostics& diagnostics);

}  // namespace podsim::rdu
