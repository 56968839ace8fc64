#pragma once
// What an operator or a pass of it costs on one IPU, by what the cycles are spent on.

#include <algorithm>

#include "sim/units/bytes.hpp"
#include "sim/units/quantity.hpp"

namespace podsim::ipu {

struct CostByPart {
  Cycles vertex;              // multiplying, or whatever an operator's own workers do
  Cycles exchange;            // inputs and weights in
  Cycles reduction_exchange;  // partial sums to where they are added
  Cycles reduction;           // adding them
  Cycles serial;              // rearranging between serial steps
  Cycles sync;
  Cycles layout;    // rearranging operands and results around the passes
  Cycles launch;    // fixed, per pass
  Bytes temporary;  // per tile, at the peak

  Cycles compute() const { return vertex + reduction + serial + layout; }
  Cycles transfer() const { return exchange + reduction_exchange; }
  Cycles total() const { return compute() + transfer() + sync + launch; }

  // One after the other: cycles add, the larger need for temporaries remains.
  CostByPart& operator+=(const CostByPart& other) {
    vertex += other.vertex;
    exchange += other.exchange;
    reduction_exchange += other.reduction_exchange;
    reduction += other.reduction;
    serial += other.serial;
    sync += other.sync;
    layout += other.layout;
    launch += other.launch;
    temporary = std::max(temporary, other.temporary);
    return *this;
  }
  friend CostByPart operator+(CostByPart a, const CostByPart& b) { return a += b; }
  // Cycles alone.
  friend CostByPart operator*(double factor, CostByPart cost) {
    for (Cycles CostByPart::*part :
         {&CostByPart::vertex, &CostByPart::exchange, &CostByPart::reduction_exchange, &CostByPart::reduction,
          &CostByPart::serial, &CostByPart::sync, &CostByPart::layout, &CostByPart::launch}) {
      cost.*part = factor * (cost.*part);
    }
    return cost;
  }
};

}  // namespace podsim::ipu
