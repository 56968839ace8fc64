#include "models/workloads/operators.hpp"

#include <utility>

namespace podsim {

Operator matmul_operator(std::string name, const MatmulShape& shape, SerialDimension serial) {
  Operator op;
  op.kind = OperatorKind::matmul;
  op.name = std::move(name);
  op.matmul = shape;
  op.serial = serial;
  op.launches_per_serial_step = serial != SerialDimension::none;
  return op;
}

Operator elementwise_operator(std::string name, std::int64_t elements, int passes, int launches) {
  Operator op;
  op.kind = OperatorKind::elementwise;
  op.name = std::move(name);
  op.elements = elements;
  op.passes = passes;
  op.launches = launches;
  return op;
}

Operator score_operator(std::string name, std::int64_t elements, std::int64_t row_length, int passes) {
  Operator op = elementwise_operator(std::move(name), elements, passes, 1);
  op.row_length = row_length;
  return op;
}

Operator lookup_operator(std::string name, std::int64_t lookups) {
  Operator op;
  op.kind = OperatorKind::lookup;
  op.name = std::move(name);
  op.lookups = lookups;
  return op;
}

std::int64_t activation_element_bytes(const std::string& precision) {
  return precision == "fp32" ? 4 : 2;
}

}  // namespace podsim
