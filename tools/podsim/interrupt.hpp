#pragma once
// Work that ends in order when the user or the batch system interrupts it.

namespace podsim {

// While it lives, the first SIGINT or SIGTERM only asks for an end; one that comes more than a second later ends the
// process at once.
class InterruptGuard {
 public:
  InterruptGuard();
  ~InterruptGuard();
  InterruptGuard(const InterruptGuard&) = delete;
  InterruptGuard& operator=(const InterruptGuard&) = delete;
  static bool asked();
};

}  // namespace podsim
