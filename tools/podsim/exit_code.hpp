#pragma once
// What the program's exit says.

namespace podsim {

enum class ExitCode {
  done = 0,
  out_of_tolerance = 1,  // a comparison or validation
  bad_input = 2,         // or bad usage
  does_not_fit = 3,      // of a single run
  internal = 70,         // our fault
  interrupted = 130,
};

}  // namespace podsim
