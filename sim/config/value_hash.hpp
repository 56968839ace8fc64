#pragma once
// A hash of values, to find equal ones again.

#include <cstddef>

#include "sim/config/value.hpp"

namespace podsim {

// Equal for equal values: of the content and of the lines and columns of its parts.
std::size_t hash_of(const Value& value);

}  // namespace podsim
