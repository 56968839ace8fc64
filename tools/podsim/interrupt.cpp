#include "tools/podsim/interrupt.hpp"

#include <unistd.h>

#include <array>
#include <atomic>
#include <csignal>
#include <cstdint>
#include <ctime>

#include "tools/podsim/exit_code.hpp"

namespace podsim {
namespace {

constexpr std::array<int, 2> k_signals{SIGINT, SIGTERM};

// When the first signal came, in milliseconds of a clock that starts above 0; 0: none came.
std::atomic<std::int64_t>& first_signal() {
  static std::atomic<std::int64_t> time = 0;
  static_assert(std::atomic<std::int64_t>::is_always_lock_free);
  return time;
}

std::int64_t milliseconds_now() {
  timespec now{};
  clock_gettime(CLOCK_MONOTONIC, &now);
  return 1 + std::int64_t{now.tv_sec} * 1000 + now.tv_nsec / 1'000'000;
}

extern "C" void ask_for_end(int) {
  std::int64_t first = 0;
  const std::int64_t now = milliseconds_now();
  if (first_signal().compare_exchange_strong(first, now)) return;
  // A terminal, `timeout` and batch systems signal a process and its group: one wish may come twice.
  constexpr std::int64_t k_one_wish = 1000;
  if (now - first > k_one_wish) _exit(static_cast<int>(ExitCode::interrupted));
}

std::array<struct sigaction, k_signals.size()>& before() {
  static std::array<struct sigaction, k_signals.size()> actions{};
  return actions;
}

}  // namespace

InterruptGuard::InterruptGuard() {
  first_signal() = 0;
  struct sigaction action {};
  action.sa_handler = ask_for_end;
  action.sa_flags = SA_RESTART;
  for (std::size_t s = 0; s < k_signals.size(); ++s) sigaction(k_signals[s], &action, &before()[s]);
}

InterruptGuard::~InterruptGuard() {
  for (std::size_t s = 0; s < k_signals.size(); ++s) sigaction(k_signals[s], &before()[s], nullptr);
}

bool InterruptGuard::asked() {
  return first_signal() != 0;
}

}  // namespace podsim
