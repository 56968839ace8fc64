#include "models/rdu/section_rates.hpp"

namespace podsim::rdu {

SectionCapacity section_capacity(const SectionConstants& section, const Allotment& tiles) {
  SectionCapacity capacity;
  capacity.sram = tiles.sram;
  capacity.operators = section.operators;
  capacity.resident_forward = section.resident_forward;
  capacity.resident_backward = section.resident_backward;
  capacity.resident_update = section.resident_update;
  capacity.tiles_per_call = section.tiles_per_call;
  capacity.retry_factor = section.retry_factor;
  return capacity;
}

SectionRates section_rates(const SectionConstants& section, const Allotment& tiles, bool tuned) {
  SectionRates rates;
  rates.peak = tiles.peak;
  rates.efficiency = tuned ? section.tuned_efficiency : section.efficiency;
  rates.memory = tiles.ddr;
  rates.issue_interval = section.issue_interval;
  rates.program_load = section.program_load;
  rates.argument_load = section.argument_load;
  return rates;
}

}  // namespace podsim::rdu
