// The entry: signals, then the program.

#include <unistd.h>

#include <csignal>
#include <string>
#include <vector>

#include "tools/podsim/program.hpp"

namespace {

extern "C" void end_interrupted(int) {
  _exit(static_cast<int>(podsim::ExitCode::interrupted));
}

}  // namespace

int main(int argc, char** argv) {
  std::signal(SIGINT, end_interrupted);
  std::signal(SIGPIPE, SIG_IGN);  // a reader that is gone shows as a failed write
  const std::vector<std::string> arguments(argv + (argc > 0 ? 1 : 0), argv + argc);
  return static_cast<int>(podsim::run_program(arguments));
}
