#pragma once
// What a section has of the tiles that run the model: room on the chip, rates and launch times.

#include "models/rdu/constants.hpp"
#include "models/rdu/partition.hpp"
#include "models/rdu/section_cost.hpp"

namespace podsim::rdu {

SectionCapacity section_capacity(const SectionConstants& section, const Allotment& tiles);
// `tuned`: with a human-decision file for the model.
SectionRates section_rates(const SectionConstants& section, const Allotment& tiles, bool tuned);

}  // namespace podsim::rdu
