#pragma once
// What a split of a pass costs: whole-chip formulas condensed from the planner of graphcore/poplibs (lib/poplin,
// ConvPlan.cpp, PerformanceEstimation.hpp, ExchangeEstimator.hpp). With g groups, a input and b output grains on
// a tile, k and n channels in them, m positions, h kernel rows of width w, r parts of input channels and kernel rows
// (names of constants in configs/constants/ipu-operators.toml):
//
//   vertex      flat:  start + g (group + a (input_grain + b (output_grain + weight_load
//                      + max(6 (row_slots ceil(m / 6) + worker_start), shortest))))
//               field: start + g (group + a (input_grain + b (output_grain + h (kernel_row + w inner)))) + zeroing
//   exchange    g (field_in k bytes / (rate, or twice that for an even column split) / steps + weights bytes / rate);
//               of an operand that lies where it is read, 1 - 1 / (tiles that read the same)
//   reduction   o (r - 1) / r partial bytes / rate + o / adds_per_cycle + start, o = g m n
//   serial      start + share of all weights, written and read again + output cycles o / r
//   sync        2 of them, 4 with a reduction
//   layout      bytes of activations expanded to fold the kernel, once
//
// all but the layout once per serial step.

#include "models/ipu/operators/pass_plan.hpp"

namespace podsim::ipu {

// The cost of splits of one variant of one pass.
class PassPricer {
 public:
  PassPricer(const PassConstants& constants, AmpMode mode, std::int64_t tiles, const VariantShape& shape);

  const VariantShape& shape() const { return shape_; }
  TileShare share(const PassSplit& split) const;
  CostByPart price(const PassSplit& split, const TileShare& share) const;
  // A bound from below, of cycles and of temporary bytes, for every split into these parts of channels, groups and
  // kernel rows: `positions` is the least that any tile then has.
  CostByPart least(const PassSplit& split, const TileShare& share, double positions) const;

 private:
  struct Sizes;  // of a share, in elements
  struct Received;
  Received received(const PassSplit& split) const;
  Sizes sizes(const TileShare& share) const;
  double field_in(const TileShare& share) const;
  Cycles vertex(const TileShare& share) const;
  Cycles flat_vertex(const TileShare& share) const;
  Cycles field_vertex(const TileShare& share) const;
  Cycles window_vertex(const TileShare& share) const;
  Cycles kernel_position() const;

  const PassConstants& constants_;
  const PassMode& mode_;
  bool single_;
  double tiles_;
  VariantShape shape_;
};

}  // namespace podsim::ipu
