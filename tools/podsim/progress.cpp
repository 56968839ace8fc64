#include "tools/podsim/progress.hpp"

#include <unistd.h>

#include <algorithm>
#include <cstdio>

namespace podsim {

Progress::Progress(std::int64_t total, std::int64_t before, bool quiet)
    : total_(total), before_(before), shown_(!quiet && isatty(STDERR_FILENO) != 0) {}

Progress::~Progress() {
  if (written_) std::fputc('\n', stderr);
}

void Progress::show(std::int64_t done, std::int64_t total) {
  total_ = total;
  show(done);
}

void Progress::show(std::int64_t done) {
  const auto now = Clock::now();
  if (!shown_ || (now - last_ < std::chrono::milliseconds(250) && done < total_)) return;
  last_ = now;
  written_ = true;
  const double elapsed = std::chrono::duration<double>(now - begin_).count();
  const double rate = static_cast<double>(std::max<std::int64_t>(done - before_, 0)) / std::max(elapsed, 1e-9);
  const double left = rate > 0 ? static_cast<double>(total_ - done) / rate : 0;
  std::fprintf(stderr, "\r%lld/%lld points, %.0f/s, %.0f s left ", static_cast<long long>(done),
               static_cast<long long>(total_), rate, left);
}

}  // namespace podsim
