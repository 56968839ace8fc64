#pragma once
// The one list of everything that plugs in.

#include "sim/plan/catalog.hpp"

namespace podsim {

Catalog make_catalog();

}  // namespace podsim
