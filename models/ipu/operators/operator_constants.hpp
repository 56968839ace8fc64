#pragma once
// The figures of whole operators around their passes, read once from the constant set (cost.operators).

#include "models/ipu/operators/pass_constants.hpp"

namespace podsim::ipu {

// Around the passes of one operator: cycles = factor * sum of passes + launch * passes
//   + (input_element * inputs + output_element * outputs + weight_element * weights) / tiles.
struct SurroundingConstants {
  double factor = 1;
  Cycles launch;
  Cycles input_element;  // transposing, copying and updating, on one tile
  Cycles output_element;
  Cycles weight_element;
};

struct OperatorConstants {
  PassConstants passes;
  SurroundingConstants convolution;
};

OperatorConstants read_operator_constants(ConstantReader& reader);

}  // namespace podsim::ipu
