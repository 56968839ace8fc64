#pragma once
// What failures leave of a long run: the best interval between checkpoints and the share of time that is work.
//
// Young (CACM 1974): interval = sqrt(2 · d · M). Daly (FGCS 2006) adds terms in d / 2M and the time of a restart:
//   interval = sqrt(2 d M) · (1 + sqrt(x) / 3 + x / 9) - d   with x = d / 2M, for x < 1; else M
//   goodput  = interval / (M · e^(R/M) · (e^((interval + d) / M) - 1))
// d: time to write a checkpoint, R: time to restart, M: mean time between failures.

#include "sim/units/quantity.hpp"

namespace podsim {

struct Failures {
  Duration between;     // mean, of everything that the run needs; above 0
  Duration checkpoint;  // to write one; above 0
  Duration restart;     // until work goes on after a failure
};

struct CheckpointPlan {
  Duration interval;   // of work between two checkpoints
  double goodput = 1;  // work / time
};

CheckpointPlan best_checkpoints(const Failures& failures);

}  // namespace podsim
