#pragma once
// A schedule that is shipped nowhere: two devices pass micro-batches on as soon as they have them.

#include <cstdint>

#include "sim/plan/family.hpp"

namespace podsim::examples {

// Of one micro-batch on one device.
struct StageTimes {
  SimTime compute;
  Bytes activation;  // from the first device to the second
};

// `updates` updates of `micro_batches` each, over a link of `bandwidth`.
Lowered two_stages(std::int64_t updates, int micro_batches, const StageTimes& times, Bandwidth bandwidth);

}  // namespace podsim::examples
