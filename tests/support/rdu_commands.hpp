#pragma once
// SambaFlow commands read and checked in one call, with what was reported.

#include <optional>
#include <string>

#include "models/rdu/command/command_checks.hpp"

namespace podsim::rdu::test {

// A text of its own begins at c:1:1.
inline const Place k_begin{"c", 1, 1};

struct Compile {
  std::optional<CompileCommand> command;
  Diagnostics diagnostics;
  std::string text() const { return diagnostics.to_text(); }
};

inline Compile compile(const std::string& text, const Defines& defines = {}) {
  Compile result;
  result.command = read_compile_command(text, k_begin, defines, result.diagnostics);
  return result;
}

struct Launch {
  std::optional<LaunchCommand> command;
  Diagnostics diagnostics;
  std::string text() const { return diagnostics.to_text(); }
};

inline Launch launch(const std::string& text, const Defines& defines = {}) {
  Launch result;
  result.command = read_launch_command(text, {"l", 1, 1}, defines, result.diagnostics);
  return result;
}

inline CommandSystem sn10() {
  return {"SN10", "sn10", 1, 8, 4, {}};
}
inline CommandSystem sn30() {
  return {"SN30", "sn30", 1, 8, 8, {}};
}
inline CommandSystem sn40l(std::int64_t rdus = 16) {
  return {"SN40L", "sn40", 1, rdus, 8, {}};
}
inline CommandSystem with_release(CommandSystem system, int minor) {
  system.release = Release{1, minor, 0};
  return system;
}
inline CommandSystem with_nodes(CommandSystem system, std::int64_t nodes) {
  system.nodes = nodes;
  return system;
}

// Everything that is reported of a compile command on a system.
inline std::string check(const std::string& text, const CommandSystem& system) {
  Compile read = compile(text);
  if (read.command) check_compile(*read.command, system, read.diagnostics);
  return read.text();
}

// Everything that is reported of both commands on a system; what reading the compile command reports, it does first.
inline std::string check(const std::string& compile_text, const std::string& launch_text, const CommandSystem& system) {
  Compile read = compile(compile_text);
  Launch started = launch(launch_text);
  Diagnostics all = read.diagnostics;
  all.append(started.diagnostics);
  if (read.command) check_compile(*read.command, system, all);
  if (started.command) check_launch(*started.command, system, all);
  if (read.command && started.command) check_pair(*read.command, *started.command, system, all);
  return all.to_text();
}

}  // namespace podsim::rdu::test
