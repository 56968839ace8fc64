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
  ipu::PlannerConstants& planner = cost.planner;
  planner.modes[0] = {16, 16, 2, 2, cycles(24), cycles(203), 4.0, false};
  planner.modes[1] = {16, 8, 2, 4, cycles(24), cycles(171), 2.0, true};
  planner.modes[2] = {8, 16, 4, 4, cycles(48), cycles(221), 2.0, false};
  planner.exchange_bytes_per_cycle = 4;
  planner.pair_broadcast_factor = 2;
  planner.superstep_sync = cycles(150);
  planner.reduction_step = cycles(100);
  planner.output_element = cycles(0.5);
  planner.cast_element = cycles(0.5);
  planner.cast = cycles(30);
  cost.pass = cycles(1.99);
  cost.pass_exchange = cycles(0.5);
  cost.launch = cycles(715);
  cost.launch_sync = cycles(300);
  cost.misaligned = cycles(9.4);
  cost.lookup = cycles(100);
  cost.optimizer_passes = 20;
  cost.optimizer_launches_lamb = 25;
  cost.optimizer_launches_other = 14;
  return cost;
}

}  // namespace podsim::test
