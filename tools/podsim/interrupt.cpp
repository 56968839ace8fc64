#include "tools/podsim/interrupt.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>

#include "tools/podsim/exit_code.hpp"

namespace podsim {
namespace {

constexpr std::array<int, 2> k_signals{SIGINT, SIGTERM};

std::atomic<bool>& flag() {
  static std::atomic<bool> asked = false;
  static_assert(std::atomic<bool>::is_always_lock_free);
  return asked;
}

extern "C" void ask_for_end(int) {
  if (flag().exchange(true)) _exit(static_cast<int>(ExitCode::interrupted));
}

std::array<struct sigaction, k_signals.size()>& before() {
  static std::array<struct sigaction, k_signals.size()> actions{};
  return actions;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  flag() = false;
  struct sigaction action {};
  action.sa_handler = ask_for_end;
  action.sa_flags = SA_RESTART;
  for (std::size_t s = 0; s < k_signals.size(); ++s) sigaction(k_signals[s], &action, &before()[s]);
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t s = 0; s < k_signals.size(); ++s) sigaction(k_signals[s], &before()[s], nullptr);
}

bool InterruptGuard::asked() {
  return flag();
}

}  // namespace podsim
