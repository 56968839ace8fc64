#pragma once
// Operators as text, the way they are asked for on the command line and held in tables:
//
//   conv 4x64x56x56 -> 64 k3 s2 p1 g32 d1    batch x channels x height x width (or x width alone) -> channels; kernel,
//                                            stride, padding, groups, dilation; k3x1 is height x width, p1x1:0x0 what
//                                            is before and behind. Without p the padding keeps the size at stride 1
//   octave 4x64x56x56 -> 64 k3 low0.25x0.25  as conv, with parts of the channels in and out at half the resolution
//   dense 384x1024x4096                      rows x inputs x outputs
//   attention 16x384x64x384                  groups x rows x inner x columns
//   matmul 1000x256x20000                    rows x inner x columns, added to what is there
//   embedding 100000x200 n1440               rows x width of the table; look-ups
//   reduce 16x4x16x32x8 over1x3 max          dimensions; those that go, from 0; add, square-add or max
//   pool 1x64x147x147 k3 s2 p0               max pooling
//   lstm 16x1024 -> 1024 t25                 batch x inputs -> outputs; steps. gru likewise
//   norm 4x64x56x56                          batch norm, activation and share of a residual addition
//   elementwise 4x64x56x56
//
// and behind it, where the operator has more than one pass: training (the default), inference, or first (training of a
// layer that nothing learns before). Options may be written in full: kernel=3. tiles1200 uses fewer tiles than there
// are.

#include <optional>
#include <string>

#include "models/ipu/operators/operator_description.hpp"
#include "sim/core/diagnostics.hpp"

namespace podsim::ipu {

struct WrittenOperator {
  OperatorDescription description;
  std::string text;  // with every option, so that it reads back the same
};

// Problems, each at its column behind `place`, go to `diagnostics`; the result is empty then.
std::optional<WrittenOperator> parse_operator(const std::string& text, const Place& place, Diagnostics& diagnostics);

}  // namespace podsim::ipu
