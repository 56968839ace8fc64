#pragma once
// Done, total, rate and time left on standard error, a few times a second, when that is a terminal.

#include <chrono>
#include <cstdint>

namespace podsim {

class Progress {
 public:
  // `before`: what was done in earlier runs, which says nothing about the rate.
  Progress(std::int64_t total, std::int64_t before, bool quiet);
  ~Progress();  // ends the line
  Progress(const Progress&) = delete;
  Progress& operator=(const Progress&) = delete;
  void show(std::int64_t done);
  // With a total that was not known before.
  void show(std::int64_t done, std::int64_t total);

 private:
  using Clock = std::chrono::steady_clock;
  std::int64_t total_;
  std::int64_t before_;
  bool shown_;
  bool written_ = false;
  Clock::time_point begin_ = Clock::now();
  Clock::time_point last_ = begin_;
};

}  // namespace podsim
