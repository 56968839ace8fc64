#include "models/ipu/operators/operator_constants.hpp"

#include <string>

namespace podsim::ipu {

namespace {

SurroundingConstants read_surrounding(ConstantReader& reader, const std::string& name) {
  const std::string prefix = "cost.operators." + name + ".";
  SurroundingConstants surrounding;
  surrounding.factor = reader.number(prefix + "factor");
  surrounding.launch = reader.cycle_count(prefix + "launch");
  surrounding.input_element = reader.cycle_count(prefix + "input_element");
  surrounding.output_element = reader.cycle_count(prefix + "output_element");
  surrounding.weight_element = reader.cycle_count(prefix + "weight_element");
  return surrounding;
}

}  // namespace

OperatorConstants read_operator_constants(ConstantReader& reader) {
  OperatorConstants constants;
  constants.passes = read_pass_constants(reader);
  constants.convolution = read_surrounding(reader, "convolution");
  return constants;
}

}  // namespace podsim::ipu
