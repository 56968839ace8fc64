#include "models/catalog.hpp"

namespace podsim {

Catalog make_catalog() {
  return {};
}

}  // namespace podsim
