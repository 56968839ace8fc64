#include "sim/plan/model_kind.hpp"

#include "sim/core/check.hpp"

namespace podsim {

std::int64_t ModelShape::operator[](const std::string& dimension) const {
  const auto found = dimensions.find(dimension);
  PODSIM_CHECK(found != dimensions.end(), "a model of type " + type + " has no dimension " + dimension);
  return found->second;
}

}  // namespace podsim
