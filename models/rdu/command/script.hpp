#pragma once
// A text with commands in it, of which one compiles or runs a program.

#include <cstddef>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "models/rdu/command/command_line.hpp"

namespace podsim::rdu {

struct Script {
  std::vector<CommandLine> lines;  // every command of the text, taken apart
  std::set<std::string> defines;   // names of the given values that the text uses
};
Script read_script(std::string_view text, const Place& begin, const Defines& defines, Diagnostics& diagnostics);

// The one that compiles, or else the one that runs; several or none are errors at `begin`.
std::optional<std::size_t> the_command(const std::vector<CommandLine>& lines, bool compiles, const Place& begin,
                                       Diagnostics& diagnostics);

void report_passed_over(const CommandLine& line, Diagnostics& diagnostics);

}  // namespace podsim::rdu
