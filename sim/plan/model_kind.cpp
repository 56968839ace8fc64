#include "sim/plan/model_kind.hpp"

#include <algorithm>

#include "sim/core/check.hpp"

namespace podsim {

std::int64_t ModelShape::operator[](const std::string& dimension) const {
  const auto found = dimensions.find(dimension);
  PODSIM_CHECK(found != dimensions.end(), "a model of type " + type + " has no dimension " + dimension);
  return found->second;
}

std::int64_t least_image_size(const ModelKind& kind, const ModelShape& shape) {
  std::int64_t size = 1;
  while (kind.image_tokens(shape, size) == 0) ++size;
  return size;
}

void check_head(const ModelKind& kind, const std::string& head) {
  const std::vector<std::string> heads = kind.heads();
  PODSIM_CHECK(std::find(heads.begin(), heads.end(), head) != heads.end(), "no head " + head);
}

}  // namespace podsim
