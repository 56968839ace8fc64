#pragma once
// The cost constants as literals: tests of formulas stand on these, and one test holds the shipped files to them.

#include "models/ipu/constants.hpp"

namespace podsim::test {

inline ipu::ChipConstants gc200_chip() {
  ipu::ChipConstants chip;
  chip.tiles = 1472;
  chip.tile_memory = Bytes(638'976);
  chip.clock = hertz(1.325e9);
  chip.peak = {flop_per_second(249.66e12), flop_per_second(124.83e12), flop_per_second(62.4e12)};
  return chip;
}

inline ipu::CostConstants transformer_cost() {
  ipu::CostConstants cost;
  cost.pass = cycles(1.91);
  cost.pass_exchange = cycles(0.5);
  cost.launch = cycles(608);
  cost.launch_sync = cycles(300);
  cost.misaligned = cycles(9.4);
  cost.lookup = cycles(100);
  cost.optimizer_passes = 20;
  cost.optimizer_launches_lamb = 25;
  cost.optimizer_launches_other = 14;
  return cost;
}

}  // namespace podsim::test
