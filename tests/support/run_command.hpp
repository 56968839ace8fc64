#pragma once
// Runs a shell command without standard input and takes what it printed.

#include <string>

namespace podsim::test {

struct CommandResult {
  int exit_code = -1;  // 128 + signal number when a signal ended it
  std::string out;     // standard output
  std::string err;     // standard error
};

// `command` is a line for /bin/sh. Throws std::runtime_error when it cannot be started.
CommandResult run_command(const std::string& command, const std::string& working_folder);

// `text` as one word of a shell command.
std::string shell_quoted(const std::string& text);

}  // namespace podsim::test
