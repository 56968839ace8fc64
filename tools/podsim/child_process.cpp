#include "tools/podsim/child_process.hpp"

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <exception>

namespace podsim {
namespace {

void write_all(int descriptor, std::string_view text) {
  while (!text.empty()) {
    const ssize_t written = ::write(descriptor, text.data(), text.size());
    if (written < 0 && errno != EINTR) return;
    if (written > 0) text.remove_prefix(static_cast<std::size_t>(written));
  }
}

[[noreturn]] void be_child(int descriptor, const std::function<std::string()>& work) {
  std::signal(SIGINT, SIG_DFL);
  std::signal(SIGTERM, SIG_DFL);
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  int code = 0;
  try {
    write_all(descriptor, work());
  } catch (const std::exception& error) {
    write_all(descriptor, error.what());
    code = 1;
  }
  ::_exit(code);
}

std::string read_to_end(int descriptor) {
  std::string text;
  std::array<char, 4096> buffer{};
  while (true) {
    const ssize_t count = ::read(descriptor, buffer.data(), buffer.size());
    if (count > 0) text.append(buffer.data(), static_cast<std::size_t>(count));
    if (count == 0 || (count < 0 && errno != EINTR)) return text;
  }
}

}  // namespace

ChildResult run_in_child(const std::function<std::string()>& work) {
  std::array<int, 2> ends{};
  if (::pipe(ends.data()) != 0) return {"", fmt::format("no pipe: {}", std::strerror(errno))};
  const pid_t child = ::fork();
  if (child < 0) {
    ::close(ends[0]);
    ::close(ends[1]);
    return {"", fmt::format("no process: {}", std::strerror(errno))};
  }
  if (child == 0) {
    ::close(ends[0]);
    be_child(ends[1], work);
  }
  ::close(ends[1]);
  std::string text = read_to_end(ends[0]);
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {std::move(text), ""};
  if (WIFSIGNALED(status)) return {"", fmt::format("ended by signal {}", WTERMSIG(status))};
  return {"", text.empty() ? "ended without a result" : text};
}

}  // namespace podsim
