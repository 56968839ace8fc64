#include "tools/podsim/progress.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "sim/report/human.hpp"

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
  const std::string time_left = left < 120 ? fmt::format("{:.0f} s", std::ceil(left)) : human_long_time(left);
  // As wide as the lines before it, so that it leaves nothing of them.
  const std::string line = fmt::format("{}/{} points, {:.0f}/s, {} left", done, total_, rate, time_left);
  std::fputs(fmt::format("\r{:<70}", line).c_str(), stderr);
}

}  // namespace podsim
