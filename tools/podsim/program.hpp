#pragma once
// From the command line to an exit code; no exception leaves it.

#include <span>
#include <string>

#include "tools/podsim/exit_code.hpp"

namespace podsim {

// `arguments` without the program's own name.
ExitCode run_program(std::span<const std::string> arguments);

}  // namespace podsim
