#include "sim/units/sim_time.hpp"

#include <cmath>
#include <stdexcept>
#include <string>

namespace podsim {

void SimTime::throw_out_of_range() {
  throw std::range_error("a time of more than 106 days");
}

SimTime to_sim_time(Duration duration) {
  const double picoseconds = duration.in_base() * 1e12;
  if (!(picoseconds >= 0 && picoseconds < 9.2e18)) {
    throw std::range_error("a duration of " + std::to_string(duration.in_base()) + " s");
  }
  return SimTime(static_cast<std::int64_t>(std::llround(picoseconds)));
}

}  // namespace podsim
